// SPDX-License-Identifier: Apache-2.0

public import Crypto

/// Authenticated encryption under one key: what a back end does for a frame.
///
/// ``makeCipher(suite:key:)`` gives the one over swift-crypto. Another may keep a key schedule between frames; its output must
/// be the same, byte for byte.
///
/// Spec: RFC 9605, section 4.5.
public protocol FrameCipher: Sendable {
    /// Appends ciphertext and tag of `plaintext` to `output`.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes, never used before under this key.
    ///   - authenticated: covered by the tag, not encrypted.
    /// - Throws: ``FrameCipherError/unavailable``: our bug or a broken library.
    func seal(
        _ plaintext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8],
        into output: inout [UInt8]
    ) throws(FrameCipherError)

    /// The plaintext of ciphertext and tag.
    ///
    /// - Throws: ``FrameCipherError/notAuthentic``: nothing is returned of what could not be authenticated.
    func open(
        _ ciphertext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8]
    ) throws(FrameCipherError) -> [UInt8]
}

/// Why a cipher returned nothing.
public enum FrameCipherError: Error, Hashable, Sendable {
    /// Key or nonce are not of the suite's length, or the library refused: our bug.
    case unavailable
    /// The key or the nonce is a different one, or the frame was changed.
    case notAuthentic
}

extension CipherSuite {
    /// The suite's cipher over swift-crypto.
    ///
    /// - Parameter key: ``keyByteCount`` bytes.
    /// - Throws: ``FrameCipherError/unavailable``: a key of another length.
    public func makeCipher(key: SymmetricKey) throws(FrameCipherError) -> any FrameCipher {
        guard key.bitCount == keyByteCount * 8 else { throw .unavailable }
        guard macKeyByteCount > 0 else { return GCMCipher(key: key) }
        if usesSHA512 { return CTRCipher<SHA512>(suite: self, key: key) }
        return CTRCipher<SHA256>(suite: self, key: key)
    }
}
