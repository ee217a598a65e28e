// SPDX-License-Identifier: Apache-2.0

import Crypto
import SecretSharing
import SeededRandomness
import Testing

@Suite struct SharingTests {
    /// Ten thousand secrets in ten batches, which run side by side.
    @Test(arguments: 0..<10) func everySubsetOfThreeOfFiveRecoversEverySecret(_ batch: Int) async throws {
        let subsets = choices(of: 3, below: 5)
        var (lost, missed) = (0, 0)
        for number in 0..<1000 {
            await Task.yield()  // Tests of real servers share the threads.
            let deal = try Deal(seed: UInt64(batch * 1000 + number))
            let shares = try deal.verified([0, 1, 2, 3, 4])
            for subset in subsets {
                let recovered = try SecretScalar(combining: subset.map { shares[$0] })
                if recovered.exposed != deal.secret.exposed { lost += 1 }
            }
            // One of the five is tampered with; exactly that one is named.
            let bad = number % 5
            let tampered = try deal.tampered(bad, bit: number % 255)
            for (place, share) in deal.shares.enumerated() {
                let isRefused = (try? deal.commitments.verify(place == bad ? tampered : share)) == nil
                if isRefused != (place == bad) { missed += 1 }
            }
        }
        #expect(lost == 0 && missed == 0)
    }

    @Test func theWrongShareIsNamed() throws {
        let deal = try Deal()
        let tampered = try deal.tampered(2, bit: 0)
        #expect(throws: ShareError.wrongValue(deal.indices[2])) { try deal.commitments.verify(tampered) }
    }

    @Test func everyFlippedBitOfAShareIsNoticed() throws {
        let deal = try Deal()
        for bit in 0..<256 {
            guard let tampered = try? deal.tampered(0, bit: bit) else { continue }
            #expect(throws: ShareError.self) { try deal.commitments.verify(tampered) }
        }
    }

    @Test func aShareUnderAnothersPlaceIsRefused() throws {
        let deal = try Deal()
        let moved = SecretShare(index: deal.indices[1], scalar: deal.shares[0].scalar)
        #expect(throws: ShareError.wrongValue(deal.indices[1])) { try deal.commitments.verify(moved) }
    }

    @Test func aShareOfAnotherDealingIsRefused() throws {
        let deal = try Deal()
        var generator = SeededGenerator(seed: 99)
        let again = try Dealing(of: deal.secret, threshold: 3, at: deal.indices, using: &generator)
        #expect(again.commitments.publicKey == deal.commitments.publicKey)
        #expect(throws: ShareError.wrongValue(deal.indices[0])) { try deal.commitments.verify(again.shares[0]) }
    }

    @Test func tooFewSharesSayHowManyAreMissing() throws {
        let deal = try Deal()
        #expect(throws: CombinationError.notEnough(missing: nil)) { try SecretScalar(combining: []) }
        #expect(throws: CombinationError.notEnough(missing: 2)) {
            try SecretScalar(combining: deal.verified([4]))
        }
        #expect(throws: CombinationError.notEnough(missing: 1)) {
            try SecretScalar(combining: deal.verified([0, 3]))
        }
    }

    @Test func moreSharesThanNeededRecoverTheSame() throws {
        let deal = try Deal()
        #expect(try SecretScalar(combining: deal.verified([4, 3, 2, 1, 0])).exposed == deal.secret.exposed)
    }

    @Test func theSameShareTwiceIsRefused() throws {
        let deal = try Deal()
        #expect(throws: CombinationError.repeatedIndex) {
            try SecretScalar(combining: deal.verified([0, 1, 1]))
        }
    }

    @Test func sharesOfTwoDealingsAreNotMixed() throws {
        let (one, other) = (try Deal(), try Deal(seed: 2))
        #expect(throws: CombinationError.severalDealings) {
            try SecretScalar(combining: one.verified([0, 1]) + other.verified([2]))
        }
    }

    @Test(arguments: [(2, 2), (2, 3), (2, 16), (5, 9), (16, 16)])
    func otherNumbersWorkToo(_ threshold: Int, _ count: Int) throws {
        let deal = try Deal(threshold: threshold, count: count)
        let last = Array((count - threshold)..<count)
        #expect(try SecretScalar(combining: deal.verified(last)).exposed == deal.secret.exposed)
    }

    @Test(arguments: [0, 1, 6, -1]) func aThresholdOutsideTwoToTheCountIsRefused(_ threshold: Int) {
        #expect(throws: DealingError.thresholdOutOfRange(threshold)) { try Deal(threshold: threshold, count: 5) }
    }

    @Test func moreThanSixteenSharesAreRefused() {
        #expect(throws: DealingError.shareCountOutOfRange(17)) { try Deal(threshold: 3, count: 17) }
    }

    @Test func dealing_refusesARepeatedPlace() throws {
        var generator = SeededGenerator(seed: 3)
        let places = [try index(4), try index(5), try index(4)]
        #expect(throws: DealingError.repeatedIndex) {
            try Dealing(of: .random(), threshold: 2, at: places, using: &generator)
        }
    }

    @Test func dealing_refusesPlaceZero() {
        #expect(ShareIndex(0) == nil && ShareIndex(1) != nil && ShareIndex(.max) != nil)
    }

    @Test func randomPlacesAreDistinctAndInRange() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<50 {
            let places = ShareIndex.random(count: 16, in: 0...20, using: &generator)
            #expect(Set(places).count == 16 && places.allSatisfy { (1...20).contains($0.value) })
        }
        #expect(ShareIndex.random(count: 9, in: 0...4, using: &generator).count == 4)
    }

    @Test func sharesOfTwoDealingsOfOneSecretAreUnrelated() throws {
        let deal = try Deal()
        var generator = SeededGenerator(seed: 98)
        let again = try Dealing(of: deal.secret, threshold: 3, at: deal.indices, using: &generator)
        for (a, b) in zip(deal.shares, again.shares) { #expect(a.scalar.exposed != b.scalar.exposed) }
    }
}

