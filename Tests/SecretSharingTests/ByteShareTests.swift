// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import SecretSharing
import SeededRandomness
import Testing

/// Secrets of bytes in parts, without words.
@Suite struct ByteShareTests {
    private let secret = (0..<32).map { UInt8($0 * 7 + 1) }
    private var generator = SeededGenerator(seed: 7)

    private func exposed(_ octets: SecretBytes?) -> [UInt8]? {
        octets.map { $0.withSpan { span in span.indices.map { span[$0] } } }
    }

    private mutating func cut(_ threshold: Int, _ places: [UInt8]) throws -> [ByteShare] {
        try ByteShare.cut(SecretBytes(copying: secret.span), threshold: threshold, at: places, using: &generator)
    }

    @Test(arguments: [(2, 3), (2, 16), (3, 5), (15, 16), (16, 16)])
    mutating func asManyAsNeededGiveItBackAndMoreDoToo(_ threshold: Int, _ count: Int) throws {
        let parts = try cut(threshold, ByteShare.randomPlaces(count, using: &generator))
        for first in 0...(count - threshold) {
            #expect(exposed(.combined(from: Array(parts[first..<first + threshold]))) == secret)
        }
        #expect(exposed(.combined(from: parts)) == secret)
    }

    @Test mutating func oneFewerGivesNothing() throws {
        for seed in 0..<50 {
            generator = SeededGenerator(seed: UInt64(seed))
            let parts = try cut(3, ByteShare.randomPlaces(5, using: &generator))
            #expect(exposed(.combined(from: Array(parts.prefix(2)))) != secret)
        }
        #expect(SecretBytes.combined(from: Array(try cut(2, [1, 2]).prefix(1))) == nil)
        #expect(SecretBytes.combined(from: []) == nil)
    }

    @Test mutating func partsThatDoNotBelongTogetherAreNoticed() throws {
        let (ours, theirs) = (try cut(2, [1, 2]), try cut(2, [1, 2]))
        #expect(SecretBytes.combined(from: [ours[0], theirs[1]]) == nil)
        #expect(SecretBytes.combined(from: [ours[0], theirs[0]]) == nil)
        #expect(SecretBytes.combined(from: [ours[0], ours[0]]) == nil)
    }

    @Test mutating func numbersOutOfRangeAreRefused() {
        for threshold in [-1, 0, 1, 3] {
            #expect(throws: ByteSharingError.thresholdOutOfRange(threshold)) { try cut(threshold, [1, 2]) }
        }
        for places: [UInt8] in [[1, 1], [1, 254], [255, 1]] {
            #expect(throws: ByteSharingError.invalidPlaces) { try cut(2, places) }
        }
        let long = [UInt8](repeating: 1, count: 65)
        #expect(throws: ByteSharingError.invalidSecretLength(65)) {
            try ByteShare.cut(SecretBytes(copying: long.span), threshold: 2, at: [1, 2], using: &generator)
        }
        #expect(ByteShare(place: 254, value: SecretBytes(copying: secret.span)) == nil)
    }

    @Test mutating func placesAreDistinctAndFromAllThereAre() {
        let places = ByteShare.randomPlaces(300, using: &generator)
        #expect(Set(places) == Set(0..<254) && places.count == 254)
    }
}
