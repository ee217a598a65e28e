// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import SFrame

/// Counts its calls, so that a test sees which refusals cost no cipher.
final class CountingCipher: FrameCipher, @unchecked Sendable {
    private let cipher: any FrameCipher
    private(set) var opened = 0

    init(_ cipher: any FrameCipher) { self.cipher = cipher }

    func seal(
        _ plaintext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8],
        into output: inout [UInt8]
    ) throws(FrameCipherError) {
        try cipher.seal(plaintext, nonce: nonce, authenticating: authenticated, into: &output)
    }

    func open(
        _ ciphertext: ArraySlice<UInt8>, nonce: [UInt8], authenticating authenticated: [UInt8]
    ) throws(FrameCipherError) -> [UInt8] {
        opened += 1
        return try cipher.open(ciphertext, nonce: nonce, authenticating: authenticated)
    }
}

struct FrameTests {
    static let baseKey = SymmetricKey(data: [UInt8](repeating: 7, count: 32))

    private func key(_ keyID: UInt64 = 9, _ suite: CipherSuite = .aes128GCM) throws -> FrameKey {
        try FrameKey(baseKey: Self.baseKey, keyID: keyID, suite: suite)
    }

    private func refusal(_ opener: inout FrameOpener, _ frame: [UInt8], _ metadata: [UInt8] = []) -> FrameOpenError? {
        do throws(FrameOpenError) { _ = try opener.open(frame, metadata: metadata) } catch { return error }
        return nil
    }

    @Test(arguments: CipherSuite.allCases)
    func everySuiteOpensWhatItSealed(_ suite: CipherSuite) throws {
        let sealer = FrameSealer(key: try key(300, suite))
        var opener = FrameOpener()
        opener.insert(try key(300, suite))
        for length in [0, 1, 15, 16, 17, 1024] {
            let plaintext = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            let frame = try sealer.seal(plaintext, metadata: [1, 2])
            #expect(frame.count == length + 3 + (sealer.nextCounter > 8 ? 1 : 0) + suite.tagByteCount)
            #expect(try opener.open(frame, metadata: [1, 2]).plaintext == plaintext)
        }
    }

    @Test(arguments: CipherSuite.allCases)
    func everyFlippedBitIsRefused(_ suite: CipherSuite) throws {
        let frame = try FrameSealer(key: try key(300, suite), firstCounter: 70_000).seal(
            Array("hello".utf8), metadata: [5])
        for bit in 0..<frame.count * 8 {
            var opener = FrameOpener()
            opener.insert(try key(300, suite))
            var damaged = frame
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(refusal(&opener, damaged, [5]) != nil)
        }
    }

    @Test func otherMetadataIsRefused() throws {
        let frame = try FrameSealer(key: try key()).seal([1], metadata: [5])
        var opener = FrameOpener()
        opener.insert(try key())
        let header = FrameHeader(keyID: 9, counter: 0)
        #expect(refusal(&opener, frame, [6]) == .cipher(header, .notAuthentic))
        #expect(refusal(&opener, frame) == .cipher(header, .notAuthentic))
        #expect(refusal(&opener, frame, [5]) == nil)
    }

    @Test func anUnknownKeyAReplayAndAShortFrameCostNoCipher() throws {
        let suite = CipherSuite.aes128GCM
        var counting: CountingCipher?
        let watched = try FrameKey(baseKey: Self.baseKey, keyID: 9, suite: suite) { key throws(FrameCipherError) in
            let cipher = CountingCipher(try suite.makeCipher(key: key))
            counting = cipher
            return cipher
        }
        var opener = FrameOpener()
        opener.insert(watched)
        let frame = try FrameSealer(key: try key()).seal([1])
        #expect(refusal(&opener, frame) == nil)
        #expect(counting?.opened == 1)
        #expect(refusal(&opener, frame) == .replay(FrameHeader(keyID: 9, counter: 0), .replayed))
        let other = FrameHeader(keyID: 10, counter: 0)
        #expect(refusal(&opener, try FrameSealer(key: try key(10)).seal([1])) == .unknownKey(other))
        let short = FrameHeader(keyID: 9, counter: 1)
        #expect(refusal(&opener, short.encoded + [UInt8](repeating: 0, count: 15)) == .tooShort(short))
        #expect(refusal(&opener, []) == .header(.truncated))
        #expect(counting?.opened == 1)
    }

    @Test func tenThousandForgedFramesChangeNothing() throws {
        let sealer = FrameSealer(key: try key())
        var opener = FrameOpener()
        opener.insert(try key())
        let first = try sealer.seal([1])
        for counter: UInt64 in 0..<10_000 {
            let junk = FrameHeader(keyID: 9, counter: counter << 20).encoded + [UInt8](repeating: 3, count: 40)
            #expect(refusal(&opener, junk) != nil)
        }
        #expect(refusal(&opener, first) == nil)
    }

    @Test func aKeyInsertedAgainKeepsItsWindow() throws {
        let frame = try FrameSealer(key: try key()).seal([1])
        var opener = FrameOpener()
        #expect(opener.insert(try key()))
        #expect(refusal(&opener, frame) == nil)
        #expect(!opener.insert(try key()))
        #expect(refusal(&opener, frame) == .replay(FrameHeader(keyID: 9, counter: 0), .replayed))
        opener.remove(keyID: 9)
        #expect(refusal(&opener, frame) == .unknownKey(FrameHeader(keyID: 9, counter: 0)))
    }

    @Test func sendersOfOneBaseKeyShareNoKeyStream() throws {
        let zeros = [UInt8](repeating: 0, count: 64)
        let one = try FrameSealer(key: try key(1)).seal(zeros)
        let two = try FrameSealer(key: try key(2)).seal(zeros)
        #expect(one.dropFirst() != two.dropFirst())
    }

    @Test func aKeyStopsBeforeItsNumbersRunOut() throws {
        let sealer = FrameSealer(key: try key(), firstCounter: FrameSealer.maximumFrameCount - 1)
        _ = try sealer.seal([1])
        #expect(throws: FrameSealError.exhausted) { try sealer.seal([1]) }
    }

    @Test func aKeyOfAnotherLengthIsRefused() {
        for suite in CipherSuite.allCases {
            for count in [0, suite.keyByteCount - 1, suite.keyByteCount + 1] {
                #expect(throws: FrameCipherError.unavailable) {
                    _ = try suite.makeCipher(key: SymmetricKey(data: [UInt8](repeating: 0, count: count)))
                }
            }
        }
    }

    @Test func onlySuites3And8HaveAShortTag() {
        #expect(CipherSuite.allCases.filter(\.isTagShort).map(\.rawValue) == [3, 8])
    }
}
