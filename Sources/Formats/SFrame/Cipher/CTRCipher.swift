// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import CryptoExtras

/// AES-CTR, then HMAC over lengths, nonce, authenticated bytes and ciphertext, cut to the suite's tag.
///
/// Spec: RFC 9605, section 4.5.1.
struct CTRCipher<Hash: HashFunction & Sendable>: FrameCipher {
    private let encryptionKey: SymmetricKey
    private let macKey: SymmetricKey
    private let tagByteCount: Int

    /// `key` has the suite's length.
    init(suite: CipherSuite, key: SymmetricKey) {
        tagByteCount = suite.tagByteCount
        (encryptionKey, macKey) = key.withUnsafeBytes { bytes in
            (
                SymmetricKey(data: bytes[..<suite.encryptionKeyByteCount]),
                SymmetricKey(data: bytes[suite.encryptionKeyByteCount...])
            )
        }
    }

    func seal(
        _ plaintext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8],
        into output: inout [UInt8]
    ) throws(FrameCipherError) {
        let start = output.count
        do {
            output.append(
                contentsOf: try AES._CTR.encrypt(plaintext, using: encryptionKey, nonce: Self.firstBlock(nonce)))
        } catch { throw .unavailable }
        let tag = tag(nonce: nonce, authenticated: authenticated, ciphertext: output[start...])
        output.append(contentsOf: tag)
    }

    func open(
        _ ciphertext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8]
    ) throws(FrameCipherError) -> [UInt8] {
        guard ciphertext.count >= tagByteCount else { throw .notAuthentic }
        let encrypted = ciphertext.dropLast(tagByteCount)
        let expected = tag(nonce: nonce, authenticated: authenticated, ciphertext: encrypted)
        guard Self.isSame(expected, ciphertext.suffix(tagByteCount)) else { throw .notAuthentic }
        do {
            return Array(try AES._CTR.decrypt(encrypted, using: encryptionKey, nonce: Self.firstBlock(nonce)))
        } catch { throw .unavailable }
    }

    /// The nonce and a block counter of zero.
    private static func firstBlock(_ nonce: [UInt8]) throws -> AES._CTR.Nonce {
        try AES._CTR.Nonce(nonceBytes: nonce + [0, 0, 0, 0])
    }

    private func tag(nonce: [UInt8], authenticated: [UInt8], ciphertext: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var lengths = ByteWriter()
        lengths.write(UInt64(authenticated.count))
        lengths.write(UInt64(ciphertext.count))
        lengths.write(UInt64(tagByteCount))
        var mac = HMAC<Hash>(key: macKey)
        mac.update(data: lengths.bytes)
        mac.update(data: nonce)
        mac.update(data: authenticated)
        mac.update(data: ciphertext)
        return Array(mac.finalize())[..<tagByteCount]
    }

    /// Compares in a time that depends on the lengths only.
    private static func isSame(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
