// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import SQLStores
import SignetAPI
import Testing

@testable import KeyDirectory

@Suite(.everyEngine) struct InvitationTests {
    let place: Place
    let directory: Directory
    let alice: Person
    let invitation: Invitation

    init() async throws {
        place = try Place()
        directory = try await place.create()
        alice = try Person("alice@example.org")
        invitation = try Self.invitation(7)
    }

    private static func invitation(_ byte: UInt8) throws -> Invitation {
        try #require(Invitation(code: [UInt8](repeating: byte, count: 16)))
    }

    /// A registration that the directory takes from holders of an invitation only.
    private func register(_ person: Person, with invitation: Invitation?) async throws -> ErrorCode? {
        let submission = try await person.submission(devices: person.devices, at: directory)
        let (signature, content) = try person.devices[0].sign(
            .register, submission.encoded, at: directory, time: place.clock.now)
        return try await refusal {
            try await directory.register(submission, signature, content, admitting: .holder(of: invitation))
        }
    }

    @Test func onlyTheHolderOfAnInvitationRegisters() async throws {
        #expect(try await register(alice, with: nil) == .notInvited)
        #expect(try await register(alice, with: invitation) == .notInvited, "none was made")
        _ = try await directory.invite(alice.handle, with: invitation)
        #expect(try await register(alice, with: nil) == .notInvited)
        #expect(try await register(alice, with: Self.invitation(8)) == .notInvited)
        #expect(try await register(alice, with: invitation) == nil)
        #expect(try await place.verifiedLookup(alice.handle, at: directory).state.version == 1)
    }

    @Test func theTrailBeginsWithWhoMadeTheInvitation() async throws {
        let carol = Administrator(userID: 1000, userName: "carol")
        let end = try await directory.invite(alice.handle, with: Self.invitation(8), by: Administrator(userID: 1))
        _ = try await directory.invite(alice.handle, with: invitation, by: carol)
        place.clock.advance(60)
        #expect(try await register(alice, with: invitation) == nil)
        let events = try await directory.events(of: alice.handle)
        #expect(events.map(\.name) == ["registered", "invited"])
        #expect(events.map(\.administrator) == [nil, carol], "of the invitation that was used")
        #expect(events.map(\.until) == [nil, end])
        #expect(events.map(\.time) == [StandingClock.start + 60, StandingClock.start])
    }

    /// A row as a program wrote it that did not keep who made it.
    @Test func anInvitationOfAnOlderProgramIsGood_andLeavesNoLine() async throws {
        _ = try await directory.invite(alice.handle, with: invitation, by: Administrator(userID: 1))
        try directory.database.rows.writeNow { _ = try $0.run("UPDATE invitations SET made = NULL, uid = NULL", []) }
        #expect(try await register(alice, with: invitation) == nil)
        #expect(try await directory.events(of: alice.handle).map(\.name) == ["registered"])
    }

    /// The statement of version 10 of the schema: it replaces the code and the end alone.
    @Test func anInvitationThatAnOlderProgramReplacedIsNobodysAct() async throws {
        _ = try await directory.invite(alice.handle, with: Self.invitation(8), by: Administrator(userID: 1))
        place.clock.advance(60)
        let hash = Array(SHA256.hash(data: invitation.code))
        let end = Int64(place.clock.now + Directory.invitationLifetime)
        try directory.database.rows.writeNow { database in
            _ = try database.run(
                """
                INSERT INTO invitations (handle, code_hash, until) VALUES (?, ?, ?)
                ON CONFLICT (handle) DO UPDATE SET code_hash = excluded.code_hash, until = excluded.until
                """, [alice.handle.bytes, hash, end])
        }
        #expect(try await register(alice, with: invitation) == nil)
        #expect(try await directory.events(of: alice.handle).map(\.name) == ["registered"])
    }

    @Test func anInvitationIsForOneHandle() async throws {
        _ = try await directory.invite(alice.handle, with: invitation)
        #expect(try await register(Person("bob@example.org"), with: invitation) == .notInvited)
        #expect(try await register(alice, with: invitation) == nil, "a try with another handle does not use it up")
    }

    @Test func anInvitationIsOfNoUseTwice() async throws {
        _ = try await directory.invite(alice.handle, with: invitation)
        #expect(try await register(alice, with: invitation) == nil)
        try await directory.erase(alice.handle)
        #expect(try await register(Person("alice@example.org"), with: invitation) == .notInvited)
    }

