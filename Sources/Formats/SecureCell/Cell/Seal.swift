// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// Secure Cell in Seal mode under a key: authenticated, 44 bytes longer than the message.
///
/// Wire form: header, ciphertext; see the byte tables in `Documentation/formats.md`. An empty context and no context are
/// the same.
///
/// Spec: Themis 0.15, Secure Cell, Seal; AES-256-GCM (NIST SP 800-38D) under a key derived for the message's length
/// and context.
///
/// Security: a cell shows that a holder of the key sealed this message for this context. It does not show when, and an
/// older cell in its place opens as well.
public enum Seal {
    /// How much longer a cell is than its message, in bytes.
    public static let overhead = 44

    /// Seals `plaintext` (1 to 2³²−1 bytes) under `key` (1 byte or more; 32 random ones are right).
    ///
    /// - Throws: ``CellError``: the caller's mistake.
    public static func seal(
        _ plaintext: [UInt8], key: SymmetricKey, context: [UInt8] = []
    ) throws(CellError) -> [UInt8] {
        try seal(plaintext, key: key, context: context, iv: CellCipher.randomBytes(CellHeader.ivByteCount))
    }

    /// Seals with a given IV: for vectors.
    ///
    /// Security: the same IV for another message of the same length and context opens both.
    package static func seal(
        _ plaintext: [UInt8], key: SymmetricKey, context: [UInt8], iv: [UInt8]
    ) throws(CellError) -> [UInt8] {
        try CellCipher.cell(of: plaintext, masterKey: key, context: context, iv: iv)
    }

    /// The message of a cell that was sealed under this key for this context.
    ///
    /// - Throws: ``CellError``: ``CellError/malformed(_:)`` or ``CellError/notAuthentic``; nothing of the message is
    ///   given away.
    public static func open(
        _ cell: [UInt8], key: SymmetricKey, context: [UInt8] = [], reading: ReadingMode = .strict
    ) throws(CellError) -> [UInt8] {
        let (header, ciphertext) = try CellHeader.split(cell, .key, reading)
        return try CellCipher.open(header, ciphertext, masterKey: key, context: context)
    }
}
