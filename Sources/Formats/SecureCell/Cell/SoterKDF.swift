// SPDX-License-Identifier: Apache-2.0

import Crypto

/// The key derivation of Themis: one block of a counter-mode KDF over HMAC-SHA256.
///
/// HMAC-SHA256(key, 00 00 00 01 ‖ label ‖ 00 ‖ contexts), cut to the length asked for, at most 32 bytes.
enum SoterKDF {
    /// The label before which the counter and after which the zero byte stand already.
    struct Label: Sendable {
        let bytes: [UInt8]

        private init(_ text: StaticString) {
            bytes = [0, 0, 0, 1] + text.withUTF8Buffer { Array($0) } + [0]
        }

        static let messageKey = Label("Themis secure cell message key")
        static let messageIV = Label("Themis secure cell message iv")
    }

    /// The key for a message of `length` bytes. That the length goes in means that messages of two lengths never
    /// share a key.
    static func messageKey(
        from master: SymmetricKey, length: UInt32, context: [UInt8], byteCount: Int
    ) -> SymmetricKey {
        var input = Label.messageKey.bytes
        input.reserveCapacity(input.count + 4 + context.count)
        input.appendLittleEndian(length)
        input.append(contentsOf: context)
        return derive(from: master, input, byteCount: byteCount)
    }

    /// The whole 128-bit counter block of a context imprint.
    static func messageIV(from messageKey: SymmetricKey, context: [UInt8]) -> [UInt8] {
        derive(from: messageKey, Label.messageIV.bytes + context, byteCount: 16).withUnsafeBytes { Array($0) }
    }

    private static func derive(from key: SymmetricKey, _ input: [UInt8], byteCount: Int) -> SymmetricKey {
        HMAC<SHA256>.authenticationCode(for: input, using: key).withUnsafeBytes {
            SymmetricKey(data: UnsafeRawBufferPointer(rebasing: $0.prefix(byteCount)))
        }
    }
}
