// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras

/// Iteration count and salt of a passphrase cell, and the step from passphrase to master key.
///
/// Wire form, little-endian: u32 iterations, u16 salt length (16), salt.
struct PassphraseParameters {
    /// What Themis 0.15 prints.
    static let saltByteCount = 16

    let iterations: UInt32
    let salt: ArraySlice<UInt8>

    var byteCount: Int { 6 + salt.count }

    init(iterations: UInt32, salt: ArraySlice<UInt8>) {
        self.iterations = iterations
        self.salt = salt
    }

    /// Reads `length` bytes and checks the work that they ask for before any of it is done.
    init(_ reader: inout LittleEndianReader, _ length: UInt32, _ reading: ReadingMode) throws(CellError) {
        guard let field = reader.bytes(Int(length)) else { throw .malformed(.passphraseParameters) }
        var fields = LittleEndianReader(field)
        guard let iterations = fields.uint32(), let saltLength = fields.uint16(),
            let salt = fields.bytes(Int(saltLength)), fields.rest.isEmpty,
            reading == .compatible || salt.count == Self.saltByteCount
        else { throw .malformed(.passphraseParameters) }
        guard reading.iterationBounds.contains(iterations) else { throw .iterationsOutOfBounds(iterations) }
        self.init(iterations: iterations, salt: salt)
    }

    func append(to bytes: inout [UInt8]) {
        bytes.appendLittleEndian(iterations)
        bytes.appendLittleEndian(UInt16(truncatingIfNeeded: salt.count))
        bytes.append(contentsOf: salt)
    }

    /// PBKDF2-HMAC-SHA256, 32 bytes.
    ///
    /// Spec: RFC 8018, section 5.2.
    func masterKey(from passphrase: Span<UInt8>) throws(CellError) -> SymmetricKey {
        guard !passphrase.isEmpty else { throw .emptyKey }
        do {
            return try passphrase.withUnsafeBytes {
                try KDF.Insecure.PBKDF2.deriveKey(
                    from: $0, salt: salt, using: .sha256, outputByteCount: 32,
                    unsafeUncheckedRounds: Int(iterations))
            }
        } catch { throw .cipherFailed }
    }
}
