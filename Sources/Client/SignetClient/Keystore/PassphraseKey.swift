// SPDX-License-Identifier: Apache-2.0

package import Crypto
package import SecretMemory

#if canImport(CSodium)
    import CSodium
#endif

/// The key under which a keystore is sealed: Argon2id over the passphrase, 32 bytes.
///
/// Spec: RFC 9106, version 0x13, one lane; through libsodium's `crypto_pwhash`.
package enum PassphraseKey {
    static let saltByteCount = 16

    package static func derive(
        from passphrase: SecretBytes, salt: [UInt8], cost: KeystoreCost
    ) throws(KeystoreError) -> SymmetricKey {
        try cost.check()
        guard passphrase.count > 0 else { throw .emptyPassphrase }
        #if canImport(CSodium)
            guard sodium_init() >= 0 else { throw .notEnoughMemory }
            let key = try SecretBytes(count: 32) { key throws(KeystoreError) in
                let result: Int32? = passphrase.withBytes { passphrase in
                    guard let output = key.assumingMemoryBound(to: UInt8.self).baseAddress,
                        let input = passphrase.assumingMemoryBound(to: CChar.self).baseAddress
                    else { return nil }
                    return crypto_pwhash(
                        output, UInt64(key.count), input, UInt64(passphrase.count), salt,
                        UInt64(cost.passes), Int(cost.memory) * 1024, crypto_pwhash_ALG_ARGON2ID13)
                }
                guard result == 0 else { throw .notEnoughMemory }
            }
            return key.withBytes { SymmetricKey(data: $0) }
        #else
            throw .unavailable
        #endif
    }
}
