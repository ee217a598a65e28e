// SPDX-License-Identifier: Apache-2.0

import Crypto

/// P-256 keys and signatures as statements carry them.
package enum P256Text {
    /// Whether 33 bytes are a compressed point.
    package static func isKey(_ key: [UInt8]) -> Bool {
        (key.first == 2 || key.first == 3) && key.count == 33
            && (try? P256.Signing.PublicKey(compressedRepresentation: key)) != nil
    }

    /// ECDSA with SHA-256; `signature` is r || s, 64 bytes, `key` 33 bytes.
    package static func isValid(_ signature: [UInt8], over message: [UInt8], by key: [UInt8]) -> Bool {
        guard signature.count == 64, key.count == 33,
            let key = try? P256.Signing.PublicKey(compressedRepresentation: key),
            let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: message)
    }
}
