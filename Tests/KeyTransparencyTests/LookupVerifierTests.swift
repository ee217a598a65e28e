// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VRF
import VerifiableMap

/// Honest answers of every shape, and for each check up to the cosignatures an answer in which only that check fails.
@Suite struct LookupVerifierTests {
    let scene: PaperScene
    var directory: PaperDirectory { scene.directory }

    init() throws { scene = try PaperScene() }

    // MARK: What must pass

    @Test func honestAnswerPassesOnAFirstVisit() throws {
        let lookup = try scene.registered(directory.answer(about: scene.alice))
        #expect(lookup.state.devices == scene.alice.devices)
        #expect(lookup.label == (try directory.label(scene.alice.handle).hash))
        #expect(lookup.view.head.size == directory.tree.size)
        #expect(lookup.history.count == 5)
        #expect(lookup.age == 0)
        #expect(lookup.epoch.record == directory.lastRecord)
        #expect(lookup.view.epoch == directory.lastRecord.map { EpochMark($0) })
    }

    @Test(arguments: [1, 2, 20, 32, 38, 39]) func honestAnswerPassesForAReturningClient(known: UInt64) throws {
        let known = min(known, directory.tree.size)
        let lookup = try scene.registered(
            directory.answer(about: scene.alice, knowing: (known, 0)), knowing: directory.view(size: known))
        #expect(lookup.view.head.size == directory.tree.size)
    }

    @Test(arguments: 1...5) func honestAnswerPassesForAContact(known: UInt64) throws {
        let full = try scene.aliceHistory()
        let history = LabelHead(try full.head(size: known))
        let lookup = try scene.registered(
            directory.answer(about: scene.alice, knowing: (0, known)), history: history)
        #expect(lookup.history.count == 5)
    }

    @Test func aResetIsAnAnswerLikeAnyOther() throws {
        var scene = scene
        var reset = try scene.alice.next(identity: PaperPerson("x@y", seed: 70).identity)
        reset.kind = .reset
        try scene.directory.publish(reset)
        #expect(try scene.registered(scene.directory.answer(about: reset)).kind == .reset)
    }

    @Test func aClosedAccountIsProvenToBeClosedWithoutItsState() throws {
        var scene = scene
        try scene.directory.publish(scene.alice.closed())
        let answer = try scene.directory.answer(about: scene.alice.closed())
        guard case .closed(let closure) = try scene.verify(answer) else {
            Issue.record("not closed")
            return
        }
        #expect(closure.version == 3)
        #expect(closure.history.count == 6)
        #expect(closure.handle == scene.alice.handle)
    }

    @Test func anAbsentPersonIsProvenToBeAbsent() throws {
        let answer = try directory.answer(aboutAbsent: scene.carol)
        guard case .absent(let absence) = try scene.verify(answer, scene.carol) else {
            Issue.record("not absent")
            return
        }
        #expect(absence.handle == scene.carol)
        #expect(absence.epoch.view.head.size == directory.tree.size)
    }

    @Test func everyHandleIsAbsentFromAnEmptyIndex() throws {
        var scene = scene
        scene.directory = try PaperDirectory(filler: 0)
        #expect(scene.directory.tree.size == 1)
        let answer = try scene.directory.answer(aboutAbsent: scene.alice.handle)
        #expect(answer.absence == .absentFromEmptyTrie)
        guard case .absent = try scene.verify(answer) else {
            Issue.record("not absent")
            return
        }
    }

    @Test func offlineProofOfTheStateRecordVerifiesByItself() throws {
        let lookup = try scene.registered(directory.answer(about: scene.alice))
        let proof = try TlogProof(decoding: lookup.tlogProof().encoded)
        _ = try proof.verify(entry: lookup.record.entry, policy: directory.trust().policy)
        let label = try directory.vrf.publicKey.verify(
            VRFProof(#require(proof.extra)), for: scene.alice.handle.vrfInput)
        #expect(label == lookup.label)
    }

    // MARK: envelope

    @Test func everyTruncationIsRefused() throws {
        var closing = directory
        try closing.publish(scene.bob.closed())
        let answers = [
            (scene.alice.handle, try directory.answer(about: scene.alice)),
            (scene.bob.handle, try closing.answer(about: scene.bob.closed())),
            (scene.carol, try directory.answer(aboutAbsent: scene.carol)),
        ]
        let verifier = try directory.verifier()
        for (handle, answer) in answers {
            let bytes = answer.response.encoded
            for count in 0..<bytes.count {
                #expect(throws: LookupError.self, "cut to \(count) bytes") {
                    try verifier.verify(
                        Array(bytes.prefix(count)), for: handle, knowing: nil, at: PaperDirectory.now)
                }
            }
        }
    }

    @Test func envelope_refusesMoreThanTheMaximum() throws {
        let bytes = [UInt8](repeating: 0, count: LookupResponse.maximumByteCount + 1)
        #expect(throws: LookupError.envelope(.tooLong(bytes.count))) {
            try directory.verifier().verify(bytes, for: scene.alice.handle, knowing: nil, at: 0)
        }
    }

