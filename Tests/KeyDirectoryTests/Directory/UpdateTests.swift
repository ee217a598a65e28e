// SPDX-License-Identifier: Apache-2.0

import Crypto
import DurableStorage
import KeyTransparency
import LogEngine
import SQLStores
import SignetAPI
import Testing
import TransparencyLog

@testable import KeyDirectory

@Suite(.everyEngine) struct UpdateTests {
    let place: Place
    let directory: Directory
    var alice: Person

    init() async throws {
        place = try Place()
        directory = try await place.create()
        alice = try Person("alice@example.org")
        try await alice.register(at: directory)
    }

    @Test mutating func anAddedDeviceIsFoundAndVerified() async throws {
        let receipt = try await alice.change(to: alice.devices + [alice.newDevice()], at: directory)
        #expect(receipt.index == 5)
        let found = try await place.verifiedLookup(alice.handle, at: directory)
        #expect(found.state.devices.map(\.number) == [1, 2])
        #expect(found.state.version == 2)
    }

    @Test mutating func aLookupDoesNotShowARevokedDevice() async throws {
        let two = [alice.devices[0], try alice.newDevice()]
        try await alice.change(to: two, at: directory)
        try await alice.change(to: [two[0]], at: directory)
        let found = try await place.verifiedLookup(alice.handle, at: directory)
        #expect(found.state.devices == [two[0].record])
    }

    @Test mutating func aDeviceThatIsAddedAgainIsNotLoggedTwice() async throws {
        let second = try alice.newDevice()
        let first = alice.devices[0]
        try await alice.change(to: [first, second], at: directory)
        try await alice.change(to: [first], at: directory)
        let size = directory.log.published.head.size
        try await alice.change(to: [first, second.renumbered(3)], at: directory)
        #expect(directory.log.published.head.size == size + 2)
        let found = try await place.verifiedLookup(alice.handle, at: directory)
        #expect(found.state.devices.map(\.number) == [1, 3])
    }

    @Test mutating func anUpdateCanGiveADeviceANewNumber() async throws {
        try await alice.change(to: [alice.devices[0].renumbered(2)], at: directory)
        #expect(try await place.verifiedLookup(alice.handle, at: directory).state.devices.map(\.number) == [2])
    }

    @Test mutating func aRepeatedUpdateGetsTheSameReceipt() async throws {
        let submission = try await alice.submission(devices: alice.devices + [alice.newDevice()], at: directory)
        let first = try await alice.send(submission, to: directory)
        #expect(try await alice.send(submission, to: directory) == first)
        #expect(directory.log.published.head.size == 7)
    }

    @Test func update_refusesASecondStateOfOneVersion() async throws {
        let one = try await alice.submission(devices: alice.devices, at: directory)
        let other = try await alice.submission(devices: alice.devices, at: directory)
        _ = try await alice.send(one, to: directory)
        #expect(try await refusal { try await alice.send(other, to: directory) } == .versionConflict)
    }

    @Test func update_refusesAStateWithAnotherPredecessor() async throws {
        var twin = alice
        twin.state = nil
        let other = try AccountState(
            signing: AccountStateBody(
                first: alice.handle, identityKey: Array(alice.identity.publicKey.compressedRepresentation),
                devices: [DeviceRecord(number: 1, addedAt: 0, listed: alice.devices[0].record.keys)])
        ) { Array(try alice.identity.signature(for: $0).rawRepresentation) }
        twin.state = other
        let submission = try StateSubmission(
            state: twin.nextState(devices: alice.devices), opening: Person.opening(), cards: [])
        #expect(try await refusal { try await alice.send(submission, to: directory) } == .versionConflict)
    }

    @Test func update_refusesAnotherIdentityKey() async throws {
        var mallory = alice
        mallory.identity = P256.Signing.PrivateKey()
        mallory.state = nil
        mallory.state = try mallory.nextState(devices: alice.devices)
        let submission = try StateSubmission(
            state: mallory.nextState(devices: alice.devices), opening: Person.opening(), cards: [])
        #expect(try await refusal { try await alice.send(submission, to: directory) } == .handleTaken)
    }

