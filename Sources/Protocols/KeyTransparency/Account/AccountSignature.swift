// SPDX-License-Identifier: Apache-2.0

import Crypto

/// P-256 keys and signatures as account states carry them.
package enum AccountSignature {
    /// Whether 33 bytes are a compressed point.
    static func isKey(_ key: [UInt8]) -> Bool {
        key.count == 33 && (try? P256.Signing.PublicKey(compressedRepresentation: key)) != nil
    }

    /// ECDSA with SHA-256; `signature` is r || s, 64 bytes, `key` 33 bytes.
    static func isValid(_ signature: [UInt8], over message: ArraySlice<UInt8>, by key: [UInt8]) -> Bool {
        guard let key = try? P256.Signing.PublicKey(compressedRepresentation: key),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: message)
    }

    /// Ed25519; `signature` is 64 bytes, `key` 32.
    static func isValid(_ signature: [UInt8], over message: ArraySlice<UInt8>, byDevice key: [UInt8]) -> Bool {
        guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key) else { return false }
        return key.isValidSignature(signature, for: message)
    }
}

// MARK: One spelling

/// Every verifier of ECDSA that accepts (r, s) accepts (r, n - s) as well, and a state's hash covers its signature: a
/// party that passes a state on could give it another hash. Of the two, states from version 2 of their form on take the
/// one whose s is low.
extension AccountSignature {
    /// The order n of the group, big-endian.
    ///
    /// Spec: NIST SP 800-186, 3.2.1.3.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
        0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// Whether s of 64 bytes r || s is at most half the order.
    static func isLow(_ signature: [UInt8]) -> Bool {
        let s = Array(signature.suffix(32))
        return s.lexicographicallyPrecedes(negative(s))
    }

    /// The one of (r, s) and (r, n - s) whose s is low; anything but 64 bytes as it is.
    package static func low(_ signature: [UInt8]) -> [UInt8] {
        signature.count == 64 && !isLow(signature) ? other(signature) : signature
    }

    /// The other spelling of 64 bytes r || s.
    package static func other(_ signature: [UInt8]) -> [UInt8] {
        signature.prefix(32) + negative(Array(signature.suffix(32)))
    }

    /// n - s, for s of 32 bytes, big-endian. Public numbers only.
    private static func negative(_ s: [UInt8]) -> [UInt8] {
        var (difference, borrow) = (order, 0)
        for place in order.indices.reversed() {
            let value = Int(order[place]) - Int(s[place]) - borrow
            borrow = value < 0 ? 1 : 0
            difference[place] = UInt8(truncatingIfNeeded: value)
        }
        return difference
    }
}
