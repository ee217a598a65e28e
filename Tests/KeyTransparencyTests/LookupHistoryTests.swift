// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog

/// What an answer says of a label's past: the last entry of its history, its growth for a contact, and its place in
/// the log. In each refused answer only that check fails.
@Suite struct LookupHistoryTests {
    var scene: PaperScene
    /// What a contact of alice knows.
    let known: LabelHead

    init() throws {
        scene = try PaperScene()
        known = try scene.directory.history(scene.alice.handle)
    }

    // MARK: The last entry

    @Test func history_refusesAnOldStateUnderTheNewIndex() throws {
        // The device that alice added is omitted: the state before names all others, and it is logged.
        var answer = try scene.directory.answer(about: scene.alice)
        answer.step = scene.aliceBefore.step
        answer.inclusion = try scene.directory.answer(about: scene.aliceBefore).inclusion
        #expect(throws: LookupError.history(.notTheLastEntry(.rootMismatch))) { try scene.verify(answer) }
    }

    @Test func history_refusesADeviceThatWasHiddenBehindTheLastState() throws {
        // A leaf for clients that look at leaves only; the index covers it, so the state is not the last entry.
        var scene = scene
        let label = try scene.directory.label(scene.alice.handle).hash
        let hidden = DeviceLeaf(label: label, device: try PaperPerson.device(9, seed: 99).keys).entry
        scene.directory.logUnseen(hidden)
        let history = try scene.aliceHistory { $0.append(.leaf(hidden)) }
        try scene.lie(history)
        var answer = try scene.directory.answer(about: scene.alice, history: history)
        #expect(throws: LookupError.history(.notTheLastEntry(.rootMismatch))) { try scene.verify(answer) }
        // Nor does the honest path of the state help, one entry before the last.
        answer.lastPath = try history.inclusionProof(index: history.size - 2, size: history.size).hashes
        let error = #expect(throws: LookupError.self) { try scene.verify(answer) }
        #expect(error?.check == .history)
    }

