// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyTransparency
import LogEngine
import LogFencing
import ObjectStores
import SQLStores
import SharedLog
import SignetAPI
import Synchronization
import Testing
import TransparencyLog
import VRF

@testable import KeyDirectory

extension SharedPlace {
    /// A copy of both databases, as a backup has them; everything that has them open is closed.
    func copyDatabases() throws -> [String: Data] {
        let folder = databases.withLock { $0 }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains(".sqlite") }
        return Dictionary(
            uniqueKeysWithValues: try names.map { name in
                (name, try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name)))
            })
    }

    /// Puts a copy in the place of both.
    func restore(_ copy: [String: Data]) throws {
        let folder = place.path + "/copy-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (name, data) in copy where !name.hasSuffix("-shm") {
            try data.write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        databases.withLock { $0 = folder }
    }

    func repair(state: String? = nil) async throws -> SharedDirectory.Repaired {
        let link = try logDatabase()
        let directory = try directory(state: state)
        defer { directory.close() }
        return try await directory.repair(over: link, Self.facts, holder: "repair", steady: Self.steady)
    }
}

extension Person {
    /// Brings a submission as one that the directory does not have: at the route of registrations.
    func bring(
        _ submission: StateSubmission, to directory: Directory, signedAt time: UInt64 = StandingClock.start,
        for route: Route = .register, admitting right: RegistrationRight = .anyone,
        onNewHolder: @escaping @Sendable () async -> Void = {}
    ) async throws -> StateReceipt {
        let (signature, _) = try devices[0].sign(route, submission.encoded, at: directory, time: time)
        let content = RequestSignature.Content(.register, origin: directory.origin, body: submission.encoded)
        return try await directory.register(
            submission, signature, content, admitting: right, onNewHolder: onNewHolder)
    }
}

/// A directory whose database is an older copy: Alice had one device then, and Bob no account. Carol has not changed since.
@Suite("A shared directory over an older copy of its database")
struct SharedRepairTests {
    let shared: SharedPlace
    let copy: [String: Data]
    /// Of before and of after.
    let alice: Person
    let older: Person
    let bob: Person
    let carol: Person
    /// What they had brought.
    let change: StateSubmission
    let registration: StateSubmission
    /// What a client of before has seen.
    let view: LogView

    init() async throws {
        shared = try SharedPlace()
        try await shared.directory().create(shared.place.keys)
        let (older, carol, copy) = try await Self.before(shared)
        try shared.restore(copy)
        let leader = try await shared.lead("second")
        let front = try await shared.serve()
        let laptop = try Device(2)
        let change = try await older.submission(devices: [laptop], at: front.directory)
        let newcomer = try Person("bob@example.org")
        let registration = try await newcomer.submission(devices: newcomer.devices, at: front.directory)
        _ = try await shared.answering(leader, [front.follower]) {
            _ = try await older.send(change, to: front.directory)
            _ = try await newcomer.send(registration, to: front.directory)
        }
        let seen = try await shared.place.verifiedLookup(older.handle, at: front.directory)
        #expect(seen.state == change.state)
        await leader.close()
        await front.directory.close()
        var (alice, bob) = (older, newcomer)
        (alice.state, alice.devices, bob.state) = (change.state, [laptop], registration.state)
        (self.alice, self.older, self.bob, self.carol, self.copy) = (alice, older, bob, carol, copy)
        (self.change, self.registration, view) = (change, registration, seen.view)
        try shared.restore(copy)
    }

    private static func before(_ shared: SharedPlace) async throws -> (Person, Person, [String: Data]) {
        let leader = try await shared.lead("first")
        let front = try await shared.serve()
        let (alice, carol) = (try Person("alice@example.org"), try Person("carol@example.org"))
        let both = try await shared.answering(leader, [front.follower]) {
            var (alice, carol) = (alice, carol)
            try await alice.register(at: front.directory)
            try await carol.register(at: front.directory)
            return (alice, carol)
        }
        await leader.close()
        await front.directory.close()
        return (both.0, both.1, try shared.copyDatabases())
    }

    /// A leader and a front end over what a repair has left.
    private func repaired() async throws -> (leader: Directory, front: Directory, follower: LogFollower) {
        let done = try await shared.repair()
        #expect(done.log.entries > 0 && done.lost == 2)
        let leader = try await shared.lead("third")
        try await shared.settle(leader)
        let front = try await shared.serve()
        return (leader, front.directory, front.follower)
    }

