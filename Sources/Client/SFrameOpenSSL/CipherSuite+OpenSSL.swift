// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import SFrame

extension CipherSuite {
    /// The cipher of the suite over OpenSSL's libcrypto: on Linux, for AES-GCM. For the other suites, and on other systems, it is the
    /// one over swift-crypto. Both give the same bytes.
    ///
    /// - Parameter key: ``SFrame/CipherSuite/keyByteCount`` bytes.
    /// - Throws: ``SFrame/FrameCipherError/unavailable``: a key of another length.
    ///
    /// Spec: RFC 9605, section 4.5.
    public func makeOpenSSLCipher(key: SymmetricKey) throws(FrameCipherError) -> any FrameCipher {
        #if canImport(CLibCrypto)
            if macKeyByteCount == 0, key.bitCount == keyByteCount * 8 { return try OpenSSLGCMCipher(key: key) }
        #endif
        return try makeCipher(key: key)
    }
}