@Suite struct CommitmentTests {
    @Test func commitmentsComeBack() throws {
        for threshold in [2, 3, 16] {
            let commitments = try Deal(threshold: threshold, count: 16).commitments
            #expect(try ShareCommitments(decoding: commitments.encoded) == commitments)
            #expect(commitments.threshold == threshold)
        }
    }

    @Test func theFirstIsTheSecretsPublicKey() throws {
        let deal = try Deal()
        #expect(try deal.commitments.publicKey == deal.secret.publicPoint())
    }

    @Test func publicHalvesFollowFromThem() throws {
        let deal = try Deal(threshold: 5, count: 9)
        for share in deal.shares {
            #expect(try deal.commitments.publicPoint(at: share.index) == share.scalar.publicPoint())
        }
    }

    @Test(arguments: [0, 1, 32, 33, 34, 65, 67, 17 * 33, 1 << 20])
    func anotherNumberOfBytesIsRefused(_ count: Int) throws {
        let repeated = Array(repeating: try Deal().commitments.publicKey.encoded, count: count / 33 + 1).joined()
        #expect(throws: ShareCommitmentsError.invalidLength(count)) {
            try ShareCommitments(decoding: Array(repeated.prefix(count)))
        }
    }

    @Test func aPointOffTheCurveIsNamed() throws {
        let encoded = try Deal().commitments.encoded
        for first: UInt8 in [0, 1, 4, 5, 6, 7, 0xFF] {
            var other = encoded
            other[33] = first
            #expect(throws: ShareCommitmentsError.notAPoint(position: 1)) { try ShareCommitments(decoding: other) }
        }
        let beyond = encoded.prefix(66) + [2] + [UInt8](repeating: 0xFF, count: 32)
        #expect(throws: ShareCommitmentsError.notAPoint(position: 2)) { try ShareCommitments(decoding: Array(beyond)) }
        let identity = encoded.prefix(66) + [UInt8](repeating: 0, count: 33)
        #expect(throws: ShareCommitmentsError.notAPoint(position: 2)) {
            try ShareCommitments(decoding: Array(identity))
        }
    }

    @Test(arguments: [0, 32, 34, 65]) func aPointOfAnotherLengthIsRefused(_ count: Int) {
        #expect(throws: CurvePointError.invalidLength(count)) { try CurvePoint([UInt8](repeating: 2, count: count)) }
    }
}

extension Deal {
    /// The share at a position with one bit of its value turned.
    func tampered(_ position: Int, bit: Int) throws -> SecretShare {
        var bytes = shares[position].scalar.exposed
        bytes[31 - bit / 8] ^= 1 << UInt8(bit % 8)
        return SecretShare(index: shares[position].index, scalar: try SecretScalar(bytes))
    }
}
