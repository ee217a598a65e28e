// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DurableStorage
import KeyTransparency
import SQLStores
import SignetAPI
import Testing
import TransparencyLog
import VRF

@testable import KeyDirectory

@Suite(.everyEngine) struct DirectoryLookupTests {
    let place: Place
    let directory: Directory
    var alice: Person

    init() async throws {
        place = try Place()
        directory = try await place.create()
        alice = try Person("alice@example.org", deviceCount: 2)
        try await alice.register(at: directory)
    }

    @Test func anUnknownHandleIsProvenAbsent() async throws {
        let nobody = try Handle(typed: Array("nobody@example.org".utf8))
        guard case .absent(let absence) = try await place.verifiedAnswer(about: nobody, at: directory) else {
            Issue.record("not absent")
            return
        }
        #expect(absence.epoch.record.number == 2)
        #expect(absence.epoch.record.labelCount == 1)
    }

    @Test func anEmptyDirectoryProvesAHandleAbsent() async throws {
        let place = try Place()
        let directory = try await place.create()
        guard case .absent(let absence) = try await place.verifiedAnswer(about: alice.handle, at: directory) else {
            Issue.record("not absent")
            return
        }
        #expect(absence.epoch.record.number == 1)
    }

    @Test mutating func aContactVerifiesThatTheHistoryGrew() async throws {
        let before = try await place.verifiedLookup(alice.handle, at: directory)
        #expect(before.history.count == 3)
        try await alice.change(to: alice.devices + [alice.newDevice()], at: directory)
        try await alice.change(to: Array(alice.devices.dropLast()), at: directory)
        guard
            case .registered(let after) = try await place.verifiedAnswer(
                about: alice.handle, at: directory, knowing: before.view, history: before.history)
        else { throw LookupError.uncalledForConsistencyProof }
        #expect(after.history.count == 6)
    }

    @Test func aReturningClientGetsAConsistencyProof() async throws {
        let first = try await place.verifiedLookup(alice.handle, at: directory)
        var bob = try Person("bob@example.org")
        try await bob.register(at: directory)
        let second = try await place.verifiedLookup(bob.handle, at: directory, knowing: first.view)
        #expect(second.view.head.size == 8)
        _ = try await place.verifiedLookup(alice.handle, at: directory, knowing: second.view)
    }

    @Test(arguments: [0, 5, 6, UInt64.max]) func onlyASmallerKnownSizeGetsAConsistencyProof(
        known: UInt64
    ) async throws {
        let answer = try await directory.lookup(LookupRequest(handle: alice.handle, knownSize: known))
        #expect(answer.consistency.hashes.isEmpty)
    }

    @Test func aClientAheadOfTheLogFindsTheRollback() async throws {
        let head = TreeHead(size: 1000, root: TreeHash.leaf([1]))
        let view = LogView(
            uncheckedOrigin: place.keys.log.verifierKey.name, head: head, note: [])
        do {
            _ = try await place.verifiedLookup(alice.handle, at: directory, knowing: view)
            Issue.record("accepted")
        } catch let error as LookupError {
            guard case .consistency(let contradiction) = error else { throw error }
            #expect(contradiction.fault == .rollback)
        }
    }

    @Test func aStateThatIsNotPublishedIsNotShown() async throws {
        var next = alice
        try await writeOnly(next.newDevice(), &next)
        let found = try await place.verifiedLookup(alice.handle, at: directory)
        #expect(found.state.version == 1)
        #expect(found.state.devices.count == 2)
        let entries = try await directory.eCallEntries(ECallRequest(targets: [alice.handle.description]))
        #expect(entries.count == 2)
        #expect(try await directory.refusesToAuthenticate(next.devices[2], place))
    }

    @Test func anUpdateAfterAnUnpublishedStatePublishesBoth() async throws {
        var next = alice
        try await writeOnly(next.newDevice(), &next)
        let receipt = try await next.change(to: Array(next.devices.dropLast()), at: directory)
        #expect(receipt.size == 10)
        #expect(try await place.verifiedLookup(alice.handle, at: directory).state.version == 3)
    }

