// SPDX-License-Identifier: Apache-2.0

/// Secure Cell in Seal mode under a passphrase: authenticated, 70 bytes longer than the message.
///
/// The passphrase is bytes: UTF-8 as typed, in no normal form. Bring it into one before, or two keyboards make two
/// passphrases of one word.
///
/// Spec: Themis 0.15, Secure Cell, Seal with passphrase; PBKDF2-HMAC-SHA256 (RFC 8018).
///
/// Security: PBKDF2 needs no memory, so that guessing runs on graphics cards. Only for what must open in Themis.
public enum PassphraseSeal {
    /// How much longer a cell is than its message, in bytes.
    public static let overhead = 70
    /// The iterations that Themis 0.15 uses.
    public static let standardIterations: UInt32 = 314_110

    /// Seals `plaintext` (1 to 2³²−1 bytes) under a passphrase of at least one byte.
    ///
    /// - Parameter iterations: PBKDF2 iterations; within the strict ``ReadingMode/iterationBounds``.
    /// - Throws: ``CellError``: the caller's mistake.
    public static func seal(
        _ plaintext: [UInt8], passphrase: Span<UInt8>, context: [UInt8] = [],
        iterations: UInt32 = standardIterations
    ) throws(CellError) -> [UInt8] {
        guard ReadingMode.strict.iterationBounds.contains(iterations) else {
            throw .iterationsOutOfBounds(iterations)
        }
        return try seal(
            plaintext, passphrase: passphrase, context: context, iterations: iterations,
            iv: CellCipher.randomBytes(CellHeader.ivByteCount),
            salt: CellCipher.randomBytes(PassphraseParameters.saltByteCount))
    }

    /// Seals with given IV, salt and any iteration count: for vectors.
    package static func seal(
        _ plaintext: [UInt8], passphrase: Span<UInt8>, context: [UInt8], iterations: UInt32, iv: [UInt8], salt: [UInt8]
    ) throws(CellError) -> [UInt8] {
        let parameters = PassphraseParameters(iterations: iterations, salt: salt[...])
        return try CellCipher.cell(
            of: plaintext, masterKey: parameters.masterKey(from: passphrase), context: context, iv: iv,
            parameters: parameters)
    }

    /// The message of a cell that was sealed under this passphrase for this context.
    ///
    /// - Throws: ``CellError``: ``CellError/malformed(_:)``, ``CellError/iterationsOutOfBounds(_:)`` or
    ///   ``CellError/notAuthentic``; nothing of the message is given away.
    public static func open(
        _ cell: [UInt8], passphrase: Span<UInt8>, context: [UInt8] = [], reading: ReadingMode = .strict
    ) throws(CellError) -> [UInt8] {
        let (header, ciphertext) = try CellHeader.split(cell, .passphrase, reading)
        guard let parameters = header.parameters else { throw .malformed(.passphraseParameters) }
        let masterKey = try parameters.masterKey(from: passphrase)
        return try CellCipher.open(header, ciphertext, masterKey: masterKey, context: context)
    }
}
