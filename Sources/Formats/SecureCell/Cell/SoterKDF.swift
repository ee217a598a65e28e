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

    /// Lends the key of `byteCount` bytes for a message of `length` bytes, and wipes it; nil where the library fails. That the length
    /// goes in means that messages of two lengths never share a key.
    static func withMessageKey<Result>(
        from master: SymmetricKey, length: UInt32, context: [UInt8], byteCount: Int,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        withUnsafeBytes(of: length.littleEndian) { length in
            withDerived(from: master, .messageKey, length, context, byteCount: byteCount, body)
        }
    }

    /// That key as one of swift-crypto's.
    static func messageKey(
        from master: SymmetricKey, length: UInt32, context: [UInt8], byteCount: Int
    ) throws(CellError) -> SymmetricKey {
        let key = withMessageKey(from: master, length: length, context: context, byteCount: byteCount) {
            SymmetricKey(data: $0)
        }
        guard let key else { throw .cipherFailed }
        return key
    }

    /// The whole 128-bit counter block of a context imprint.
    static func messageIV(from messageKey: SymmetricKey, context: [UInt8]) throws(CellError) -> [UInt8] {
        let block = withDerived(
            from: messageKey, .messageIV, UnsafeRawBufferPointer(start: nil, count: 0), context, byteCount: 16
        ) { Array($0) }
        guard let block else { throw .cipherFailed }
        return block
    }

    private static func withDerived<Result>(
        from key: SymmetricKey, _ label: Label, _ first: UnsafeRawBufferPointer, _ second: [UInt8], byteCount: Int,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        key.withUnsafeBytes { key in
            label.bytes.withUnsafeBytes { label in
                second.withUnsafeBytes { second in
                    HMACSHA256.withCode(key: key, of: (label, first, second)) { code in
                        body(UnsafeRawBufferPointer(rebasing: code.prefix(byteCount)))
                    }
                }
            }
        }
    }
}
