// SPDX-License-Identifier: Apache-2.0

import Crypto
import SFrame
import SFrameOpenSSL
import SeededRandomness
import Testing

/// The ciphers over OpenSSL and over swift-crypto give and accept the same bytes.
@Suite struct CipherAgreementTests {
    private let nonce = [UInt8](repeating: 9, count: 12)

    @Test(arguments: CipherSuite.allCases) func bothCiphersSealTheSameBytesAndOpenEachOthersFrames(
        suite: CipherSuite
    ) throws {
        var random = SeededGenerator(seed: UInt64(suite.rawValue))
        let key = SymmetricKey(data: random.bytes(suite.keyByteCount))
        let ciphers = [try suite.makeOpenSSLCipher(key: key), try suite.makeCipher(key: key)]
        for length in Array(0...65) + [1024, 1500, 65_536] {
            let (plaintext, authenticated) = (random.bytes(length), random.bytes(length % 40))
            let nonce = random.bytes(12)
            var sealed: [[UInt8]] = [[1, 2], [1, 2]]
            for place in ciphers.indices {
                try ciphers[place].seal(
                    plaintext[...], nonce: nonce, authenticating: authenticated, into: &sealed[place])
            }
            #expect(sealed[0] == sealed[1])
            #expect(sealed[0].count == 2 + length + suite.tagByteCount)
            for cipher in ciphers {
                #expect(
                    try cipher.open(sealed[0][2...], nonce: nonce, authenticating: authenticated) == plaintext)
            }
        }
    }

    /// Each cipher still opens the good frame after the refusals: no state of one frame is left for the next.
    @Test(arguments: CipherSuite.allCases) func bothCiphersRefuseAChangedFrameNonceOrHeader(suite: CipherSuite) throws {
        let key = SymmetricKey(data: [UInt8](repeating: 7, count: suite.keyByteCount))
        for cipher in [try suite.makeOpenSSLCipher(key: key), try suite.makeCipher(key: key)] {
            var sealed: [UInt8] = []
            try cipher.seal([1, 2, 3], nonce: nonce, authenticating: [4], into: &sealed)
            for bit in 0..<sealed.count * 8 {
                var changed = sealed
                changed[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(refuses(cipher, changed[...], nonce, [4]))
            }
            #expect(refuses(cipher, sealed.dropLast(), nonce, [4]))
            #expect(refuses(cipher, [], nonce, [4]))
            #expect(refuses(cipher, sealed[...], nonce, [5]))
            #expect(refuses(cipher, sealed[...], nonce, []))
            #expect(refuses(cipher, sealed[...], [8] + nonce.dropFirst(), [4]))
            #expect(try cipher.open(sealed[...], nonce: nonce, authenticating: [4]) == [1, 2, 3])
        }
    }

    private func refuses(
        _ cipher: any FrameCipher, _ ciphertext: ArraySlice<UInt8>, _ nonce: [UInt8], _ authenticated: [UInt8]
    ) -> Bool {
        do throws(FrameCipherError) {
            _ = try cipher.open(ciphertext, nonce: nonce, authenticating: authenticated)
            return false
        } catch { return error == .notAuthentic }
    }

    @Test(arguments: [CipherSuite.aes128GCM, .aes256GCM], [0, 11, 13])
    func aNonceOfAnotherLengthIsRefused(suite: CipherSuite, count: Int) throws {
        let cipher = try suite.makeOpenSSLCipher(
            key: SymmetricKey(data: [UInt8](repeating: 7, count: suite.keyByteCount)))
        var output: [UInt8] = [1]
        #expect(throws: FrameCipherError.unavailable) {
            try cipher.seal([1], nonce: [UInt8](repeating: 1, count: count), authenticating: [], into: &output)
        }
        #expect(output == [1])
        #expect(throws: FrameCipherError.unavailable) {
            _ = try cipher.open(
                [UInt8](repeating: 1, count: 17)[...], nonce: [UInt8](repeating: 1, count: count), authenticating: [])
        }
    }

    @Test(arguments: CipherSuite.allCases) func aKeyOfAnotherLengthIsRefused(suite: CipherSuite) {
        for count in [0, suite.keyByteCount - 1, suite.keyByteCount + 1] {
            #expect(throws: FrameCipherError.unavailable) {
                _ = try suite.makeOpenSSLCipher(key: SymmetricKey(data: [UInt8](repeating: 0, count: count)))
            }
        }
    }

    /// One key may be used from many threads, and each frame is sealed completely.
    @Test func manyTasksShareACipher() async throws {
        let key = SymmetricKey(data: [UInt8](repeating: 7, count: 16))
        let cipher = try CipherSuite.aes128GCM.makeOpenSSLCipher(key: key)
        let reference = try CipherSuite.aes128GCM.makeCipher(key: key)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(number))
                    for _ in 0..<200 {
                        let (nonce, plaintext) = (random.bytes(12), random.bytes(100))
                        var (sealed, expected): ([UInt8], [UInt8]) = ([], [])
                        try cipher.seal(plaintext[...], nonce: nonce, authenticating: [1], into: &sealed)
                        try reference.seal(plaintext[...], nonce: nonce, authenticating: [1], into: &expected)
                        #expect(sealed == expected)
                        #expect(try cipher.open(sealed[...], nonce: nonce, authenticating: [1]) == plaintext)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
