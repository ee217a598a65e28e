// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConnectionLimits

/// The address at which call frames are taken, without a port.
struct RelayBind {
    let host: String

    /// The value of `--relay-bind`.
    ///
    /// - Throws: `ValidationError`.
    init(typed text: String) throws {
        guard text == "localhost" || IPAddress(text: text) != nil else {
            throw ValidationError("an address without port and brackets, such as 0.0.0.0 or 2001:db8::1")
        }
        host = text
    }
}