    @Test func nobodyLeadsBeforeTheRepair() async throws {
        await #expect {
            _ = try await shared.lead("third")
        } throws: { error in
            guard case SharedDirectoryError.candidacy(.ended(.conflict(.databaseBehind))) = error else { return false }
            return true
        }
    }

    @Test func whoseStateIsLostIsUnavailable_andNeverAnsweredWithAnOlderOne() async throws {
        let (leader, front, _) = try await repaired()
        for directory in [leader, front] {
            for person in [alice, bob] {
                let code = try await refusal {
                    try await shared.place.verifiedAnswer(about: person.handle, at: directory)
                }
                #expect(code == .unavailable)
            }
            let found = try await shared.place.verifiedLookup(carol.handle, at: directory, knowing: view)
            #expect(found.state == carol.state)
        }
        await leader.close()
    }

    @Test func whatOwnersBringAgainIsTaken() async throws {
        let (leader, front, _) = try await repaired()
        let size = leader.log.statistics.durableSize
        let first = try await alice.bring(change, to: front)
        let second = try await bob.bring(registration, to: front)
        for directory in [leader, front] {
            #expect(
                try await shared.place.verifiedLookup(alice.handle, at: directory, knowing: view).state == alice.state)
            #expect(try await shared.place.verifiedLookup(bob.handle, at: directory).state == bob.state)
        }
        // The same once more gives the same, and nothing is logged anew.
        #expect(try await alice.bring(change, to: front).index == first.index)
        #expect(try await bob.bring(registration, to: front).index == second.index)
        #expect(try await leader.logWaiting() == 0)
        #expect(leader.log.statistics.durableSize == size)
        let left = try await leader.database.read { try $0.row("SELECT COUNT(*) FROM lost")?.integer(0) }
        #expect(left == 0)
        await leader.close()
    }

    @Test func whoHasItsStateBackGoesOn() async throws {
        let (leader, front, follower) = try await repaired()
        _ = try await alice.bring(change, to: front)
        let next = try await shared.answering(leader, [follower]) { [alice] in
            var person = alice
            let phone = try Device(3)
            try await person.change(to: person.devices + [phone], at: front)
            return person
        }
        #expect(try await shared.place.verifiedLookup(alice.handle, at: front).state == next.state)
        // What is older is not shown again, whoever brings it.
        #expect(try await alice.bring(change, to: front, signedAt: Self.then).size <= leader.log.published.head.size)
        #expect(try await shared.place.verifiedLookup(alice.handle, at: front).state == next.state)
        await leader.close()
    }

    /// A day before it is brought again.
    private static let then = StandingClock.start - 86_400

    /// Its record is in the log: no rule of the operator's is asked.
    @Test func theSignatureOfThenIsEnough_andNoInvitationIsNeeded() async throws {
        let (leader, front, _) = try await repaired()
        for (person, submission) in [(alice, change), (bob, registration)] {
            let right = RegistrationRight.nobody(.domainClosed)
            let receipt = try await person.bring(submission, to: front, signedAt: Self.then, admitting: right)
            #expect(try await shared.place.verifiedLookup(person.handle, at: front).state == person.state)
            let again = try await person.bring(submission, to: front, signedAt: Self.then, admitting: right)
            #expect(again.index == receipt.index)
        }
        await leader.close()
    }

    // MARK: Attacks

    @Test func aSignatureOfThenBringsNothingNew() async throws {
        let (leader, front, _) = try await repaired()
        let stranger = try Person("dave@example.org")
        let first = try await stranger.submission(devices: stranger.devices, at: front)
        #expect(try await refusal { try await stranger.bring(first, to: front, signedAt: Self.then) } == .wrongTime)
        let next = try await carol.submission(devices: carol.devices + [Device(2)], at: front)
        #expect(try await refusal { try await carol.bring(next, to: front, signedAt: Self.then) } == .wrongTime)
        let thief = try Person("bob@example.org")
        let other = try await thief.submission(devices: thief.devices, at: front)
        #expect(try await refusal { try await thief.bring(other, to: front, signedAt: Self.then) } == .unavailable)
        await leader.close()
    }

    @Test func aSignatureOfTheFutureOrForAnotherRequestBringsNothingBack() async throws {
        let (leader, front, _) = try await repaired()
        let future = StandingClock.start + RequestSignature.maximumClockDifference + 1
        #expect(try await refusal { try await alice.bring(change, to: front, signedAt: future) } == .wrongTime)
        #expect(
            try await refusal { try await alice.bring(change, to: front, signedAt: Self.then, for: .updateState) }
                == .notSigned)
        // Whoever has looked it up has the state, and is no device in it.
        #expect(try await refusal { try await bob.bring(change, to: front, signedAt: Self.then) } == .notYourAccount)
        #expect(
            try await refusal { try await shared.place.verifiedAnswer(about: alice.handle, at: front) } == .unavailable)
        await leader.close()
    }

    /// Alice's change took a device away, which may be in a thief's hands.
    @Test func aDeviceThatTheLostStateHasRevokedDoesNotAct() async throws {
        let (leader, front, _) = try await repaired()
        let key = try #require(older.state?.devices.first?.keys.signing)
        #expect(try await refusal { try await front.isDevice(key) } == .unavailable)
        await leader.close()
    }

    @Test func nobodyElseGetsTheHandleOfALostAccount() async throws {
        let (leader, front, _) = try await repaired()
        let thief = try Person("bob@example.org")
        let submission = try await thief.submission(devices: thief.devices, at: front)
        #expect(try await refusal { try await thief.bring(submission, to: front) } == .unavailable)
        _ = try await bob.bring(registration, to: front)
        #expect(try await shared.place.verifiedLookup(bob.handle, at: front).state == bob.state)
        await leader.close()
    }

    @Test func anotherStateOfTheSameVersionIsRefused() async throws {
        let (leader, front, _) = try await repaired()
        let other = try Device(2)
        let submission = try await older.submission(devices: [other], at: front)
        var liar = older
        liar.devices = [other]
        let person = liar
        #expect(try await refusal { try await person.bring(submission, to: front) } == .unavailable)
        _ = try await alice.bring(change, to: front)
        await leader.close()
    }

    /// The same state under another opening is not what the log committed to.
    @Test func theSameStateUnderAnotherOpeningIsRefused() async throws {
        let (leader, front, _) = try await repaired()
        let other = try StateSubmission(state: change.state, opening: Person.opening(), cards: change.cards)
        #expect(try await refusal { try await alice.bring(other, to: front) } == .unavailable)
        await leader.close()
    }

    @Test func aStateWithoutItsCardsIsRefused() async throws {
        let (leader, front, _) = try await repaired()
        let bare = try StateSubmission(state: change.state, opening: change.opening, cards: [])
        #expect(try await refusal { try await alice.bring(bare, to: front) } == .possessionNotProven)
        await leader.close()
    }

    /// A front end over the older copy knew no better, and accepted a change that no log has.
    @Test func whatWasAcceptedFromTheOlderCopyIsTakenOutAgain() async throws {
        do {
            _ = try await shared.serve()
            Issue.record("The older copy is served.")
        } catch {
            guard case .log(.fault(.servedIsNewer)) = error as? SharedDirectoryError else { throw error }
        }
        // Where the bucket has lost that too, nothing tells.
        try await FileObjects(at: shared.place.path + "/objects").remove("checkpoint")
        let front = try await shared.serve()
        let phone = try Device(9)
        let other = try await older.submission(devices: [phone], at: front.directory)
        let waiting = Task { [older] in try await older.send(other, to: front.directory) }
        while try await front.directory.database.waiting(limit: 1).isEmpty { await Task.yield() }
        waiting.cancel()
        _ = await waiting.result
        await front.directory.close()
        let (leader, again, _) = try await repaired()
        #expect(try await again.database.waiting(limit: 1).isEmpty)
        _ = try await alice.bring(change, to: again)
        #expect(try await shared.place.verifiedLookup(alice.handle, at: again).state == alice.state)
        await leader.close()
    }

    @Test func theRepairCanBeRunAgain() async throws {
        _ = try await shared.repair()
        let again = try await shared.repair()
        #expect(again.log.entries == 0 && again.lost == 2)
    }

    @Test func theInspectionNamesWhatIsWrongBefore_andCountsTheLostAfter() async throws {
        let vrfKey = shared.place.keys.vrf.publicKey.bytes
        let before = try await shared.directory().inspect(vrfKey: vrfKey)
        #expect(
            before.log.defects.contains { if case .databaseBehind = $0 { true } else { false } },
            "\(before.log.defects)")
        let (leader, _, _) = try await repaired()
        let after = try await shared.directory().inspect(vrfKey: vrfKey)
        #expect(after.log.defects == [] && after.directory.faults == [] && after.unread == nil)
        #expect(after.directory.lostLabels == 2 && after.directory.accounts == 2)
        await leader.close()
    }
}

