// SPDX-License-Identifier: Apache-2.0

import Crypto

/// RSASSA-PSS with SHA-256 and MGF1-SHA-256, verifying only, with a salt of any length.
///
/// Themis signs with the longest salt that fits, swift-crypto verifies salts of 32 bytes only.
///
/// Spec: RFC 8017, sections 8.1.2 and 9.1.2 (the salt's length recovered from the padding).
///
/// Security: key, message and signature are public, so that time may depend on them.
enum PSS {
    private static let hashByteCount = 32

    static func isValid(
        _ signature: ArraySlice<UInt8>, over message: ArraySlice<UInt8>, by key: RSAPublicKey
    ) -> Bool {
        let modulus = OddModulus(key.modulus)
        guard signature.count == key.modulus.count,
            let encoded = modulus.power(Array(signature), exponent: key.exponent)
        else { return false }
        return isConsistent(encoded, digest: Array(SHA256.hash(data: message)))
    }

    /// EMSA-PSS-VERIFY, for a modulus whose top bit is set: one bit of the encoding is always zero.
    private static func isConsistent(_ encoded: [UInt8], digest: [UInt8]) -> Bool {
        let maskedCount = encoded.count - hashByteCount - 1
        guard maskedCount > 0, encoded.last == 0xBC, let first = encoded.first, first < 0x80 else { return false }
        let hash = encoded[maskedCount..<maskedCount + hashByteCount]
        var block = zip(encoded, mask(hash, byteCount: maskedCount)).map { $0 ^ $1 }
        block[0] &= 0x7F
        guard let separator = block.firstIndex(where: { $0 != 0 }), block[separator] == 1 else { return false }
        let salt = block[(separator + 1)...]
        return SHA256.hash(data: [UInt8](repeating: 0, count: 8) + digest + salt) == Array(hash)
    }

    /// MGF1.
    private static func mask(_ seed: ArraySlice<UInt8>, byteCount: Int) -> [UInt8] {
        var mask: [UInt8] = []
        mask.reserveCapacity(byteCount + hashByteCount)
        var counter: UInt8 = 0  // at most 1024 / 32 rounds
        while mask.count < byteCount {
            mask += SHA256.hash(data: seed + [0, 0, 0, counter])
            counter += 1
        }
        return Array(mask.prefix(byteCount))
    }
}
