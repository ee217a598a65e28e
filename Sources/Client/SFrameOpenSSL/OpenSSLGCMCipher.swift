// SPDX-License-Identifier: Apache-2.0

#if canImport(CLibCrypto)
    import CLibCrypto
    import Crypto
    import SFrame
    import Synchronization

    /// AES-GCM with a tag of 16 bytes over OpenSSL's libcrypto, which keeps the key's schedule from frame to frame.
    ///
    /// What it gives is what swift-crypto gives, byte for byte.
    ///
    /// Spec: RFC 9605, section 4.5; NIST SP 800-38D.
    ///
    /// Security: the schedule lives in libcrypto's memory, which wipes it when the last key that uses it goes.
    final class OpenSSLGCMCipher: FrameCipher {
        private let context: Mutex<GCMContext>

        /// - Parameter key: 16 or 32 bytes.
        /// - Throws: ``FrameCipherError/unavailable``: a key of another length, or a library without AES-GCM.
        init(key: SymmetricKey) throws(FrameCipherError) { context = Mutex(try GCMContext(key: key)) }

        func seal(
            _ plaintext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8],
            into output: inout [UInt8]
        ) throws(FrameCipherError) {
            guard nonce.count == CipherSuite.nonceByteCount else { throw .unavailable }
            let start = output.count
            output.append(contentsOf: repeatElement(0, count: plaintext.count + GCMContext.tagByteCount))
            let isSealed = context.withLock { context in
                output.withUnsafeMutableBytes { context.seal(plaintext, nonce, authenticated, into: $0[start...]) }
            }
            guard isSealed else {
                output.removeSubrange(start...)
                throw .unavailable
            }
        }

        func open(
            _ ciphertext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8]
        ) throws(FrameCipherError) -> [UInt8] {
            guard nonce.count == CipherSuite.nonceByteCount else { throw .unavailable }
            guard ciphertext.count >= GCMContext.tagByteCount else { throw .notAuthentic }
            var isAuthentic = false
            let count = ciphertext.count - GCMContext.tagByteCount
            let plaintext = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                isAuthentic = context.withLock { $0.open(ciphertext, nonce, authenticated, into: buffer) }
                if isAuthentic { filled = count } else { buffer.update(repeating: 0) }
            }
            guard isAuthentic else { throw .notAuthentic }
            return plaintext
        }
    }

    /// One key's context. One frame at a time.
    private struct GCMContext: ~Copyable, @unchecked Sendable {
        static let tagByteCount = 16
        private let pointer: OpaquePointer

        init(key: SymmetricKey) throws(FrameCipherError) {
            let cipher = key.bitCount == 128 ? EVP_aes_128_gcm() : key.bitCount == 256 ? EVP_aes_256_gcm() : nil
            let pointer = EVP_CIPHER_CTX_new()
            let isReady = key.withUnsafeBytes { EVP_CipherInit_ex(pointer, cipher, nil, $0.baseAddress, nil, 1) == 1 }
            guard cipher != nil, let pointer, isReady else {
                EVP_CIPHER_CTX_free(pointer)
                throw .unavailable
            }
            self.pointer = pointer
        }

        deinit { EVP_CIPHER_CTX_free(pointer) }

        /// Fills `output`, which has room for ciphertext and tag.
        func seal(
            _ plaintext: ArraySlice<UInt8>, _ nonce: [UInt8], _ authenticated: [UInt8],
            into output: Slice<UnsafeMutableRawBufferPointer>
        ) -> Bool {
            let output = UnsafeMutableRawBufferPointer(rebasing: output)
            guard let start = output.baseAddress, begin(nonce, authenticated, isSealing: true) else { return false }
            let tag = start + plaintext.count
            return update(plaintext, into: start) && end(at: tag)
                && EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagByteCount), tag) == 1
        }

        /// Fills `plaintext`, which means something only if this returns true.
        func open(
            _ ciphertext: ArraySlice<UInt8>, _ nonce: [UInt8], _ authenticated: [UInt8],
            into plaintext: UnsafeMutableBufferPointer<UInt8>
        ) -> Bool {
            var tag = Array(ciphertext.suffix(Self.tagByteCount))
            guard begin(nonce, authenticated, isSealing: false),
                EVP_CIPHER_CTX_ctrl(pointer, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
            else { return false }
            return update(ciphertext.dropLast(Self.tagByteCount), into: plaintext.baseAddress) && end(at: &tag)
        }

        private func begin(_ nonce: [UInt8], _ authenticated: [UInt8], isSealing: Bool) -> Bool {
            guard EVP_CipherInit_ex(pointer, nil, nil, nil, nonce, isSealing ? 1 : 0) == 1 else { return false }
            return update(authenticated[...], into: nil)
        }

        private func update(_ bytes: ArraySlice<UInt8>, into output: UnsafeMutableRawPointer?) -> Bool {
            guard let count = Int32(exactly: bytes.count) else { return false }
            guard count > 0 else { return true }
            var written: Int32 = 0
            return bytes.withUnsafeBufferPointer {
                EVP_CipherUpdate(pointer, output?.assumingMemoryBound(to: UInt8.self), &written, $0.baseAddress, count)
                    == 1 && written == count
            }
        }

        /// Whether the tag is made, or is the right one. GCM has no last block: nothing is written.
        private func end(at place: UnsafeMutableRawPointer) -> Bool {
            var written: Int32 = 0
            return EVP_CipherFinal_ex(pointer, place.assumingMemoryBound(to: UInt8.self), &written) == 1
        }
    }
#endif
