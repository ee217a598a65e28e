// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import CanonicalCoding

/// The name of a call, as people pass it on.
enum CallName {
    static func typed(_ text: String) throws -> CallID {
        guard let bytes = try? Hex.decode(Array(text.utf8)), let call = CallID(bytes) else {
            throw CommandFailure(
                .usage, "'\(PrintedValue.printable(text))' is not the name of a call.",
                "It consists of 32 digits and letters from a to f, as 'signet call start' prints it.")
        }
        return call
    }

    static func text(_ call: CallID) -> String { String(decoding: Hex.encode(call.bytes), as: UTF8.self) }
}
