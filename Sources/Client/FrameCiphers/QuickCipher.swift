// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import SFrame

extension CipherSuite {
    /// The quickest cipher of the suite on this system: AES-GCM over libcrypto on Linux, else the one over swift-crypto.
    ///
    /// - Parameter key: ``SFrame/CipherSuite/keyByteCount`` bytes.
    /// - Throws: ``SFrame/FrameCipherError/unavailable``: a key of another length.
    ///
    /// Spec: RFC 9605, section 4.5.
    public func makeQuickCipher(key: SymmetricKey) throws(FrameCipherError) -> any FrameCipher {
        #if canImport(CLibCrypto)
            if macKeyByteCount == 0, key.bitCount == keyByteCount * 8 { return try CachedGCMCipher(key: key) }
        #endif
        return try makeCipher(key: key)
    }
}