    @Test func history_refusesAStateOfAnotherVersionThanItsRecord() throws {
        // The log says version 3, the state that it commits to says 4.
        var (scene, skipped) = (scene, try scene.alice.next().next())
        skipped.version = 3
        try scene.directory.publish(skipped)
        #expect(throws: LookupError.history(.notTheLastEntry(.rootMismatch))) {
            try scene.verify(scene.directory.answer(about: skipped))
        }
    }

    @Test func history_refusesAnotherKindThanTheRecords() throws {
        var (answer, alice) = (try scene.directory.answer(about: scene.alice), scene.alice)
        alice.kind = .reset
        answer.step = alice.step
        #expect(throws: LookupError.history(.notTheLastEntry(.rootMismatch))) { try scene.verify(answer) }
    }

    @Test func history_refusesThatAnOpenAccountWasClosed() throws {
        for version in [2, 3] as [UInt64] {
            var answer = try scene.directory.answer(about: scene.alice)
            answer.step = .closed(version: version)
            #expect(throws: LookupError.history(.notTheLastEntry(.rootMismatch))) { try scene.verify(answer) }
        }
    }

    @Test func history_refusesTheKeysOfAClosedAccount() throws {
        var scene = scene
        let closed = scene.alice.closed()
        try scene.directory.publish(closed)
        var answer = try scene.directory.answer(about: closed)
        answer.step = scene.alice.step
        answer.inclusion = try scene.directory.answer(about: scene.alice).inclusion
        #expect(throws: LookupError.history(.notTheLastEntry(.rootMismatch))) { try scene.verify(answer) }
    }

    @Test func history_refusesALabelWithoutEntries() throws {
        var scene = scene
        try scene.lie(MerkleTree())
        var answer = try scene.directory.answer(about: scene.alice)
        (answer.head, answer.lastPath) = (LabelHead(.empty), [])
        #expect(throws: LookupError.history(.empty)) { try scene.verify(answer) }
    }

    // MARK: What a contact knows

    @Test func history_refusesAShorterHistory() throws {
        var scene = scene
        let shorter = try scene.aliceHistory { $0.removeLast(2) }
        try scene.lie(shorter)
        let answer = try scene.directory.answer(about: scene.aliceBefore, history: shorter)
        #expect(throws: LookupError.history(.shrunk(known: 5, received: 3))) {
            try scene.verify(answer, history: known)
        }
        _ = try scene.verify(answer)
    }

    @Test func history_refusesARewrittenHistory() throws {
        var scene = scene
        let other = try scene.aliceHistory { $0[0] = .leaf(Array("another first device".utf8)) }
        try scene.lie(other)
        let answer = try scene.directory.answer(about: scene.alice, knowing: (0, 5), history: other)
        #expect(throws: LookupError.history(.rewritten(.newRootMismatch))) {
            try scene.verify(answer, history: known)
        }
        _ = try scene.verify(answer)
    }

    @Test func history_refusesALongerOneWithAnotherPast() throws {
        // A key that was shown for one epoch and taken back, by a state that pretends it never was.
        var scene = scene
        let next = try scene.alice.next()
        let record = try next.record(scene.directory.label(scene.alice.handle).hash).entry
        scene.directory.logUnseen(record)
        let other = try scene.aliceHistory {
            $0[0] = .leaf(Array("another first device".utf8))
            $0.append(.leaf(record))
        }
        try scene.lie(other)
        let answer = try scene.directory.answer(about: next, knowing: (0, 5), history: other)
        #expect(throws: LookupError.history(.rewritten(.oldRootMismatch))) {
            try scene.verify(answer, history: known)
        }
    }

    @Test func history_refusesThatAKnownPersonVanished() throws {
        var scene = scene
        try scene.lie(nil)
        let answer = try scene.directory.answer(aboutAbsent: scene.alice.handle)
        #expect(throws: LookupError.history(.vanished(known: 5))) { try scene.verify(answer, history: known) }
        _ = try scene.verify(answer)
    }

    @Test func history_aHistoryWithoutEntriesIsNothingKnown() throws {
        let nothing = LabelHead(.empty)
        _ = try scene.verify(scene.directory.answer(about: scene.alice), history: nothing)
        _ = try scene.verify(scene.directory.answer(aboutAbsent: scene.carol), scene.carol, history: nothing)
    }

    @Test func history_refusesAnUnrequestedProof() throws {
        let answer = try scene.directory.answer(about: scene.alice, knowing: (0, 2))
        #expect(throws: LookupError.history(.uncalledForConsistencyProof)) { try scene.verify(answer) }
        let count = answer.historyConsistency.hashes.count
        #expect(throws: LookupError.history(.rewritten(.wrongHashCount(expected: 0, actual: count)))) {
            try scene.verify(answer, history: known)
        }
    }

    // MARK: inclusion

    @Test func inclusion_refusesAStateThatTheIndexHoldsAndTheLogDoesNot() throws {
        // Mallory's state for alice, put into the history that the index holds, but not where auditors read.
        var (scene, mallory) = (scene, try scene.alice.next(identity: PaperPerson("x@y", seed: 66).identity))
        mallory.kind = .reset
        let record = try mallory.record(scene.directory.label(scene.alice.handle).hash).entry
        let history = try scene.aliceHistory { $0.append(.leaf(record)) }
        try scene.lie(history)
        var answer = try scene.directory.answer(about: mallory, history: history)
        answer.inclusion = try scene.directory.answer(about: scene.alice).inclusion
        #expect(throws: LookupError.inclusion(.rootMismatch)) { try scene.verify(answer) }
    }

    @Test func inclusion_refusesAnEndThatWasNotLogged() throws {
        var (scene, closed) = (scene, scene.alice.closed())
        let record = try closed.record(scene.directory.label(scene.alice.handle).hash).entry
        let history = try scene.aliceHistory { $0.append(.leaf(record)) }
        try scene.lie(history)
        closed.version = 3
        var answer = try scene.directory.answer(about: closed, history: history)
        answer.inclusion = try scene.directory.answer(about: scene.alice).inclusion
        #expect(throws: LookupError.inclusion(.rootMismatch)) { try scene.verify(answer) }
    }
}
