// SPDX-License-Identifier: Apache-2.0

/// The identifier in the first four bytes of a cell: AES-GCM under a derived key of 128, 192 or 256 bits.
///
/// Bits 31 to 28 name the cipher (4, GCM), 27 to 24 where the master key comes from (0 a key, 1 PBKDF2), 19 to 16 the
/// padding (1), 11 to 0 the key's bits. All others are 0.
struct CellAlgorithm: Hashable, Sendable {
    let identifier: UInt32

    /// What Themis prints for a key, and for a passphrase.
    static let key = CellAlgorithm(identifier: 0x4001_0100)
    static let passphrase = CellAlgorithm(identifier: 0x4101_0100)

    var keyByteCount: Int { Int(identifier & 0xFFF) / 8 }

    /// Whether this is `emitted`, or in the compatible reading the same with a shorter key.
    func isAccepted(as emitted: CellAlgorithm, _ reading: ReadingMode) -> Bool {
        switch reading {
        case .strict: return self == emitted
        case .compatible:
            return identifier & ~0xFFF == emitted.identifier & ~0xFFF
                && [128, 192, 256].contains(identifier & 0xFFF)
        }
    }
}