    @Test func anInvitationIsGoodForSevenDays() async throws {
        let end = try await directory.invite(alice.handle, with: invitation)
        #expect(end == StandingClock.start + 7 * 86_400)
        place.clock.advance(7 * 86_400)
        #expect(try await register(alice, with: invitation) == nil)
        let bob = try Person("bob@example.org")
        _ = try await directory.invite(bob.handle, with: invitation)
        place.clock.advance(7 * 86_400 + 1)
        #expect(try await register(bob, with: invitation) == .notInvited)
    }

    @Test func aNewInvitationReplacesTheOneBefore() async throws {
        _ = try await directory.invite(alice.handle, with: invitation)
        _ = try await directory.invite(alice.handle, with: Self.invitation(8))
        #expect(try await register(alice, with: invitation) == .notInvited)
        #expect(try await register(alice, with: Self.invitation(8)) == nil)
    }

    /// The answer was lost, and the client sends the same once more.
    @Test func theSameRegistrationOnceMoreIsAnsweredWithoutAnInvitation() async throws {
        _ = try await directory.invite(alice.handle, with: invitation)
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        var places: Set<UInt64> = []
        for _ in 0..<2 {
            let (signature, content) = try alice.devices[0].sign(
                .register, submission.encoded, at: directory, time: place.clock.now)
            let receipt = try await directory.register(
                submission, signature, content, admitting: .holder(of: invitation))
            places.insert(receipt.index)
        }
        #expect(places.count == 1)
    }

    /// Whatever else is refused leaves the invitation as it was.
    @Test func aRegistrationThatFailsUsesUpNoInvitation() async throws {
        var bob = try Person("bob@example.org")
        try await bob.register(at: directory)
        let thief = try Person("alice@example.org")
        var stolen = thief
        stolen.devices = [bob.devices[0]]
        _ = try await directory.invite(alice.handle, with: invitation)
        #expect(try await register(stolen, with: invitation) == .keyInUse)
        #expect(try await register(alice, with: invitation) == nil)
    }

    /// An erasure closes a handle for good: a code for it would be of no use.
    @Test func anErasedHandleIsNotInvited() async throws {
        var alice = alice
        try await alice.register(at: directory)
        try await directory.erase(alice.handle)
        #expect(
            try await refusal { try await directory.invite(alice.handle, with: invitation) } == .handleTaken)
    }

    /// Where nobody needs an invitation, one that is not good is not passed over without a word.
    @Test func anInvitationThatIsNotGoodIsRefusedWhereNoneIsNeeded() async throws {
        func register(_ person: Person, with invitation: Invitation?) async throws -> ErrorCode? {
            let submission = try await person.submission(devices: person.devices, at: directory)
            let (signature, content) = try person.devices[0].sign(
                .register, submission.encoded, at: directory, time: place.clock.now)
            return try await refusal {
                try await directory.register(
                    submission, signature, content, admitting: .anyone(holding: invitation))
            }
        }
        let bob = try Person("bob@example.org")
        _ = try await directory.invite(bob.handle, with: invitation)
        #expect(try await register(alice, with: invitation) == .notInvited, "it is for another handle")
        #expect(try await register(alice, with: nil) == nil)
        #expect(try await register(bob, with: invitation) == nil, "and stays good for that one")
    }

    @Test func aRefusalOfThePolicyIsToldUnlessThereIsAnInvitation() async throws {
        let submission = try await alice.submission(devices: alice.devices, at: directory)
        func register(_ right: RegistrationRight) async throws -> ErrorCode? {
            let (signature, content) = try alice.devices[0].sign(
                .register, submission.encoded, at: directory, time: place.clock.now)
            return try await refusal {
                try await directory.register(submission, signature, content, admitting: right)
            }
        }
        #expect(try await register(.nobody(.domainClosed)) == .domainClosed)
        #expect(try await register(.anyone) == nil)
        #expect(try await register(.nobody(.tokenRefused)) == nil, "the answer was lost, and the token is over")
    }

    @Test func aRegisteredHandleIsNotInvited() async throws {
        var alice = alice
        try await alice.register(at: directory)
        #expect(
            try await refusal { try await directory.invite(alice.handle, with: invitation) } == .handleTaken)
    }
}
