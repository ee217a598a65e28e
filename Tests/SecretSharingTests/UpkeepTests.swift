// SPDX-License-Identifier: Apache-2.0

import Crypto
import SecretSharing
import SeededRandomness
import Testing

@Suite struct RefreshTests {
    private func refreshed(_ deal: Deal) throws -> (ShareRefresh, [SecretShare]) {
        var generator = SeededGenerator(seed: 11)
        let refresh = try ShareRefresh(of: deal.commitments, at: deal.indices, using: &generator)
        return (refresh, try zip(deal.shares, refresh.deltas).map { try $0.refreshed(by: $1) })
    }

    @Test func newSharesRecoverTheSameSecret() throws {
        let deal = try Deal()
        let (refresh, shares) = try refreshed(deal)
        #expect(refresh.commitments.publicKey == deal.commitments.publicKey)
        for subset in choices(of: 3, below: 5) {
            let verified = try subset.map { try refresh.commitments.verify(shares[$0]) }
            #expect(try SecretScalar(combining: verified).exposed == deal.secret.exposed)
        }
    }

    @Test func oldSharesNoLongerVerify() throws {
        let deal = try Deal()
        let (refresh, _) = try refreshed(deal)
        for share in deal.shares {
            #expect(throws: ShareError.wrongValue(share.index)) { try refresh.commitments.verify(share) }
        }
    }

    @Test func anotherHoldersDeltaIsRefused() throws {
        let deal = try Deal()
        let (refresh, _) = try refreshed(deal)
        #expect(throws: ShareError.wrongValue(deal.indices[0])) {
            try deal.shares[0].refreshed(by: refresh.deltas[1])
        }
    }

    @Test func aDeltaThatLeadsElsewhereIsRefused() throws {
        let deal = try Deal()
        let (refresh, _) = try refreshed(deal)
        let crooked = ShareDelta(
            index: deal.indices[0], scalar: refresh.deltas[1].scalar, newPoint: refresh.deltas[0].newPoint)
        #expect(throws: ShareError.wrongValue(deal.indices[0])) { try deal.shares[0].refreshed(by: crooked) }
    }

    @Test func fewerHoldersThanTheThresholdAreRefused() throws {
        let deal = try Deal()
        var generator = SeededGenerator(seed: 12)
        #expect(throws: DealingError.thresholdOutOfRange(3)) {
            try ShareRefresh(of: deal.commitments, at: Array(deal.indices.prefix(2)), using: &generator)
        }
        #expect(throws: DealingError.repeatedIndex) {
            try ShareRefresh(
                of: deal.commitments, at: Array(repeating: deal.indices[0], count: 3), using: &generator)
        }
    }
}

@Suite struct HoldingTests {
    private let challenge = [UInt8](repeating: 0x5A, count: 32)

    private func held(_ deal: Deal, _ positions: [Int]) throws -> [HeldShare] {
        try positions.map { position in
            let proof = try deal.shares[position].proveHolding(of: challenge)
            return try deal.commitments.verify(proof, for: challenge, at: deal.indices[position])
        }
    }

    @Test func aHolderProvesTheShareWithoutShowingIt() throws {
        let deal = try Deal()
        let held = try held(deal, [1])
        #expect(try held[0].index == deal.indices[1] && held[0].point == deal.shares[1].scalar.publicPoint())
    }

    @Test func holding_refusesAnAnswerToAnotherChallenge() throws {
        let deal = try Deal()
        let proof = try deal.shares[0].proveHolding(of: challenge)
        let other = [UInt8](repeating: 0x5B, count: 32)
        #expect(throws: HoldingError.notHeld(deal.indices[0])) {
            try deal.commitments.verify(proof, for: other, at: deal.indices[0])
        }
    }

    @Test func holding_refusesAnotherHoldersAnswer() throws {
        let deal = try Deal()
        let proof = try deal.shares[1].proveHolding(of: challenge)
        #expect(throws: HoldingError.notHeld(deal.indices[0])) {
            try deal.commitments.verify(proof, for: challenge, at: deal.indices[0])
        }
    }

    @Test func aDamagedShareIsNotHeld() throws {
        let deal = try Deal()
        let proof = try deal.tampered(0, bit: 3).proveHolding(of: challenge)
        #expect(throws: HoldingError.notHeld(deal.indices[0])) {
            try deal.commitments.verify(proof, for: challenge, at: deal.indices[0])
        }
    }

    @Test(arguments: [0, 31, 33]) func aChallengeOfAnotherLengthIsNotAnswered(_ count: Int) throws {
        let deal = try Deal()
        #expect(throws: HoldingError.invalidChallenge(count)) {
            try deal.shares[0].proveHolding(of: [UInt8](repeating: 0, count: count))
        }
        let proof = try deal.shares[0].proveHolding(of: challenge)
        #expect(throws: HoldingError.invalidChallenge(count)) {
            try deal.commitments.verify(proof, for: [UInt8](repeating: 0, count: count), at: deal.indices[0])
        }
    }

    @Test func aProofHas64Bytes() {
        #expect(HoldingProof([UInt8](repeating: 0, count: 63)) == nil)
        #expect(HoldingProof([UInt8](repeating: 0, count: 65)) == nil)
    }

    @Test func everySubsetThatCouldRecoverRehearses() throws {
        let deal = try Deal()
        for count in 3...5 {
            for subset in choices(of: count, below: 5) {
                #expect(throws: Never.self) { try deal.commitments.rehearse(held(deal, subset)) }
            }
        }
    }

    @Test func aRehearsalWithTooFewSaysHowManyAreMissing() throws {
        let deal = try Deal()
        #expect(throws: RehearsalError.notEnough(missing: 1)) { try deal.commitments.rehearse(held(deal, [0, 1])) }
        #expect(throws: RehearsalError.notEnough(missing: 3)) { try deal.commitments.rehearse([]) }
    }

    @Test func aRehearsalCountsEachHolderOnce() throws {
        let deal = try Deal()
        #expect(throws: RehearsalError.repeatedIndex) { try deal.commitments.rehearse(held(deal, [0, 1, 1])) }
    }

    @Test func aRehearsalDoesNotMixDealings() throws {
        let (one, other) = (try Deal(), try Deal(seed: 2))
        #expect(throws: RehearsalError.severalDealings) {
            try one.commitments.rehearse(held(one, [0, 1]) + held(other, [2]))
        }
    }

    @Test func commitmentsThatWereNeverDealtTogetherDoNotRehearse() throws {
        // A commitment of degree one more, cut to three: its shares lie on another curve than their number says.
        let deal = try Deal(threshold: 4, count: 5)
        let cut = try ShareCommitments(Array(deal.commitments.points.prefix(3)))
        #expect(throws: HoldingError.self) {
            let proof = try deal.shares[0].proveHolding(of: challenge)
            _ = try cut.verify(proof, for: challenge, at: deal.indices[0])
        }
    }
}
