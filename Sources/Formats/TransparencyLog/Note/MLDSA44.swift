// SPDX-License-Identifier: Apache-2.0

import Crypto

#if canImport(CCryptoBoringSSL)
    import CCryptoBoringSSL
#endif

/// ML-DSA-44 by the BoringSSL inside swift-crypto, whose own interface has ML-DSA-65 and -87 only.
///
/// This file reaches through, as `SecureCell` does for its cipher: the module is not a product of swift-crypto, so an update of it may take the
/// module away or change it, which shows when building. Where it is not there (Apple's platforms, whose CryptoKit has no
/// ML-DSA-44 either), keys of this type are read and verify nothing.
///
/// Spec: FIPS 204, parameter set ML-DSA-44; the context is empty.
package enum MLDSA44 {
    static let publicKeyByteCount = 1312
    static let signatureByteCount = 2420
}

#if canImport(CCryptoBoringSSL)
    extension MLDSA44 {
        static let isAvailable = true

        /// Whether these 2420 bytes are a signature of the key of 1312 bytes over the message.
        package static func isValid(_ signature: [UInt8], for message: [UInt8], under publicKey: [UInt8]) -> Bool {
            guard signature.count == signatureByteCount, publicKey.count == publicKeyByteCount else { return false }
            var key = MLDSA44_public_key()
            let isRead = publicKey.withUnsafeBufferPointer { bytes in
                var input = CBS(data: bytes.baseAddress, len: bytes.count)
                return CCryptoBoringSSL_MLDSA44_parse_public_key(&key, &input) == 1 && input.len == 0
            }
            guard isRead else { return false }
            return CCryptoBoringSSL_MLDSA44_verify(
                &key, signature, signature.count, message, message.count, nil, 0) == 1
        }

        /// The public key of a seed of 32 bytes; nil for another length or without memory.
        static func publicKey(of seed: SymmetricKey) -> [UInt8]? {
            withPrivateKey(of: seed) { key in
                var publicKey = MLDSA44_public_key()
                guard CCryptoBoringSSL_MLDSA44_public_from_private(&publicKey, key) == 1 else { return nil }
                var output = CBB()
                guard CCryptoBoringSSL_CBB_init(&output, publicKeyByteCount) == 1 else { return nil }
                defer { CCryptoBoringSSL_CBB_cleanup(&output) }
                guard CCryptoBoringSSL_MLDSA44_marshal_public_key(&output, &publicKey) == 1 else { return nil }
                return Array(
                    UnsafeBufferPointer(
                        start: CCryptoBoringSSL_CBB_data(&output), count: CCryptoBoringSSL_CBB_len(&output)))
            }
        }

        /// Signs with the key of a seed of 32 bytes; nil for another length or without memory.
        static func sign(_ message: [UInt8], with seed: SymmetricKey) -> [UInt8]? {
            withPrivateKey(of: seed) { key in
                var signature = [UInt8](repeating: 0, count: signatureByteCount)
                let isSigned = CCryptoBoringSSL_MLDSA44_sign(&signature, key, message, message.count, nil, 0)
                return isSigned == 1 ? signature : nil
            }
        }

        /// The private key is expanded for the one use and wiped.
        private static func withPrivateKey(
            of seed: SymmetricKey, _ body: (UnsafeMutablePointer<MLDSA44_private_key>) -> [UInt8]?
        ) -> [UInt8]? {
            let key = UnsafeMutablePointer<MLDSA44_private_key>.allocate(capacity: 1)
            key.initialize(to: MLDSA44_private_key())
            defer {
                CCryptoBoringSSL_OPENSSL_cleanse(key, MemoryLayout<MLDSA44_private_key>.size)
                key.deallocate()
            }
            let isRead = seed.withUnsafeBytes { bytes in
                CCryptoBoringSSL_MLDSA44_private_key_from_seed(
                    key, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
            }
            return isRead == 1 ? body(key) : nil
        }
    }
#else
    extension MLDSA44 {
        static let isAvailable = false

        package static func isValid(_ signature: [UInt8], for message: [UInt8], under publicKey: [UInt8]) -> Bool {
            false
        }

        static func publicKey(of seed: SymmetricKey) -> [UInt8]? { nil }

        static func sign(_ message: [UInt8], with seed: SymmetricKey) -> [UInt8]? { nil }
    }
#endif
