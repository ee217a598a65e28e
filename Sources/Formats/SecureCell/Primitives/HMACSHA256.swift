// SPDX-License-Identifier: Apache-2.0

import Crypto
import SecretMemory

#if canImport(CCryptoBoringSSL)
    import CCryptoBoringSSL
#endif

/// HMAC-SHA256 of three pieces one after the other, on the stack: by the BoringSSL inside swift-crypto where there is one, as ``AESGCM``, because
/// swift-crypto's own interface makes four arrays from the key.
///
/// Spec: RFC 2104, FIPS 180-4.
enum HMACSHA256 {
    static let byteCount = 32

    typealias Pieces = (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer)

    /// Lends the code of the pieces, and wipes it; nil where the library fails.
    static func withCode<Result>(
        key: UnsafeRawBufferPointer, of pieces: Pieces, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 16) { code in
            defer { wipeMemory(code) }
            return compute(key, pieces, into: code) ? body(UnsafeRawBufferPointer(code)) : nil
        }
    }

    #if canImport(CCryptoBoringSSL)
        private static func compute(
            _ key: UnsafeRawBufferPointer, _ pieces: Pieces, into code: UnsafeMutableRawBufferPointer
        ) -> Bool {
            withUnsafeTemporaryAllocation(of: HMAC_CTX.self, capacity: 1) { memory in
                guard let context = memory.baseAddress else { return false }
                CCryptoBoringSSL_HMAC_CTX_init(context)
                defer {
                    CCryptoBoringSSL_HMAC_CTX_cleanup(context)
                    wipeMemory(UnsafeMutableRawBufferPointer(memory))
                }
                let digest = CCryptoBoringSSL_EVP_sha256()
                guard CCryptoBoringSSL_HMAC_Init_ex(context, key.baseAddress, key.count, digest, nil) == 1 else {
                    return false
                }
                for piece in [pieces.0, pieces.1, pieces.2] {
                    guard CCryptoBoringSSL_HMAC_Update(context, piece.bytes, piece.count) == 1 else { return false }
                }
                var written: UInt32 = 0
                return CCryptoBoringSSL_HMAC_Final(context, code.bytes, &written) == 1
                    && written == byteCount
            }
        }
    #else
        private static func compute(
            _ key: UnsafeRawBufferPointer, _ pieces: Pieces, into code: UnsafeMutableRawBufferPointer
        ) -> Bool {
            var hash = HMAC<SHA256>(key: SymmetricKey(data: key))
            for piece in [pieces.0, pieces.1, pieces.2] { hash.update(data: piece) }
            hash.finalize().withUnsafeBytes { code.copyBytes(from: $0) }
            return true
        }
    #endif
}
