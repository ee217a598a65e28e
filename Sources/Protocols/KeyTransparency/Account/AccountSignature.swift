import Crypto

/// P-256 keys and signatures as account states carry them.
enum AccountSignature {
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