/// An account that was closed after the copy was made.
@Suite("A closed account over an older copy of the database")
struct SharedRepairOfErasedTests {
    @Test func itIsErasedAgain() async throws {
        let shared = try SharedPlace()
        try await shared.directory().create(shared.place.keys)
        let leader = try await shared.lead("first")
        let front = try await shared.serve()
        let alice = try Person("alice@example.org")
        _ = try await shared.answering(leader, [front.follower]) {
            var person = alice
            return try await person.register(at: front.directory)
        }
        let copy = try await shared.copyWhileOpen(leader)
        _ = try await shared.answering(leader, [front.follower]) { try await front.directory.erase(alice.handle) }
        await leader.close()
        await front.directory.close()
        try shared.restore(copy)
        // Who led when the copy was made has a lease in it.
        try shared.logDatabase().writeNow { _ = try $0.run("UPDATE lease SET expires = 0") }
        _ = try await shared.repair()
        let next = try await shared.lead("second")
        // It begins with what the copy had published.
        try await shared.settle(next)
        let count = try await next.database.read { try $0.row("SELECT COUNT(*) FROM accounts")?.integer(0) }
        #expect(count == 0)
        guard case .closed = try await shared.place.verifiedAnswer(about: alice.handle, at: next) else {
            Issue.record("The account is not closed.")
            return
        }
        await next.close()
    }
}

