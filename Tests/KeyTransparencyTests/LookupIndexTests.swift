// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VerifiableMap

/// For the checks of epoch, index, history and inclusion, answers in which only that check fails: whatever else the
/// server needed for its lie it logged, indexed and signed properly.
@Suite struct LookupIndexTests {
    var scene: PaperScene

    init() throws { scene = try PaperScene() }

    var honest: PaperAnswer { get throws { try scene.directory.answer(about: scene.alice) } }

    // MARK: epoch

    @Test func epoch_refusesALogThatEndsInAnotherEntry() throws {
        // A record that no epoch covers: what it changed is in no index.
        var scene = scene
        let label = try scene.directory.label(scene.alice.handle).hash
        scene.directory.logUnseen(try scene.alice.next().record(label).entry)
        #expect(throws: LookupError.epoch(.notTheLastEntry(.rootMismatch))) {
            var answer = try scene.directory.answer(about: scene.alice)
            let size = scene.directory.tree.size
            answer.epochPath = try scene.directory.tree.inclusionProof(index: size - 1, size: size).hashes
            return try scene.verify(answer)
        }
    }

    @Test func epoch_refusesTheRecordOfAnEarlierEpoch() throws {
        // The answer of yesterday, index and all, under the checkpoint of today.
        var later = scene
        try later.directory.publish(PaperPerson("erin@example.org", seed: 50))
        var answer = try honest
        answer.note = try later.directory.note().encoded
        answer.epochPath = try later.directory.answer(about: scene.alice).epochPath
        answer.inclusion = try later.directory.answer(about: scene.alice).inclusion
        #expect(throws: LookupError.epoch(.notTheLastEntry(.rootMismatch))) { try scene.verify(answer) }
    }

    @Test func epoch_refusesAnEmptyLog() throws {
        let empty = try Checkpoint(origin: scene.directory.log.verifierKey.name, head: .empty)
        var answer = try honest
        answer.note = try scene.directory.sign(empty.text).encoded
        answer.epochPath = []
        #expect(throws: LookupError.epoch(.emptyLog)) { try scene.verify(answer) }
    }

    @Test func epoch_refusesAStartThatTheLogHasNotReached() throws {
        var scene = scene
        let size = scene.directory.tree.size + 1
        try scene.directory.endEpoch(lieInRecord: { $0.with(start: size) })
        #expect(throws: LookupError.epoch(.start(size, size: size))) {
            try scene.verify(scene.directory.answer(about: scene.alice))
        }
    }

    @Test func epoch_refusesATimeAheadOfOurClock() throws {
        for (ahead, isRefused) in [(300_999, false), (301_000, true)] as [(UInt64, Bool)] {
            var scene = scene
            try scene.directory.endEpoch(at: PaperDirectory.now * 1000 + ahead)
            let answer = try scene.directory.answer(about: scene.alice)
            if isRefused {
                #expect(throws: LookupError.epoch(.fromTheFuture(secondsAhead: 301))) { try scene.verify(answer) }
            } else {
                _ = try scene.verify(answer)
            }
        }
    }

    @Test func epoch_refusesAnOldLogThatWasCosignedAgain() throws {
        // The whole quorum signs today what the log was yesterday: everything in it is honest, and nothing since is shown.
        var answer = try honest
        for (later, isRefused) in [(3_600, false), (3_601, true), (86_400, true)] as [(UInt64, Bool)] {
            answer.note = try scene.directory.note(at: PaperDirectory.now + later).encoded
            if isRefused {
                #expect(throws: LookupError.epoch(.behind(seconds: later))) {
                    try scene.verify(answer, at: PaperDirectory.now + later)
                }
            } else {
                _ = try scene.verify(answer, at: PaperDirectory.now + later)
            }
        }
    }

    @Test func epoch_refusesATimeAfterTheQuorumSawIt() throws {
        for (ahead, isRefused) in [(300, false), (301, true)] as [(UInt64, Bool)] {
            var scene = scene
            try scene.directory.endEpoch(at: (PaperDirectory.now + ahead) * 1000)
            // Our own clock says nothing against it: it is as late as the epoch.
            let answer = try scene.directory.answer(about: scene.alice)
            if isRefused {
                #expect(throws: LookupError.epoch(.ahead(seconds: 301))) {
                    try scene.verify(answer, at: PaperDirectory.now + ahead)
                }
            } else {
                _ = try scene.verify(answer, at: PaperDirectory.now + ahead)
            }
        }
    }

    @Test func epoch_refusesANumberOrATimeThatRunsBack() throws {
        let known = EpochMark(number: 5, time: PaperDirectory.now * 1000)
        let lies: [(EpochRecord) -> EpochRecord] = [{ $0.with(number: 4) }, { $0.with(time: $0.time - 1) }]
        for lie in lies {
            var scene = scene
            let size = scene.directory.tree.size
            let view = try scene.directory.view(epoch: known)
            try scene.directory.endEpoch(lieInRecord: lie)
            let answer = try scene.directory.answer(about: scene.alice, knowing: (size, 0))
            let received = EpochMark(answer.epoch)
            #expect(throws: LookupError.epoch(.runsBack(known: known, received: received))) {
                try scene.verify(answer, knowing: view)
            }
        }
    }

    @Test func epoch_aMarkOfAnotherLogSaysNothing() throws {
        let other = try PaperDirectory.signer("other.example/log", .ed25519, seed: 1).verifierKey.name
        let view = LogView(uncheckedOrigin: other, head: .empty, note: [], epoch: EpochMark(number: 99, time: .max))
        let lookup = try scene.registered(honest, knowing: view)
        #expect(lookup.view.epoch?.number == 5)
    }

    // MARK: index, presence

    @Test func index_refusesTheRootOfAnotherEpoch() throws {
        var scene = scene
        let before = try scene.directory.map().root
        let next = try scene.alice.next()
        try scene.directory.log(next)
        try scene.directory.endEpoch(lieInRecord: { $0.with(root: before) })
        #expect(throws: LookupError.index(.rootMismatch)) {
            try scene.verify(scene.directory.answer(about: next))
        }
    }

    @Test func index_refusesAnOldStateWithItsOldHistory() throws {
        // Alice as she was, without her new device: all of it logged and signed, but no longer what the index holds.
        let old = try scene.aliceHistory { $0.removeLast(2) }
        #expect(throws: LookupError.index(.rootMismatch)) {
            try scene.verify(scene.directory.answer(about: scene.aliceBefore, history: old))
        }
    }

    @Test func index_refusesAPresenceProofForAnAbsentHandle() throws {
        // Mallory as carol: logged, with a history of its own, and in no index.
        var scene = scene
        let mallory = try PaperPerson("carol@example.org", seed: 66)
        let label = try scene.directory.label(scene.carol).hash
        let record = try mallory.record(label).entry
        scene.directory.logUnseen(record)
        try scene.directory.endEpoch()
        var history = MerkleTree()
        history.append(.leaf(record))
        for person in [scene.alice, scene.bob] {
            var answer = try scene.directory.answer(about: mallory, history: history)
            answer.indexPath = try scene.directory.answer(about: person).indexPath
            #expect(throws: LookupError.index(.rootMismatch)) { try scene.verify(answer, scene.carol) }
        }
    }

    // MARK: index, absence

    /// The answer that alice is absent, with this proof.
    func absence(_ proof: MapProof) throws -> PaperAnswer {
        var answer = try scene.directory.answer(aboutAbsent: scene.alice.handle)
        answer.absence = proof
        return answer
    }

    /// Somebody's entry and path in the index.
    func place(_ handle: Handle) throws -> (MapEntry, MapPath) {
        let key = try scene.directory.key(handle)
        guard case .present(let value, let path) = try scene.directory.map().proof(of: key) else {
            throw PaperFault.notThere
        }
        return (MapEntry(key: key, value: value), path)
    }

    @Test func index_refusesAbsenceBesideTheHandlesOwnLeaf() throws {
        let (entry, path) = try place(scene.alice.handle)
        #expect(throws: LookupError.index(.otherKeyIsAskedKey)) {
            try scene.verify(absence(.absent(beside: entry, path: path)))
        }
    }

    @Test func index_refusesAbsenceBesideAnUnrelatedLeaf() throws {
        let (entry, path) = try place(scene.bob.handle)
        #expect {
            try scene.verify(absence(.absent(beside: entry, path: path)))
        } throws: { error in
            guard case LookupError.index(.otherKeyLeavesPath) = error else { return false }
            return true
        }
    }

    @Test func index_refusesAPathWithoutTheNodesAtWhichTheKeysPart() throws {
        // A set of nodes in which one stands for a prefix of another: the search seems to end where it does not.
        let (entry, path) = try place(scene.bob.handle)
        let asked = try scene.directory.key(scene.alice.handle).bytes
        func bit(_ key: [UInt8], _ place: UInt8) -> UInt8 { key[Int(place) / 8] >> (7 - place % 8) & 1 }
        let kept = path.steps.filter { bit(asked, $0.bit) == bit(entry.key.bytes, $0.bit) }
        #expect(kept.count < path.steps.count)
        #expect(throws: LookupError.index(.rootMismatch)) {
            try scene.verify(absence(.absent(beside: entry, path: MapPath(kept))))
        }
    }

    @Test func index_refusesThatTheWholeIndexIsEmpty() throws {
        #expect(throws: LookupError.index(.rootMismatch)) { try scene.verify(absence(.absentFromEmptyTrie)) }
    }

    @Test func index_refusesAbsenceInAnIndexThatWasNeverNamed() throws {
        var hiding = scene
        try hiding.lie(nil)
        let proof = try hiding.directory.map().proof(of: hiding.directory.key(scene.alice.handle))
        #expect(throws: LookupError.index(.rootMismatch)) { try scene.verify(absence(proof)) }
    }

    @Test func envelope_refusesAbsencePathsWhoseNodesAreOutOfOrder() throws {
        // Twice the same node, or a deeper one above: no trie has such a path.
        let honest = try scene.directory.answer(aboutAbsent: scene.carol)
        guard case .absent(_, let path) = honest.absence else { throw PaperFault.notThere }
        let bytes = honest.response.encoded
        let start = 17 + 80 + 72 + 1 + 32 * honest.epochPath.count + 1 + 1 + 64 + 2
        #expect(path.steps.count >= 2 && bytes[start] == path.steps[0].bit)
        for bit in [path.steps[0].bit, path.steps[0].bit + 1] {
            var edited = bytes
            edited[start + 33] = bit
            #expect(throws: LookupError.envelope(.invalidIndexPath(.bitNotDecreasing(step: 1)))) {
                try scene.directory.verifier().verify(
                    edited, for: scene.carol, knowing: nil, at: PaperDirectory.now)
            }
        }
    }
}
