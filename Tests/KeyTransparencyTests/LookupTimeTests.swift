// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

/// When the quorum vouched for an answer, and how its log fits with what this client has seen: for each check answers
/// in which only that check fails.
@Suite struct LookupTimeTests {
    let scene: PaperScene
    var directory: PaperDirectory { scene.directory }

    init() throws { scene = try PaperScene() }

    // MARK: freshness

    @Test func freshness_refusesAStaleCheckpoint() throws {
        let answer = try directory.answer(about: scene.alice)
        _ = try scene.verify(answer, at: PaperDirectory.now + 86_400)
        #expect(throws: LookupError.freshness(.stale(age: 86_401, maximum: 86_400))) {
            try scene.verify(answer, at: PaperDirectory.now + 86_401)
        }
    }

    @Test func freshness_refusesATimeAheadOfOurClock() throws {
        var answer = try directory.answer(about: scene.alice)
        answer.note = try directory.note(at: PaperDirectory.now + 300).encoded
        _ = try scene.verify(answer)
        answer.note = try directory.note(at: PaperDirectory.now + 301).encoded
        #expect(throws: LookupError.freshness(.fromTheFuture(secondsAhead: 301))) { try scene.verify(answer) }
    }

    @Test func freshness_countsFromTheOldestCosignatureThatTheQuorumNeeds() throws {
        let text = try directory.note().text
        var answer = try directory.answer(about: scene.alice)
        answer.note = try SignedNote(
            text: text,
            signatures: [
                directory.log.sign(text), directory.witnesses[0].cosign(text, time: PaperDirectory.now),
                directory.witnesses[1].cosign(text, time: PaperDirectory.now - 90_000),
            ]
        ).encoded
        #expect(throws: LookupError.freshness(.stale(age: 90_000, maximum: 86_400))) { try scene.verify(answer) }
    }

    @Test func freshness_refusesAPolicyUnderWhichNothingCarriesATime() throws {
        #expect(throws: LookupError.freshness(.noTime)) {
            try scene.verify(directory.answer(about: scene.alice), quorum: Policy.Quorum.none)
        }
    }

    // MARK: consistency

    /// The contradiction by which an answer was refused; the rest of what is asserted about it is the caller's.
    func contradiction(
        _ answer: PaperAnswer, knowing view: LogView
    ) throws -> (LogContradiction, LookupError) {
        do throws(LookupError) {
            _ = try scene.verify(answer, knowing: view)
        } catch {
            guard case .consistency(let contradiction) = error else { throw error }
            return (contradiction, error)
        }
        throw PaperFault.notThere
    }

    @Test func consistency_refusesARollback() throws {
        var later = directory
        try later.publish(PaperPerson("erin@example.org", seed: 50))
        let view = try later.view()
        let (contradiction, _) = try contradiction(directory.answer(about: scene.alice), knowing: view)
        #expect(contradiction.fault == .rollback)
        #expect(contradiction.known == view)
        #expect(contradiction.received.head.size == directory.tree.size)
    }

    @Test func consistency_refusesASecondLogThatTheWholeQuorumSigned() throws {
        // Forked witnesses: both logs are whole, and both have every signature.
        let fork = try PaperScene(isFork: true)
        #expect(fork.directory.tree.size == directory.tree.size)
        _ = try scene.verify(fork.directory.answer(about: fork.alice))
        let view = try directory.view()
        let (contradiction, _) = try contradiction(fork.directory.answer(about: fork.alice), knowing: view)
        #expect(contradiction.fault == .fork)
        #expect(contradiction.known.note == view.note)
        #expect(contradiction.received.note != view.note)
    }

    @Test func consistency_seesAForkEvenWhenTheRestOfTheAnswerFails() throws {
        // The forked checkpoint over the honest proofs: the epoch would fail, and the evidence would be lost.
        var answer = try directory.answer(about: scene.alice)
        answer.note = try PaperScene(isFork: true).directory.note().encoded
        let (contradiction, error) = try contradiction(answer, knowing: directory.view())
        #expect(contradiction.fault == .fork)
        // What was not looked at must not be reported as held.
        let passed = LookupCheck.allCases.filter { error.wasPassed($0) }
        #expect(
            passed == [.envelope, .vrf, .accountState, .checkpointText, .origin, .logSignature, .cosignatures])
    }

    @Test func consistency_aClientThatSawTheEmptyLogNeedsNoProof() throws {
        let empty = try directory.sign(
            Checkpoint(origin: directory.log.verifierKey.name, head: .empty).text)
        let view = LogView(
            uncheckedOrigin: directory.log.verifierKey.name, head: .empty, note: empty.encoded)
        let lookup = try scene.registered(directory.answer(about: scene.alice), knowing: view)
        #expect(lookup.view.head.size == directory.tree.size)
    }

    @Test func consistency_refusesALongerLogWithAnotherPast() throws {
        var fork = try PaperScene(isFork: true)
        try fork.directory.publish(PaperPerson("erin@example.org", seed: 50))
        let answer = try fork.directory.answer(about: fork.alice, knowing: (directory.tree.size, 0))
        let (contradiction, error) = try contradiction(answer, knowing: directory.view())
        #expect(contradiction.fault == .inconsistent(.oldRootMismatch))
        #expect(LookupCheck.allCases.dropLast().allSatisfy { error.wasPassed($0) })
    }

    @Test func consistency_refusesAnUnrequestedProof() throws {
        #expect(throws: LookupError.uncalledForConsistencyProof) {
            try scene.verify(directory.answer(about: scene.alice, knowing: (3, 0)))
        }
    }
}