/// A handle that was released before or after the copy was made, and that its next holder has registered since.
@Suite("The next holder of a released handle over an older copy of the database")
struct SharedRepairOfReleasedTests {
    @Test(arguments: [true, false])
    func theFirstStateOfTheNextHolderIsTakenAgain(copyIsNewerThanTheRelease: Bool) async throws {
        let shared = try SharedPlace()
        try await shared.directory().create(shared.place.keys)
        let leader = try await shared.lead("first")
        let front = try await shared.serve()
        let squatter = try await shared.answering(leader, [front.follower]) {
            var person = try Person("ceo@example.org")
            try await person.register(at: front.directory)
            return person
        }
        let invitation = try #require(Invitation(code: [UInt8](repeating: 7, count: 16)))
        var copy = try await shared.copyWhileOpen(leader)
        _ = try await front.directory.release(squatter.handle, to: invitation)
        if copyIsNewerThanTheRelease { copy = try await shared.copyWhileOpen(leader) }
        let owner = try Person("ceo@example.org")
        let submission = try await Self.beginning(of: owner, after: #require(squatter.state), at: front.directory)
        let receipt = try await shared.answering(leader, [front.follower]) {
            try await owner.bring(submission, to: front.directory, admitting: .holder(of: invitation))
        }
        await leader.close()
        await front.directory.close()
        try shared.restore(copy)
        try shared.logDatabase().writeNow { _ = try $0.run("UPDATE lease SET expires = 0") }
        _ = try await shared.repair()
        let next = try await shared.lead("second")
        try await shared.settle(next)
        let again = try await shared.serve()
        if !copyIsNewerThanTheRelease {
            #expect(try await refusal { try await owner.bring(submission, to: again.directory) } == .unavailable)
            _ = try await again.directory.release(squatter.handle, to: invitation)
        }
        // Anybody else who would like the handle has another state.
        let thief = try Person("ceo@example.org")
        let other = try await Self.beginning(of: thief, after: #require(squatter.state), at: again.directory)
        #expect(
            try await refusal {
                try await thief.bring(other, to: again.directory, admitting: .holder(of: invitation))
            } == .unavailable)
        try await confirmation { confirm in
            let repeated = try await owner.bring(submission, to: again.directory) { confirm() }
            #expect(repeated.index == receipt.index)
        }
        let found = try await shared.place.verifiedLookup(owner.handle, at: again.directory)
        #expect(found.state == submission.state && found.kind == .reset)
        _ = try await owner.caller(at: again.directory)
        let report = try await shared.directory().inspect(vrfKey: shared.place.keys.vrf.publicKey.bytes)
        #expect(report.directory.faults == [] && report.directory.lostLabels == 0 && report.directory.accounts == 1)
        await next.close()
    }

    private static func beginning(
        of person: Person, after former: AccountState, at directory: Directory
    ) async throws -> StateSubmission {
        let body = try AccountStateBody(
            takingOver: former, identityKey: Array(person.identity.publicKey.compressedRepresentation),
            devices: person.devices.map(\.record))
        let state = try AccountState(signing: body) {
            Array(try person.identity.signature(for: $0).rawRepresentation)
        }
        return try StateSubmission(
            state: state, opening: Person.opening(),
            cards: [try await person.devices[0].card(for: person.handle, at: directory)])
    }
}

/// A front end that has shown more than the database has by now: an older copy was restored, and nobody has repaired it yet.
@Suite("A front end over a database that has gone back")
struct OlderDatabaseTests {
    @Test func nobodyIsRefusedForGood() async throws {
        let shared = try SharedPlace()
        try await shared.directory().create(shared.place.keys)
        let leader = try await shared.lead()
        let front = try await shared.serve()
        let alice = try await shared.answering(leader, [front.follower]) {
            var person = try Person("alice@example.org")
            try await person.register(at: front.directory)
            return person
        }
        let published = "SELECT published_size, published_root, note FROM log"
        let row = try shared.logDatabase().readNow { database in
            try database.row(published, []).map { (try $0.integer(0), try $0.bytes(1), try $0.bytes(2)) }
        }
        let (size, root, note) = try #require(row)
        _ = try await shared.answering(leader, [front.follower]) {
            var bob = try Person("bob@example.org")
            try await bob.register(at: front.directory)
        }
        let thief = try Person("alice@example.org")
        let submission = try await thief.submission(devices: thief.devices, at: front.directory)
        #expect(try await refusal { try await thief.caller(at: front.directory) } == .notYourAccount)
        #expect(try await refusal { try await thief.bring(submission, to: front.directory) } == .handleTaken)

        try shared.logDatabase().writeNow { database in
            _ = try database.run("UPDATE log SET published_size = ?, published_root = ?, note = ?", [size, root, note])
        }
        #expect(try await refusal { try await thief.caller(at: front.directory) } == .unavailable)
        #expect(try await refusal { try await thief.bring(submission, to: front.directory) } == .unavailable)
        // What is not the database's to say stays as it is.
        let late = StandingClock.start + 1_000
        #expect(
            try await refusal { try await thief.bring(submission, to: front.directory, signedAt: late) } == .wrongTime)
        _ = try await alice.caller(at: front.directory)
        await leader.close()
    }
}

