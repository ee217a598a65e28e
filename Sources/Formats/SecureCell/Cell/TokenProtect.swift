// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// Secure Cell in Token Protect mode: the ciphertext is as long as the message, the 44 bytes that authenticate it
/// are kept elsewhere.
///
/// Spec: Themis 0.15, Secure Cell, Token Protect. Token and ciphertext put together are a ``Seal`` cell.
///
/// Security: as ``Seal``, as long as the token is kept; without it nothing is authenticated.
public enum TokenProtect {
    /// A message in two parts.
    public struct Parts: Hashable, Sendable {
        /// The header with the tag, 44 bytes.
        public let token: [UInt8]
        /// As many bytes as the message has.
        public let ciphertext: [UInt8]

        /// Two parts that came from somewhere.
        public init(token: [UInt8], ciphertext: [UInt8]) {
            self.token = token
            self.ciphertext = ciphertext
        }
    }

    /// Protects `plaintext` (1 to 2³²−1 bytes) under `key` (1 byte or more).
    ///
    /// - Throws: ``CellError``: the caller's mistake.
    public static func protect(
        _ plaintext: [UInt8], key: SymmetricKey, context: [UInt8] = []
    ) throws(CellError) -> Parts {
        try protect(plaintext, key: key, context: context, iv: CellCipher.randomBytes(CellHeader.ivByteCount))
    }

    /// Protects with a given IV: for vectors.
    package static func protect(
        _ plaintext: [UInt8], key: SymmetricKey, context: [UInt8], iv: [UInt8]
    ) throws(CellError) -> Parts {
        let (header, ciphertext) = try CellCipher.parts(of: plaintext, masterKey: key, context: context, iv: iv)
        return Parts(token: header.encoded, ciphertext: ciphertext)
    }

    /// The message of two parts that belong together.
    ///
    /// - Throws: ``CellError``: ``CellError/malformed(_:)`` or ``CellError/notAuthentic``.
    public static func open(
        _ parts: Parts, key: SymmetricKey, context: [UInt8] = [], reading: ReadingMode = .strict
    ) throws(CellError) -> [UInt8] {
        let header = try CellHeader(parts.token[...], .key, reading)
        return try CellCipher.open(header, parts.ciphertext[...], masterKey: key, context: context)
    }
}
