import Crypto
import KeyTransparency
import Testing
import TransparencyLog
import VRF

/// One honest answer, and for every check an answer in which only that check fails.
@Suite struct LookupVerifierTests {
    let alice: PaperPerson
    let bob: PaperPerson
    var directory: PaperDirectory

    init() throws {
        alice = try PaperPerson("alice@example.org", seed: 10)
        bob = try PaperPerson("bob@example.org", seed: 20, deviceCount: 1)
        directory = try PaperDirectory()
        try directory.publish(bob)
        try directory.publish(alice)
        for number in 0..<23 { directory.tree.append(.leaf(Array("later \(number)".utf8))) }
    }

    func verify(
        _ response: LookupResponse, _ handle: Handle? = nil, knowing view: LogView? = nil,
        at now: UInt64 = PaperDirectory.now, quorum: Policy.Quorum? = nil
    ) throws(LookupError) -> VerifiedLookup {
        let verifier: LookupVerifier
        do { verifier = try directory.verifier(quorum: quorum) } catch { throw .uncalledForConsistencyProof }
        return try verifier.verify(response.encoded, for: handle ?? alice.handle, knowing: view, at: now)
    }

    // MARK: What must pass

    @Test func honestAnswerPassesOnAFirstVisit() throws {
        let lookup = try verify(directory.answer(about: alice))
        #expect(lookup.state.devices == alice.devices)
        #expect(lookup.label == (try directory.label(alice.handle).hash))
        #expect(lookup.view.head.size == directory.tree.size)
        #expect(lookup.age == 0)
        #expect(lookup.leaves.count == 3)
    }

    @Test(arguments: [1, 2, 20, 38, 41, 63]) func honestAnswerPassesForAReturningClient(known: UInt64) throws {
        let known = min(known, directory.tree.size)
        let view = try directory.view(size: known)
        let lookup = try verify(directory.answer(about: alice, knowing: known), knowing: view)
        #expect(lookup.view.head.size == directory.tree.size)
    }

    @Test func offlineProofOfEachLeafVerifiesByItself() throws {
        let lookup = try verify(directory.answer(about: alice))
        for leaf in lookup.leaves {
            let proof = try TlogProof(decoding: lookup.tlogProof(of: leaf).encoded)
            _ = try proof.verify(entry: leaf.entry, policy: directory.trust().policy)
            let label = try directory.vrf.publicKey.verify(
                VRFProof(#require(proof.extra)), for: alice.handle.vrfInput)
            #expect(label == lookup.label)
        }
    }

    // MARK: envelope

    @Test func everyTruncationIsRefused() throws {
        let bytes = try directory.answer(about: alice).encoded
        let verifier = try directory.verifier()
        for count in 0..<bytes.count {
            #expect(throws: LookupError.self, "cut to \(count) bytes") {
                try verifier.verify(
                    Array(bytes.prefix(count)), for: alice.handle, knowing: nil, at: PaperDirectory.now)
            }
        }
    }

    @Test func envelope_refusesMoreThanTheMaximum() throws {
        let bytes = [UInt8](repeating: 0, count: LookupResponse.maximumByteCount + 1)
        #expect(throws: LookupError.envelope(.tooLong(bytes.count))) {
            try directory.verifier().verify(bytes, for: alice.handle, knowing: nil, at: 0)
        }
    }

    // MARK: vrf

