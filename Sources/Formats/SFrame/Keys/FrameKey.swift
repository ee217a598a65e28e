// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import Crypto

/// Key and salt of one key id, derived from a base key that several senders may share: the id is part of the
/// derivation, so that no two senders ever share a key and a nonce.
///
/// Spec: RFC 9605, section 4.4.2.
///
/// Security: neither printable nor codable; the base key is not kept.
public struct FrameKey: Sendable {
    /// The id that frames under this key carry.
    public let keyID: UInt64
    /// How frames are encrypted.
    public let suite: CipherSuite
    let cipher: any FrameCipher
    private let salt: [UInt8]

    /// Derives the key.
    ///
    /// - Parameter baseKey: of at least 16 random bytes.
    /// - Throws: ``FrameCipherError/unavailable``: our bug.
    public init(baseKey: SymmetricKey, keyID: UInt64, suite: CipherSuite) throws(FrameCipherError) {
        try self.init(baseKey: baseKey, keyID: keyID, suite: suite) { key throws(FrameCipherError) in
            try suite.makeCipher(key: key)
        }
    }

    /// Derives the key for a back end of the caller's.
    ///
    /// - Parameter makeCipher: gets ``CipherSuite/keyByteCount`` bytes.
    /// - Throws: what `makeCipher` throws.
    public init(
        baseKey: SymmetricKey, keyID: UInt64, suite: CipherSuite,
        makeCipher: (SymmetricKey) throws(FrameCipherError) -> any FrameCipher
    ) throws(FrameCipherError) {
        self.keyID = keyID
        self.suite = suite
        let derived = DerivedKey(baseKey: baseKey, keyID: keyID, suite: suite)
        cipher = try makeCipher(derived.key)
        salt = derived.salt
    }

    /// The salt, with the counter's bytes on top of its last eight.
    package func nonce(_ counter: UInt64) -> [UInt8] {
        var nonce = salt
        for place in 0..<8 {
            nonce[CipherSuite.nonceByteCount - 1 - place] ^= UInt8(truncatingIfNeeded: counter >> UInt64(8 * place))
        }
        return nonce
    }
}

/// The result of the key derivation; only ``FrameKey`` and the vector runner see it.
package struct DerivedKey {
    package let key: SymmetricKey
    package let salt: [UInt8]

    package init(baseKey: SymmetricKey, keyID: UInt64, suite: CipherSuite) {
        let key = Self.label("SFrame 1.0 Secret key ", keyID: keyID, suite: suite)
        let salt = Self.label("SFrame 1.0 Secret salt ", keyID: keyID, suite: suite)
        if suite.usesSHA512 {
            self.init(SHA512.self, baseKey: baseKey, keyInfo: key, saltInfo: salt, suite: suite)
        } else {
            self.init(SHA256.self, baseKey: baseKey, keyInfo: key, saltInfo: salt, suite: suite)
        }
    }

    private init<Hash: HashFunction>(
        _: Hash.Type, baseKey: SymmetricKey, keyInfo: [UInt8], saltInfo: [UInt8], suite: CipherSuite
    ) {
        let secret = HKDF<Hash>.extract(inputKeyMaterial: baseKey, salt: [UInt8]())
        key = HKDF<Hash>.expand(pseudoRandomKey: secret, info: keyInfo, outputByteCount: suite.keyByteCount)
        salt = HKDF<Hash>
            .expand(pseudoRandomKey: secret, info: saltInfo, outputByteCount: CipherSuite.nonceByteCount)
            .withUnsafeBytes { Array($0) }
    }

    private static func label(_ text: StaticString, keyID: UInt64, suite: CipherSuite) -> [UInt8] {
        var label = ByteWriter()
        label.write(text)
        label.write(keyID)
        label.write(suite.rawValue)
        return label.bytes
    }
}
