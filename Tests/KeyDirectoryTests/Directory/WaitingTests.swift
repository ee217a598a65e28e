// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import SQLStores
import SignetAPI
import Testing

@testable import KeyDirectory

/// What a directory whose log another process writes leaves to that process.
@Suite(.everyEngine) struct WaitingTests {
    let place: Place
    let directory: Directory
    /// The same rows, as a process has them that does not write the log.
    let database: DirectoryDatabase
    var alice: Person

    init() async throws {
        place = try Place()
        directory = try await place.create()
        database = DirectoryDatabase(database: directory.database.rows, handsOver: true, logger: Place.silent)
        alice = try Person("alice@example.org")
    }

    /// Writes the next state of a person with one more device, or the first one.
    private func write(_ person: inout Person) async throws {
        let devices = try person.state == nil ? person.devices : person.devices + [person.newDevice()]
        let submission = try await person.submission(devices: devices, at: directory)
        try await directory.writeOnly(submission, by: person.devices[0], to: database)
        (person.devices, person.state) = (devices, submission.state)
    }

    private func states() async throws -> [WaitingStep.Content] {
        try await database.read { database in
            try database.rows("SELECT id FROM states ORDER BY id").map { .state(try $0.integer(0)) }
        }
    }

    @Test mutating func everyStateWaits_theOldestFirst_untilItIsTakenOut() async throws {
        for _ in 0..<3 { try await write(&alice) }
        let waiting = try await database.waiting(limit: 10)
        #expect(try await waiting.map(\.content) == states() && waiting.count == 3)
        #expect(try await database.waiting(limit: 2) == Array(waiting.prefix(2)))
        try await database.remove(waiting: [waiting[1].id, waiting[0].id, 1000])
        #expect(try await database.waiting(limit: 10) == [waiting[2]])
        #expect(try await states().count == 3, "the states stay")
    }

    @Test mutating func nothingWaitsWhereTheProcessWritesTheLogItself() async throws {
        try await alice.register(at: directory)
        try await alice.change(to: alice.devices + [alice.newDevice()], at: directory)
        try await directory.erase(alice.handle)
        #expect(try await database.waiting(limit: 10).isEmpty)
    }

    @Test mutating func aRefusedStateDoesNotWait() async throws {
        try await write(&alice)
        let again = try await alice.submission(devices: alice.devices + [alice.newDevice()], at: directory)
        try await write(&alice)
        #expect(
            try await refusal { try await directory.writeOnly(again, by: alice.devices[0], to: database) }
                == .versionConflict)
        #expect(try await database.waiting(limit: 10).count == 2)
    }

    /// The states of an erased account go, and what waits for them; that the log is told of the end does not.
    @Test mutating func theEndOfAnErasedAccountWaits_andItsStatesDoNot() async throws {
        var bob = try Person("bob@example.org")
        try await write(&alice)
        try await write(&bob)
        try await write(&alice)
        try await database.erase(alice.handle, closing: 3, at: place.clock.now)
        let label = LabelIndex(try directory.label(of: alice.handle).0).bytes
        let left = try await database.waiting(limit: 10).map(\.content)
        #expect(try await left == states() + [.closing(label: label, version: 3)])
        #expect(left.count == 2)
    }

    /// The first state of another holder of a released handle waits like any other.
    @Test mutating func aTakeoverWaits() async throws {
        try await alice.register(at: directory)
        let invitation = try #require(Invitation(code: [UInt8](repeating: 7, count: 16)))
        _ = try await directory.release(alice.handle, to: invitation)
        let (handle, former) = (alice.handle, alice.state)
        let account = try #require(try await database.read { try AccountRow.find(handle, in: $0) })
        let owner = try Person("alice@example.org")
        let body = try AccountStateBody(
            takingOver: #require(former), identityKey: Array(owner.identity.publicKey.compressedRepresentation),
            devices: owner.devices.map(\.record))
        let state = try AccountState(signing: body) { Array(try owner.identity.signature(for: $0).rawRepresentation) }
        let submission = try StateSubmission(
            state: state, opening: Person.opening(), cards: [await owner.devices[0].card(for: handle, at: directory)])
        let (signature, _) = try owner.devices[0].sign(
            .register, submission.encoded, at: directory, time: place.clock.now)
        let statement = Statement(submission: submission, signature: signature, time: place.clock.now)
        _ = try await database.replaceAccount(
            account, with: statement, StateRow(statement, label: account.label, kind: .reset),
            admitting: .anyone(holding: invitation))
        #expect(try await database.waiting(limit: 10).map(\.content) == states())
        #expect(try await states().count == 1)
    }
}
