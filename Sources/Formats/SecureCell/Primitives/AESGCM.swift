// SPDX-License-Identifier: Apache-2.0

import Crypto
import SecretMemory

#if canImport(CCryptoBoringSSL)
    import CCryptoBoringSSL
#endif

/// AES-GCM with a nonce of 12 bytes and a tag of 16, from the caller's memory into the caller's memory.
///
/// Where there is the BoringSSL inside swift-crypto, it is called directly, because swift-crypto's own interface copies what it takes
/// and what it gives, and allocates a box and a context for each call. The module is not a product of swift-crypto, as
/// `MLDSA44` says. Elsewhere the cipher is CryptoKit's. Both give the same bytes.
///
/// Spec: NIST SP 800-38D.
package enum AESGCM {
    /// Bytes of a nonce.
    package static let nonceByteCount = 12
    /// Bytes of a tag.
    package static let tagByteCount = 16

    #if canImport(CCryptoBoringSSL)
        /// Fills `ciphertext`, which has as many bytes as `plaintext`, and the 16 bytes of `tag`.
        ///
        /// - Returns: false for a key of another length than 16, 24 or 32 bytes, or where a length is wrong.
        package static func seal(
            _ plaintext: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
            authenticating associated: UnsafeRawBufferPointer, into ciphertext: UnsafeMutableRawBufferPointer,
            tag: UnsafeMutableRawBufferPointer
        ) -> Bool {
            guard ciphertext.count == plaintext.count, tag.count == tagByteCount else { return false }
            return withContext(key) { context in
                var written = 0
                return CCryptoBoringSSL_EVP_AEAD_CTX_seal_scatter(
                    context, ciphertext.bytes, tag.bytes, &written, tag.count, nonce.bytes, nonce.count,
                    plaintext.bytes, plaintext.count, nil, 0, associated.bytes, associated.count) == 1
                    && written == tag.count
            }
        }

        /// Fills `plaintext`, which has as many bytes as `ciphertext`; with zeros where this returns false.
        ///
        /// - Returns: whether the tag of 16 bytes holds; false also for a key of another length than 16, 24 or 32 bytes, or where a
        ///   length is wrong.
        package static func open(
            _ ciphertext: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
            nonce: UnsafeRawBufferPointer, authenticating associated: UnsafeRawBufferPointer,
            into plaintext: UnsafeMutableRawBufferPointer
        ) -> Bool {
            plaintext.count == ciphertext.count && tag.count == tagByteCount
                && withContext(key) { context in
                    CCryptoBoringSSL_EVP_AEAD_CTX_open_gather(
                        context, plaintext.bytes, nonce.bytes, nonce.count, ciphertext.bytes, ciphertext.count,
                        tag.bytes, tag.count, associated.bytes, associated.count) == 1
                }
        }

        /// Lends a context on the stack that holds the schedule of `key`, and wipes it.
        private static func withContext(
            _ key: UnsafeRawBufferPointer, _ body: (UnsafeMutablePointer<EVP_AEAD_CTX>) -> Bool
        ) -> Bool {
            guard let cipher = cipher(keyByteCount: key.count) else { return false }
            return withUnsafeTemporaryAllocation(of: EVP_AEAD_CTX.self, capacity: 1) { memory in
                guard let context = memory.baseAddress else { return false }
                CCryptoBoringSSL_EVP_AEAD_CTX_zero(context)
                defer {
                    CCryptoBoringSSL_EVP_AEAD_CTX_cleanup(context)
                    wipeMemory(UnsafeMutableRawBufferPointer(memory))
                }
                guard CCryptoBoringSSL_EVP_AEAD_CTX_init(context, cipher, key.bytes, key.count, tagByteCount, nil) == 1
                else { return false }
                return body(context)
            }
        }

        private static func cipher(keyByteCount: Int) -> OpaquePointer? {
            switch keyByteCount {
            case 16: CCryptoBoringSSL_EVP_aead_aes_128_gcm()
            case 24: CCryptoBoringSSL_EVP_aead_aes_192_gcm()
            case 32: CCryptoBoringSSL_EVP_aead_aes_256_gcm()
            default: nil
            }
        }
    #else
        /// Fills `ciphertext`, which has as many bytes as `plaintext`, and the 16 bytes of `tag`.
        ///
        /// - Returns: false for a key of another length than 16, 24 or 32 bytes, or where a length is wrong.
        package static func seal(
            _ plaintext: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
            authenticating associated: UnsafeRawBufferPointer, into ciphertext: UnsafeMutableRawBufferPointer,
            tag: UnsafeMutableRawBufferPointer
        ) -> Bool {
            guard ciphertext.count == plaintext.count, tag.count == tagByteCount,
                let nonce = try? AES.GCM.Nonce(data: nonce),
                let box = try? AES.GCM.seal(
                    plaintext, using: SymmetricKey(data: key), nonce: nonce, authenticating: associated)
            else { return false }
            ciphertext.copyBytes(from: box.ciphertext)
            tag.copyBytes(from: box.tag)
            return true
        }

        /// Fills `plaintext`, which has as many bytes as `ciphertext`; with zeros where this returns false.
        ///
        /// - Returns: whether the tag of 16 bytes holds; false also for a key of another length than 16, 24 or 32 bytes, or where a
        ///   length is wrong.
        package static func open(
            _ ciphertext: UnsafeRawBufferPointer, tag: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer,
            nonce: UnsafeRawBufferPointer, authenticating associated: UnsafeRawBufferPointer,
            into plaintext: UnsafeMutableRawBufferPointer
        ) -> Bool {
            guard plaintext.count == ciphertext.count, let nonce = try? AES.GCM.Nonce(data: nonce),
                let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: ciphertext, tag: tag),
                let opened = try? AES.GCM.open(box, using: SymmetricKey(data: key), authenticating: associated)
            else {
                wipeMemory(plaintext)
                return false
            }
            plaintext.copyBytes(from: opened)
            return true
        }
    #endif
}

#if canImport(CCryptoBoringSSL)
    extension UnsafeRawBufferPointer {
        /// As C takes bytes.
        var bytes: UnsafePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
    }

    extension UnsafeMutableRawBufferPointer {
        /// As C takes bytes.
        var bytes: UnsafeMutablePointer<UInt8>? { baseAddress?.assumingMemoryBound(to: UInt8.self) }
    }
#endif