    @Test func theSameSubmissionCompletesAnUnpublishedState() async throws {
        var next = alice
        let submission = try await writeOnly(next.newDevice(), &next)
        let receipt = try await alice.send(submission, to: directory)
        #expect(receipt == StateReceipt(index: 6, size: 8))
    }

    @Test func aDamagedRowIsADatabaseError() async throws {
        _ = try await directory.database.write { try $0.run("UPDATE accounts SET vrf_proof = ?", [[0]]) }
        await #expect(throws: DirectoryError.database) {
            try await directory.lookup(LookupRequest(handle: alice.handle, knownSize: 0))
        }
    }

    @Test mutating func aLookupAfterAnUpdateShowsTheNewStateAndNotTheCachedOne() async throws {
        for version in 1...5 {
            let found = try await place.verifiedLookup(alice.handle, at: directory)
            #expect(found.state.version == UInt64(version))
            _ = try await place.verifiedLookup(alice.handle, at: directory)
            try await alice.change(to: alice.devices + [alice.newDevice()], at: directory)
        }
    }

    /// Writes a state to the database as a crash before the append leaves it.
    @discardableResult
    private func writeOnly(_ device: Device, _ person: inout Person) async throws -> StateSubmission {
        let submission = try await person.submission(devices: person.devices + [device], at: directory)
        try await directory.writeOnly(submission, by: person.devices[0])
        person.state = submission.state
        person.devices.append(device)
        return submission
    }
}

extension Directory {
    /// Writes a state to the database and not to the log, as a crash between the two leaves it.
    ///
    /// - Parameter other: the same database in another way.
    func writeOnly(_ submission: StateSubmission, by device: Device, to other: DirectoryDatabase? = nil) async throws {
        let database = other ?? database
        let (signature, _) = try device.sign(.updateState, submission.encoded, at: self, time: clock())
        let statement = Statement(submission: submission, signature: signature, time: clock())
        if submission.state.version == 1 {
            let (label, proof) = try vrf.prove(submission.state.handle.vrfInput)
            let row = StateRow(statement, label: label)
            _ = try await database.insertAccount(statement, row, label: label, proof: proof, admitting: .anyone)
        } else {
            let found = try await database.read { try AccountRow.find(submission.state.handle, in: $0) }
            let account = try #require(found)
            try await database.insertState(statement, StateRow(statement, label: account.label), of: account)
        }
    }

    func refusesToAuthenticate(_ device: Device, _ place: Place) async throws -> Bool {
        try await refusal { try await device.caller(.listFriends, at: self) } == .notYourAccount
    }
}

@Suite(.everyEngine) struct ECallTests {
    let place: Place
    let directory: Directory
    var alice: Person
    var bob: Person

    init() async throws {
        place = try Place()
        directory = try await place.create()
        alice = try Person("alice@example.org", deviceCount: 2)
        bob = try Person("bob@example.org")
        try await alice.register(at: directory)
        try await bob.register(at: directory)
    }

    private func hash(_ device: Device) -> String {
        text(Base64.encode(Array(SHA256.hash(data: device.record.keys.signing))))
    }

    private func key(_ device: Device) -> String { text(Base64.encode(device.record.keys.signing)) }

    @Test func everyEntryIsAcceptedByTheECallCheck() async throws {
        let logKey = place.keys.log.verifierKey
        let verifier = try ECallVerifier(origin: logKey.name, logKey: logKey.publicKey)
        let entries = try await directory.eCallEntries(ECallRequest(targets: [alice.handle.description]))
        #expect(entries.map(\.publicKey) == alice.devices.map(key))
        for entry in entries {
            let verified = try verifier.verifyPeerKey(
                publicKey: Array(entry.publicKey.utf8), proof: Array(entry.proof.utf8),
                vrfHash: Array(entry.vrfHash.utf8))
            #expect(verified.label == (try place.keys.vrf.prove(alice.handle.vrfInput)).hash.bytes)
        }
    }

    @Test func aProofHasNoExtraLine() async throws {
        let entries = try await directory.eCallEntries(ECallRequest(targets: [bob.handle.description]))
        #expect(entries.count == 1)
        #expect(try TlogProof(decoding: Array(entries[0].proof.utf8)).extra == nil)
    }