    @Test func vrf_refusesAnotherUsersProof() throws {
        // Everything in this answer is logged, signed and true of bob.
        #expect(throws: LookupError.vrf(.challengeMismatch)) {
            try verify(directory.answer(about: bob), alice.handle)
        }
    }

    // MARK: accountState

    @Test func accountState_refusesAStateThatItsIdentityKeyDidNotSign() throws {
        var forged = alice
        forged.encodedState[forged.encodedState.count - 1] ^= 1
        #expect(throws: LookupError.accountState(.invalidSignature)) {
            try verify(answerAfterPublishing(forged))
        }
    }

    @Test func accountState_refusesAnotherPersonsStateUnderThisLabel() throws {
        // Bob's state and key, committed to under alice's label and logged there.
        let label = try directory.label(alice.handle)
        let record = try bob.record(label.hash)
        let leaf = DeviceLeaf(label: label.hash, device: bob.devices[0].keys)
        var lying = directory
        lying.tree.append(.leaf(record.entry))
        lying.tree.append(.leaf(leaf.entry))
        let response = LookupResponse(
            vrfProof: label.proof, kind: .set, opening: bob.opening, state: bob.encodedState,
            stateInclusion: try lying.proof(of: record.entry),
            deviceInclusions: [try lying.proof(of: leaf.entry)],
            consistency: ConsistencyProof(hashes: []), note: try lying.note().encoded)
        #expect(throws: LookupError.anotherAccount(bob.handle)) { try verify(response) }
    }

    @Test func accountState_refusesAClosedAccount() throws {
        var closed = alice
        closed.kind = .close
        #expect(throws: LookupError.accountClosed(version: 1)) {
            try verify(answerAfterPublishing(closed))
        }
    }

    // MARK: leaves

    @Test func leaves_refusesAnAnswerThatOmitsADevicesProof() throws {
        let honest = try directory.answer(about: alice)
        let response = changed(honest, deviceInclusions: Array(honest.deviceInclusions.dropLast()))
        #expect(throws: LookupError.leafCount(expected: 2, received: 1)) { try verify(response) }
    }

    @Test func leaves_refusesASurplusProof() throws {
        let honest = try directory.answer(about: alice)
        let response = changed(
            honest, deviceInclusions: honest.deviceInclusions + [honest.stateInclusion])
        #expect(throws: LookupError.leafCount(expected: 2, received: 3)) { try verify(response) }
    }

    // MARK: checkpoint text, origin, log signature

    @Test func checkpointText_refusesWhatIsNoNote() throws {
        let response = changed(try directory.answer(about: alice), note: Array("no note\n".utf8))
        #expect(throws: LookupError.note(.separatorMissing)) { try verify(response) }
    }

    @Test func checkpointText_refusesASignedNoteThatIsNoCheckpoint() throws {
        let text = Array("\(PaperDirectory.origin)\n012\n\n".utf8)
        let response = changed(
            try directory.answer(about: alice), note: try directory.sign(Array(text.dropLast())).encoded)
        let error = #expect(throws: LookupError.self) { try verify(response) }
        #expect(error?.check == .checkpointText)
    }

    @Test func origin_refusesAnotherLogsCheckpointUnderTheSameKey() throws {
        let other = try PaperDirectory.signer("directory.example/other", .ed25519, seed: 1)
        let response = changed(
            try directory.answer(about: alice), note: try directory.note(by: other).encoded)
        #expect(throws: LookupError.origin(other.verifierKey.name)) { try verify(response) }
    }

    @Test func logSignature_refusesAnotherKeyUnderTheLogsName() throws {
        let other = try PaperDirectory.signer(PaperDirectory.origin, .ed25519, seed: 9)
        let response = changed(
            try directory.answer(about: alice), note: try directory.note(by: other).encoded)
        #expect(throws: LookupError.logSignature(.logSignatureMissing)) { try verify(response) }
    }

    @Test(arguments: [true, false]) func logSignature_refusesAnEditedTree(editsSize: Bool) throws {
        // The witnesses are in on it and sign the edited text; the log's old signature is pasted on.
        let honest = try directory.note()
        let head = TreeHead(
            size: directory.tree.size + (editsSize ? 1 : 0),
            root: editsSize ? try directory.tree.root(size: directory.tree.size) : .emptyTree)
        let text = try Checkpoint(origin: directory.log.verifierKey.name, head: head).text
        let cosigned = try directory.sign(text)
        let edited = try SignedNote(
            text: text, signatures: [honest.signatures[0]] + cosigned.signatures.dropFirst())
        let response = changed(try directory.answer(about: alice), note: edited.encoded)
        #expect(throws: LookupError.logSignature(.logSignatureInvalid(directory.log.verifierKey))) {
            try verify(response)
        }
    }

    // MARK: cosignatures

    @Test func cosignatures_refusesACheckpointBelowTheQuorum() throws {
        let response = changed(
            try directory.answer(about: alice),
            note: try directory.note(cosigners: [directory.witnesses[0]]).encoded)
        #expect(throws: LookupError.cosignatures(.quorumNotMet)) { try verify(response) }
    }

    @Test func cosignatures_refusesAKnownWitnessThatSignedSomethingElse() throws {
        let honest = try directory.note()
        let other = try directory.note(size: directory.tree.size - 1)
        let note = try SignedNote(
            text: honest.text, signatures: [honest.signatures[0], honest.signatures[1], other.signatures[2]])
        let response = changed(try directory.answer(about: alice), note: note.encoded)
        #expect(
            throws: LookupError.cosignatures(.cosignatureInvalid(directory.witnesses[1].verifierKey))
        ) { try verify(response) }
    }

    // MARK: inclusion

    @Test func inclusion_refusesAStateThatWasNeverLogged() throws {
        // The swapped key: mallory signs a state for alice with her own identity and device keys.
        let mallory = try PaperPerson("alice@example.org", seed: 66)
        let honest = try directory.answer(about: alice)
        let response = LookupResponse(
            vrfProof: honest.vrfProof, kind: .set, opening: mallory.opening,
            state: mallory.encodedState, stateInclusion: honest.stateInclusion,
            deviceInclusions: honest.deviceInclusions, consistency: honest.consistency, note: honest.note)
        let error = #expect(throws: LookupError.self) { try verify(response) }
        guard case .inclusion(leaf: 0, _) = error else {
            Issue.record("refused by \(String(describing: error))")
            return
        }
    }

    @Test func inclusion_refusesADeviceWhoseLeafWasNeverLogged() throws {
        // The state is logged, but one of its devices got no leaf that eCall clients and monitors see.
        let hidden = try PaperPerson("carol@example.org", seed: 30)
        let label = try directory.label(hidden.handle)
        var lying = directory
        let leaf = DeviceLeaf(label: label.hash, device: hidden.devices[0].keys)
        lying.tree.append(.leaf(leaf.entry))
        lying.tree.append(.leaf(try hidden.record(label.hash).entry))
        let response = LookupResponse(
            vrfProof: label.proof, kind: .set, opening: hidden.opening, state: hidden.encodedState,
            stateInclusion: try lying.proof(of: try hidden.record(label.hash).entry),
            deviceInclusions: [try lying.proof(of: leaf.entry), try lying.proof(of: leaf.entry)],
            consistency: ConsistencyProof(hashes: []), note: try lying.note().encoded)
        let error = #expect(throws: LookupError.self) { try verify(response, hidden.handle) }
        guard case .inclusion(leaf: 2, _) = error else {
            Issue.record("refused by \(String(describing: error))")
            return
        }
    }

    // MARK: freshness

    @Test func freshness_refusesAStaleCheckpoint() throws {
        let answer = try directory.answer(about: alice)
        _ = try verify(answer, at: PaperDirectory.now + 86_400)
        #expect(throws: LookupError.freshness(.stale(age: 86_401, maximum: 86_400))) {
            try verify(answer, at: PaperDirectory.now + 86_401)
        }
    }

    @Test func freshness_refusesATimeAheadOfOurClock() throws {
        let answer = try directory.answer(about: alice)
        _ = try verify(answer, at: PaperDirectory.now - 300)
        #expect(throws: LookupError.freshness(.fromTheFuture(secondsAhead: 301))) {
            try verify(answer, at: PaperDirectory.now - 301)
        }
    }

    @Test func freshness_countsFromTheOldestCosignatureThatTheQuorumNeeds() throws {
        let text = try directory.note().text
        let note = try SignedNote(
            text: text,
            signatures: [
                directory.log.sign(text), directory.witnesses[0].cosign(text, time: PaperDirectory.now),
                directory.witnesses[1].cosign(text, time: PaperDirectory.now - 90_000),
            ])
        let response = changed(try directory.answer(about: alice), note: note.encoded)
        #expect(throws: LookupError.freshness(.stale(age: 90_000, maximum: 86_400))) {
            try verify(response)
        }
    }

    @Test func freshness_refusesAPolicyUnderWhichNothingCarriesATime() throws {
        #expect(throws: LookupError.freshness(.noTime)) {
            try verify(directory.answer(about: alice), quorum: Policy.Quorum.none)
        }
    }

    // MARK: consistency

    @Test func consistency_refusesARollback() throws {
        let view = try directory.view(size: directory.tree.size)
        var older = directory
        older.tree = MerkleTree()
        for index in 0..<(directory.tree.size - 5) {
            older.tree.append(try directory.tree.hash(level: 0, index: index))
        }
        let error = #expect(throws: LookupError.self) {
            try verify(older.answer(about: alice), knowing: view)
        }
        guard case .consistency(let contradiction) = error else {
            Issue.record("refused by \(String(describing: error))")
            return
        }
        #expect(contradiction.fault == .rollback)
        #expect(contradiction.known == view)
        #expect(contradiction.received.head.size == directory.tree.size - 5)
    }

    @Test func consistency_refusesAnotherRootForTheKnownSize() throws {
        let view = try directory.view(size: directory.tree.size)
        let error = #expect(throws: LookupError.self) {
            try verify(fork(longerBy: 0).answer(about: alice), knowing: view)
        }
        guard case .consistency(let contradiction) = error else {
            Issue.record("refused by \(String(describing: error))")
            return
        }
        #expect(contradiction.fault == .fork)
        #expect(contradiction.known.note == view.note)
        #expect(contradiction.received.note != view.note)
    }

    @Test func consistency_seesAForkEvenWhenTheRestOfTheAnswerFails() throws {
        // The forked checkpoint over the honest proofs: inclusion would fail, and the evidence would be lost.
        let view = try directory.view(size: directory.tree.size)
        let response = changed(
            try directory.answer(about: alice), note: try fork(longerBy: 0).note().encoded)
        let error = #expect(throws: LookupError.self) { try verify(response, knowing: view) }
        guard case .consistency(let contradiction) = error, contradiction.fault == .fork else {
            Issue.record("refused by \(String(describing: error))")
            return
        }
        // What was not looked at must not be reported as held.
        let passed = LookupCheck.allCases.filter { error?.wasPassed($0) == true }
        #expect(
            passed == [.envelope, .vrf, .accountState, .leaves, .checkpointText, .origin, .logSignature, .cosignatures])
    }

    @Test func consistency_aClientThatSawTheEmptyLogNeedsNoProof() throws {
        let view = LogView(
            uncheckedOrigin: directory.log.verifierKey.name, head: .empty,
            note: try PaperDirectory(filler: 0).note().encoded)
        let lookup = try verify(directory.answer(about: alice), knowing: view)
        #expect(lookup.view.head.size == directory.tree.size)
    }

    @Test func consistency_refusesALongerLogWithAnotherPast() throws {
        let known = directory.tree.size
        let error = #expect(throws: LookupError.self) {
            try verify(
                fork(longerBy: 4).answer(about: alice, knowing: known),
                knowing: directory.view(size: known))
        }
        guard case .consistency(let contradiction) = error,
            case .inconsistent = contradiction.fault
        else {
            Issue.record("refused by \(String(describing: error))")
            return
        }
        #expect(LookupCheck.allCases.dropLast().allSatisfy { error?.wasPassed($0) == true })
    }

    @Test func consistency_refusesAProofNobodyAskedFor() throws {
        let response = changed(
            try directory.answer(about: alice),
            consistency: try directory.tree.consistencyProof(from: 3, to: directory.tree.size))
        #expect(throws: LookupError.uncalledForConsistencyProof) { try verify(response) }
    }

    // MARK: Parts

    private func fork(longerBy count: Int) throws -> PaperDirectory {
        var forked = directory
        forked.tree = MerkleTree()
        forked.tree.append(.leaf(Array("another past".utf8)))
        for index in 1..<directory.tree.size {
            forked.tree.append(try directory.tree.hash(level: 0, index: index))
        }
        for number in 0..<count { forked.tree.append(.leaf(Array("more \(number)".utf8))) }
        return forked
    }

    private func answerAfterPublishing(_ person: PaperPerson) throws -> LookupResponse {
        var lying = directory
        try lying.publish(person)
        return try lying.answer(about: person)
    }
}

/// The response with some parts replaced.
func changed(
    _ response: LookupResponse, deviceInclusions: [InclusionProof]? = nil,
    consistency: ConsistencyProof? = nil, note: [UInt8]? = nil
) -> LookupResponse {
    LookupResponse(
        vrfProof: response.vrfProof, kind: response.kind, opening: response.opening,
        state: response.state, stateInclusion: response.stateInclusion,
        deviceInclusions: deviceInclusions ?? response.deviceInclusions,
        consistency: consistency ?? response.consistency, note: note ?? response.note)
}
