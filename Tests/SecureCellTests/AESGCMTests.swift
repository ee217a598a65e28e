// SPDX-License-Identifier: Apache-2.0

import Crypto
import SeededRandomness
import Testing

@testable import SecureCell

@Suite struct AESGCMTests {
    private let nonce = [UInt8](repeating: 3, count: AESGCM.nonceByteCount)
    private let associated = Array("context".utf8)

    @Test(arguments: [16, 24, 32], [0, 1, 16, 4097])
    func whatSwiftCryptoSealedOpensAndIsSealedTheSame(keyByteCount: Int, count: Int) throws {
        let key = bytes(keyByteCount)
        let plaintext = bytes(count)
        let box = try AES.GCM.seal(
            plaintext, using: SymmetricKey(data: key), nonce: AES.GCM.Nonce(data: nonce), authenticating: associated)
        let sealed = try #require(seal(plaintext, key))
        #expect(sealed.ciphertext.elementsEqual(box.ciphertext))
        #expect(sealed.tag.elementsEqual(box.tag))
        #expect(open(sealed.ciphertext, sealed.tag, key).plaintext == plaintext)
    }

    @Test func nothingOfWhatIsNotAuthenticIsLeftInTheMemory() throws {
        let key = bytes(32)
        var (ciphertext, tag) = try #require(seal(bytes(100), key))
        tag[15] ^= 1
        #expect(open(ciphertext, tag, key) == (false, [UInt8](repeating: 0, count: 100)))
        tag[15] ^= 1
        ciphertext[0] ^= 1
        #expect(open(ciphertext, tag, key) == (false, [UInt8](repeating: 0, count: 100)))
    }

    @Test(arguments: [0, 15, 17, 31, 33]) func aKeyOfAnotherLengthIsRefused(keyByteCount: Int) {
        #expect(seal(bytes(5), bytes(keyByteCount)) == nil)
        #expect(!open(bytes(5), bytes(16), bytes(keyByteCount)).isAuthentic)
    }

    @Test func noNonceIsRefused() { #expect(seal(bytes(5), bytes(32), nonce: []) == nil) }

    @Test func memoryOfAnotherLengthIsRefused() {
        #expect(seal(bytes(5), bytes(32), room: 6) == nil)
        #expect(seal(bytes(5), bytes(32), tagRoom: 17) == nil)
    }

    private func bytes(_ count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(count) + 1)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    private func seal(
        _ plaintext: [UInt8], _ key: [UInt8], nonce: [UInt8]? = nil, room: Int? = nil, tagRoom: Int = 16
    ) -> (ciphertext: [UInt8], tag: [UInt8])? {
        var ciphertext = [UInt8](repeating: 0xFF, count: room ?? plaintext.count)
        var tag = [UInt8](repeating: 0xFF, count: tagRoom)
        let isSealed = plaintext.withUnsafeBytes { plaintext in
            key.withUnsafeBytes { key in
                (nonce ?? self.nonce).withUnsafeBytes { nonce in
                    associated.withUnsafeBytes { associated in
                        ciphertext.withUnsafeMutableBytes { ciphertext in
                            tag.withUnsafeMutableBytes { tag in
                                AESGCM.seal(
                                    plaintext, key: key, nonce: nonce, authenticating: associated, into: ciphertext,
                                    tag: tag)
                            }
                        }
                    }
                }
            }
        }
        return isSealed ? (ciphertext, tag) : nil
    }

    private func open(
        _ ciphertext: [UInt8], _ tag: [UInt8], _ key: [UInt8]
    ) -> (isAuthentic: Bool, plaintext: [UInt8]) {
        var plaintext = [UInt8](repeating: 0xFF, count: ciphertext.count)
        let isAuthentic = ciphertext.withUnsafeBytes { ciphertext in
            tag.withUnsafeBytes { tag in
                key.withUnsafeBytes { key in
                    nonce.withUnsafeBytes { nonce in
                        associated.withUnsafeBytes { associated in
                            plaintext.withUnsafeMutableBytes { plaintext in
                                AESGCM.open(
                                    ciphertext, tag: tag, key: key, nonce: nonce, authenticating: associated,
                                    into: plaintext)
                            }
                        }
                    }
                }
            }
        }
        return (isAuthentic, plaintext)
    }
}