    @Test func eCallEntriesFollowTheOrderOfTheHashesWithoutRepetition() async throws {
        let hashes = [bob.devices[0], alice.devices[1], bob.devices[0]].map(hash)
        let entries = try await directory.eCallEntries(ECallRequest(publicKeyHashs: hashes))
        #expect(entries.map(\.publicKey) == [bob.devices[0], alice.devices[1]].map(key))
    }

    @Test func eCallEntriesLeaveOutUnknownHashesAndTargets() async throws {
        let unknown = text(Base64.encode([UInt8](repeating: 0, count: 32)))
        let hashes = try await directory.eCallEntries(
            ECallRequest(publicKeyHashs: [unknown, hash(bob.devices[0])]))
        #expect(hashes.count == 1)
        let targets = try await directory.eCallEntries(
            ECallRequest(targets: ["nobody@example.org", "bob@example.org"]))
        #expect(targets.count == 1)
    }

    @Test mutating func eCallEntriesLeaveOutARevokedDevice() async throws {
        let revoked = alice.devices[1]
        try await alice.change(to: [alice.devices[0]], at: directory)
        let entries = try await directory.eCallEntries(ECallRequest(publicKeyHashs: [hash(revoked)]))
        #expect(entries.isEmpty)
    }

    @Test func eCallRequest_refusesBothListsAndNone() async throws {
        for request in [ECallRequest(), ECallRequest(publicKeyHashs: [], targets: [])] {
            #expect(try await refusal { try await directory.eCallEntries(request) } == .badRequest)
        }
        #expect(try await directory.eCallEntries(ECallRequest(targets: [])).isEmpty)
    }

    @Test func eCallRequest_refusesMalformedHashesAndTargets() async throws {
        for request in [
            ECallRequest(publicKeyHashs: ["AA=="]), ECallRequest(publicKeyHashs: ["not base64"]),
            ECallRequest(targets: ["Alice@example.org"]), ECallRequest(targets: ["alice"]),
        ] {
            #expect(try await refusal { try await directory.eCallEntries(request) } == .badRequest)
        }
    }

    @Test func eCallRequest_refusesMoreThan128Devices() async throws {
        for number in 0..<5 {
            var crowd = try Person("crowd\(number)@example.org", deviceCount: 24)
            try await crowd.register(at: directory)
        }
        var last = try Person("last@example.org", deviceCount: 6)
        try await last.register(at: directory)
        let crowds = (0..<5).map { "crowd\($0)@example.org" }
        let whole = ECallRequest(targets: crowds + ["last@example.org", "alice@example.org"])
        #expect(try await directory.eCallEntries(whole).count == 128)
        let more = ECallRequest(targets: crowds + ["last@example.org", "alice@example.org", "bob@example.org"])
        #expect(try await refusal { try await directory.eCallEntries(more) } == .tooLarge)
    }

    /// The same request again costs no hashing, and is never answered with a proof for another checkpoint.
    @Test func aProofIsPrintedOnceForACheckpoint() async throws {
        let request = ECallRequest(targets: [alice.handle.description])
        let first = try await directory.eCallEntries(request)
        #expect(directory.proofs.count == 2)
        #expect(try await directory.eCallEntries(request) == first)
        #expect(directory.proofs.count == 2)
        var carol = try Person("carol@example.org")
        try await carol.register(at: directory)
        let next = try await directory.eCallEntries(request)
        #expect(next.map(\.publicKey) == first.map(\.publicKey))
        #expect(zip(next, first).allSatisfy { $0.proof != $1.proof })
    }

    @Test func eCallRequest_refusesMoreThan64Targets() async throws {
        let targets = [String](repeating: "bob@example.org", count: 64)
        #expect(try await directory.eCallEntries(ECallRequest(targets: targets)).count == 1)
        let more = ECallRequest(targets: targets + ["bob@example.org"])
        #expect(try await refusal { try await directory.eCallEntries(more) } == .tooLarge)
    }
}
