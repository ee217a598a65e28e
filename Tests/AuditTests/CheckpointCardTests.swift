// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

@Suite struct CheckpointCardTests {
    static func card(_ log: ForgedLog, size: UInt64? = nil) throws -> CheckpointCard {
        try CheckpointCard(try log.policy().verify(try log.checkpoint(size: size)))
    }

    @Test func aCardIsANoteWithTheLogsSignatureOnly() throws {
        let log = try ForgedLog(witnessCount: 3)
        try log.grow(epochs: 1, people: 2)
        let card = try Self.card(log)
        let note = try SignedNote(decoding: card.encoded)
        #expect(note.signatures.count == 1)
        #expect(try note.text == log.checkpoint().text)
        #expect(try CheckpointCard(decoding: card.encoded, policy: log.policy()) == card)
    }

    @Test func aCardWithFurtherLinesIsRefused() throws {
        let log = try ForgedLog(witnessCount: 1)
        try log.grow(epochs: 1, people: 2)
        #expect(throws: CheckpointCardError.malformed) {
            try CheckpointCard(decoding: log.checkpoint().encoded, policy: log.policy())
        }
    }

    @Test func aCardOfAnUnknownKeyIsRefused() throws {
        let log = try ForgedLog(seed: 3)
        let card = try Self.card(log)
        #expect(throws: CheckpointCardError.checkpoint(.logSignatureMissing)) {
            try CheckpointCard(decoding: card.encoded, policy: ForgedLog().policy())
        }
    }

    @Test func aLongCardIsRefused() throws {
        let log = try ForgedLog()
        let text = [UInt8](repeating: 0x61, count: 2000)
        #expect(throws: CheckpointCardError.malformed) { try CheckpointCard(decoding: text, policy: log.policy()) }
    }

    @Test func equalTreesAreTheSame() throws {
        let log = try ForgedLog()
        try log.grow(epochs: 1, people: 2)
        #expect(try Self.card(log).signed.compare(with: Self.card(log).signed) == .same)
    }

    @Test func twoTreesOfOneSizeAreCompleteEvidence() throws {
        let two = try TwoHistories()
        guard case .fork(let fork) = try Self.card(two.other).signed.compare(with: Self.card(two.one).signed) else {
            throw CheckpointCardError.malformed
        }
        #expect(throws: Never.self) { try two.verifier.verify(.fork(fork)) }
    }

    @Test func checkpointsOfAnotherLogAreNotCompared() throws {
        let two = try TwoHistories(otherSeed: 2, otherOrigin: "another.example/log")
        #expect(try Self.card(two.other).signed.compare(with: Self.card(two.one).signed) == .otherLog)
    }

    @Test func aLargerTreeOfOneHistoryIsProven_inEitherDirection() throws {
        let two = try TwoHistories(otherEpochs: 4)
        let (small, large) = (try Self.card(two.other, size: 14).signed, try Self.card(two.other).signed)
        let link = try two.link(from: 14)
        #expect(small.compare(with: large) == .proofNeeded(from: small.checkpoint.head, to: large.checkpoint.head))
        #expect(large.compare(with: small) == .proofNeeded(from: small.checkpoint.head, to: large.checkpoint.head))
        #expect(small.judge(link, against: large) == .oneHistory)
        #expect(large.judge(link, against: small) == .oneHistory)
    }

    @Test func aLargerTreeOfAnotherHistoryIsCompleteEvidence() throws {
        let two = try TwoHistories(otherEpochs: 4)
        let (small, large) = (try Self.card(two.one).signed, try Self.card(two.other).signed)
        for (theirs, own) in [(small, large), (large, small)] {
            guard case .fork(let fork) = theirs.judge(try two.link(from: 14), against: own) else {
                throw CheckpointCardError.malformed
            }
            #expect(throws: Never.self) { try two.verifier.verify(.fork(fork)) }
        }
    }

    @Test func aProofThatDoesNotHoldIsNoEvidence() throws {
        let two = try TwoHistories(otherEpochs: 4)
        let (small, large) = (try Self.card(two.one).signed, try Self.card(two.other).signed)
        let link = ForgedLink(root: .emptyTree, proof: try two.link(from: 14).proof)
        #expect(large.judge(link, against: small) == .noProof)
    }
}