extension SharedPlace {
    /// A copy while others have the databases open and do not write.
    func copyWhileOpen(_ leader: Directory) async throws -> [String: Data] {
        try await settle(leader)
        return try copyDatabases()
    }
}

/// What the inspection finds in the accounts of a shared directory.
@Suite("What is wrong with the accounts of a shared directory is said by name")
struct SharedInspectionTests {
    private static func report(after change: String) async throws -> SharedDirectory.Report {
        let shared = try SharedPlace()
        try await shared.directory().create(shared.place.keys)
        let leader = try await shared.lead()
        let front = try await shared.serve()
        let alice = try Person("alice@example.org")
        _ = try await shared.answering(leader, [front.follower]) {
            var person = alice
            return try await person.register(at: front.directory)
        }
        try await leader.database.write { _ = try $0.run(change) }
        let report = try await shared.directory().inspect(vrfKey: shared.place.keys.vrf.publicKey.bytes)
        await leader.close()
        #expect(report.log.defects == [] && report.unread == nil)
        return report
    }

    @Test func nothingIsWrong() async throws {
        let report = try await Self.report(after: "DELETE FROM audit")
        #expect(report.directory.faults == [] && report.directory.accounts == 1)
    }

    @Test func anOpeningThatDoesNotFitItsRecord() async throws {
        let report = try await Self.report(after: "UPDATE states SET opening = zeroblob(32)")
        #expect(report.directory.faults == [.statesDamaged(count: 1, handles: ["alice@example.org"])])
    }

    @Test func aStateOfAnotherKind() async throws {
        let report = try await Self.report(after: "UPDATE states SET kind = 2")
        #expect(report.directory.faults == [.statesDamaged(count: 1, handles: ["alice@example.org"])])
    }

    @Test func aStateThatIsGone() async throws {
        let report = try await Self.report(after: "DELETE FROM states")
        guard case .databaseBehindLog(count: 1, firstIndex: _)? = report.directory.faults.first else {
            Issue.record("\(report.directory.faults)")
            return
        }
    }

    @Test func aStateThatTheLogShouldHave() async throws {
        let report = try await Self.report(after: "UPDATE states SET leaf = zeroblob(32)")
        #expect(report.directory.faults.contains(.logBehindDatabase(count: 1)))
    }

    @Test func accountsOfAnotherDirectory() async throws {
        let report = try await Self.report(after: "UPDATE meta SET vrf_key = zeroblob(32)")
        #expect(report.directory.faults == [.databaseOfOtherDirectory])
    }
}