    @Test func update_refusesTheStateOfAnotherAccount() async throws {
        var bob = try Person("bob@example.org")
        try await bob.register(at: directory)
        let submission = try await bob.submission(devices: bob.devices, at: directory)
        #expect(
            try await refusal { try await alice.send(submission, to: directory) } == .notYourAccount)
    }

    @Test func update_refusesASignatureOfAnotherBody() async throws {
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        let caller = try await alice.caller(.updateState, at: directory)
        #expect(
            try await refusal { try await directory.update(submission, by: caller) } == .badRequest)
    }

    @Test mutating func update_refusesADeviceRevokedSinceItsRequest() async throws {
        let second = try alice.newDevice()
        try await alice.change(to: alice.devices + [second], at: directory)
        var later = alice
        let revocation = try await alice.submission(devices: [alice.devices[0]], at: directory)
        later.state = revocation.state
        let comeback = try StateSubmission(
            state: later.nextState(devices: [alice.devices[0]]), opening: Person.opening(), cards: [])
        let caller = try await second.caller(.updateState, comeback.encoded, at: directory)
        _ = try await alice.send(revocation, to: directory)
        #expect(
            try await refusal { try await directory.update(comeback, by: caller) } == .notYourAccount)
    }

    @Test mutating func update_refusesAnErasedAccount() async throws {
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        let caller = try await alice.devices[0].caller(.updateState, submission.encoded, at: directory)
        try await directory.erase(alice.handle)
        #expect(
            try await refusal { try await directory.update(submission, by: caller) } == .notYourAccount)
    }

    // MARK: Devices

    @Test mutating func update_refusesANumberOfAFormerDevice() async throws {
        let second = try alice.newDevice()
        try await alice.change(to: alice.devices + [second], at: directory)
        try await alice.change(to: [alice.devices[0]], at: directory)
        let reuse = [alice.devices[0], try Device(2)]
        #expect(try await refusal { try await alice.change(to: reuse, at: directory) } == .badRequest)
    }

    @Test mutating func update_refusesANewNumberBelowTheHighest() async throws {
        try await alice.change(to: alice.devices + [Device(9)], at: directory)
        let lower = [alice.devices[0], try Device(5), alice.devices[1]]
        #expect(try await refusal { try await alice.change(to: lower, at: directory) } == .badRequest)
    }

    @Test mutating func update_refusesOtherKeysForAKnownDevice() async throws {
        let swapped = [try Device(1)]
        #expect(try await refusal { try await alice.change(to: swapped, at: directory) } == .badRequest)
    }

    @Test func update_refusesACardOfAKnownDevice() async throws {
        let card = try await alice.devices[0].card(for: alice.handle, at: directory)
        let submission = try StateSubmission(
            state: alice.nextState(devices: alice.devices), opening: Person.opening(), cards: [card])
        #expect(try await refusal { try await alice.send(submission, to: directory) } == .badRequest)
    }

    @Test mutating func update_refusesANewDeviceWithoutACard() async throws {
        let devices = alice.devices + [try alice.newDevice()]
        let submission = try StateSubmission(
            state: alice.nextState(devices: devices), opening: Person.opening(), cards: [])
        #expect(
            try await refusal { try await alice.send(submission, to: directory) } == .possessionNotProven)
    }

    @Test mutating func update_refusesADeviceKeyOfAnotherAccount() async throws {
        var bob = try Person("bob@example.org")
        try await bob.register(at: directory)
        let taken = alice.devices + [try Device(2, signing: bob.devices[0].signing)]
        #expect(try await refusal { try await alice.change(to: taken, at: directory) } == .keyInUse)
    }

    @Test mutating func aRevokedDeviceKeyIsFreeForAnotherAccount() async throws {
        let second = try alice.newDevice()
        try await alice.change(to: alice.devices + [second], at: directory)
        try await alice.change(to: [alice.devices[0]], at: directory)
        var bob = try Person("bob@example.org")
        bob.devices = [try Device(1, signing: second.signing)]
        try await bob.register(at: directory)
        #expect(try await bob.caller(at: directory).handle == bob.handle)
    }

    // MARK: What is kept

    @Test func theSignedRequestOfAStateIsKeptAndVerifies() async throws {
        let kept = try await directory.database.read { database in
            let row = try database.row("SELECT encoding, opening, cards, statement FROM states")
            return try (0..<4).map { try row?.bytes($0) ?? [] }
        }
        // What was signed is the state without the keys that are kept beside it.
        let state = AccountState.withoutKeys(kept[0])
        #expect(try AccountState(decodingWithKeys: kept[0]).hasAllKeys && state.count < kept[0].count)
        let length = [UInt8(state.count >> 8), UInt8(state.count & 255)]
        let body = Array("signet-submission/v1\n".utf8) + kept[1] + length + state + [1] + kept[2]
        let signature = try RequestSignature(headerValue: kept[3])
        try signature.verify(
            RequestSignature.Content(.register, origin: directory.origin, body: body), at: place.clock.now)
        #expect(signature.deviceKey == alice.devices[0].record.keys.signing)
    }

    /// The attack: a stolen device sends as many states as it can, which stay for good, and uses up its owner's room
    /// for states.
    @Test mutating func update_refusesMoreStatesThanADayHasRoomFor_andARevocationAlwaysHasRoom() async throws {
        let small = Directory(
            log: directory.log, epochs: directory.epochs, snapshots: directory.snapshots,
            origin: place.keys.log.verifierKey.name, vrf: place.keys.vrf,
            database: directory.database, paths: directory.paths, clock: place.time, logger: Place.silent,
            room: StateRoom(changes: 6, requests: 8))
        let kept = alice.devices[0]
        for _ in 2...6 { try await alice.change(to: alice.devices + [alice.newDevice()], at: small) }
        let more = alice.devices + [try alice.newDevice()]
        var greedy = alice
        #expect(try await refusal { try await greedy.change(to: more, at: small) } == .tooManyRequests)
        // Adding a device while another goes is no revocation.
        let other = [kept, more[more.count - 1]]
        #expect(try await refusal { try await greedy.change(to: other, at: small) } == .tooManyRequests)
        try await alice.change(to: Array(alice.devices.dropLast()), at: small)
        try await alice.change(to: [kept], at: small)
        place.clock.advance(StateRoom.window)
        try await small.republish()
        try await alice.change(to: [kept, alice.newDevice()], at: small, time: place.clock.now)
    }

    @Test mutating func theAuditTableNamesEventsByAccountNumber() async throws {
        try await alice.change(to: alice.devices + [alice.newDevice()], at: directory)
        let events = try await directory.database.read { try $0.events() }
        #expect(events == ["registered 1", "updated 1"])
    }
}