    // MARK: vrf

    @Test func vrf_refusesAReplayedAnswerAboutAnotherPerson() throws {
        // Everything in these answers is logged, signed and true of bob and of carol.
        for answer in [try directory.answer(about: scene.bob), try directory.answer(aboutAbsent: scene.carol)] {
            #expect(throws: LookupError.vrf(.challengeMismatch)) { try scene.verify(answer) }
        }
    }

    // MARK: accountState

    @Test func accountState_refusesAStateThatItsIdentityKeyDidNotSign() throws {
        var (scene, forged) = (scene, try scene.alice.next())
        forged.encodedState[forged.encodedState.count - 1] ^= 1
        try scene.directory.publish(forged)
        #expect(throws: LookupError.accountState(.invalidSignature)) {
            try scene.verify(scene.directory.answer(about: forged))
        }
    }

    @Test func accountState_refusesAnotherPersonsStateUnderThisLabel() throws {
        // Bob's state and key, committed to under carol's label and logged there.
        var scene = scene
        try scene.directory.publish(scene.bob, under: scene.carol)
        #expect(throws: LookupError.anotherAccount(scene.bob.handle)) {
            try scene.verify(scene.directory.answer(about: scene.bob, under: scene.carol), scene.carol)
        }
    }

    // MARK: checkpoint text, origin, log signature

    /// Alice's answer under another checkpoint.
    func answer(_ note: SignedNote) throws -> PaperAnswer {
        var answer = try directory.answer(about: scene.alice)
        answer.note = note.encoded
        return answer
    }

    @Test func checkpointText_refusesAMalformedNote() throws {
        var answer = try directory.answer(about: scene.alice)
        answer.note = Array("no note\n".utf8)
        #expect(throws: LookupError.note(.separatorMissing)) { try scene.verify(answer) }
    }

    @Test func checkpointText_refusesASignedNoteThatIsNoCheckpoint() throws {
        let note = try directory.sign(Array("\(PaperDirectory.origin)\n012\n".utf8))
        let error = #expect(throws: LookupError.self) { try scene.verify(answer(note)) }
        #expect(error?.check == .checkpointText)
    }

    @Test func origin_refusesAnotherLogsCheckpointUnderTheSameKey() throws {
        let other = try PaperDirectory.signer("directory.example/other", .ed25519, seed: 1)
        #expect(throws: LookupError.origin(other.verifierKey.name)) {
            try scene.verify(answer(directory.note(by: other)))
        }
    }

    @Test func logSignature_refusesAnotherKeyUnderTheLogsName() throws {
        let other = try PaperDirectory.signer(PaperDirectory.origin, .ed25519, seed: 9)
        #expect(throws: LookupError.logSignature(.logSignatureMissing)) {
            try scene.verify(answer(directory.note(by: other)))
        }
    }

    @Test(arguments: [true, false]) func logSignature_refusesAnEditedTree(editsSize: Bool) throws {
        // The witnesses are in on it and sign the edited text; the log's old signature is pasted on.
        let honest = try directory.note()
        let head = TreeHead(
            size: directory.tree.size + (editsSize ? 1 : 0),
            root: editsSize ? try directory.tree.root(size: directory.tree.size) : .emptyTree)
        let text = try Checkpoint(origin: directory.log.verifierKey.name, head: head).text
        let edited = try SignedNote(
            text: text, signatures: [honest.signatures[0]] + directory.sign(text).signatures.dropFirst())
        #expect(throws: LookupError.logSignature(.logSignatureInvalid(directory.log.verifierKey))) {
            try scene.verify(answer(edited))
        }
    }

    // MARK: cosignatures

    @Test func cosignatures_refusesACheckpointBelowTheQuorum() throws {
        #expect(throws: LookupError.cosignatures(.quorumNotMet)) {
            try scene.verify(answer(directory.note(cosigners: [directory.witnesses[0]])))
        }
    }

    @Test func cosignatures_refusesUnknownKeysInPlaceOfKnownOnes() throws {
        // Valid signatures: of a stranger, and under the second witness's name by another key.
        for name in ["stranger.example", "witness.example/two"] {
            let unknown = try PaperDirectory.signer(name, .cosignatureV1, seed: 44)
            #expect(throws: LookupError.cosignatures(.quorumNotMet)) {
                try scene.verify(answer(directory.note(cosigners: [directory.witnesses[0], unknown])))
            }
        }
    }

    @Test func cosignatures_refusesAKnownWitnessThatSignedSomethingElse() throws {
        let (honest, other) = (try directory.note(), try directory.note(size: directory.tree.size - 1))
        let note = try SignedNote(
            text: honest.text, signatures: [honest.signatures[0], honest.signatures[1], other.signatures[2]])
        #expect(throws: LookupError.cosignatures(.cosignatureInvalid(directory.witnesses[1].verifierKey))) {
            try scene.verify(answer(note))
        }
    }
}
