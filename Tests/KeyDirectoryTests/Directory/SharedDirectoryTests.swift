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

@testable import KeyDirectory

/// A directory in two files and a folder that several processes open at once; here each process is a value.
final class SharedPlace: Sendable {
    let place: Place
    private let policy: Policy
    private let secret = FrontEndSecret(SymmetricKey(size: .bits256))
    /// Where the databases are. A copy that takes their place has a folder of its own: who still has the former ones open removes side files
    /// by their names.
    let databases: Mutex<String>

    init() throws {
        place = try Place()
        let path = place.path
        databases = Mutex(path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        policy = try place.verifier().trust.policy
    }

    /// With connections of its own, as every process has.
    ///
    /// - Parameters:
    ///   - state: the name of a folder, made if it is not there, in which a snapshot of the index is written with every epoch.
    ///   - history: the name of a folder, which is there.
    ///   - trust: instead of the first policy.
    func directory(
        state: String? = nil, history: String? = nil, trusting trust: DirectoryTrust? = nil
    ) throws -> SharedDirectory {
        let folder = state.map(folder)
        if let folder { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }
        let engines = SharedLogEngines(
            database: try logDatabase(),
            objects: try FileObjects(at: place.path + "/objects"), policy: trust?.policy ?? policy,
            origin: place.keys.log.verifierKey.name)
        let accounts = try SQLiteDatabase(
            at: databases.withLock { $0 } + "/accounts.sqlite", SharedDirectory.schema)
        return SharedDirectory(
            engines, accounts: accounts, state: folder, history: history.map(self.folder), secret: secret,
            snapshots: .always, clock: place.time,
            logger: Place.silent)
    }

    func logDatabase() throws -> SQLiteDatabase {
        try SQLiteDatabase(at: databases.withLock { $0 } + "/log.sqlite", SharedLogTables.schema)
    }

    func folder(_ state: String) -> String { "\(place.path)/\(state)" }

    static let facts = (
        DatabaseFacts(
            isInRecovery: false, commitsAreSynchronous: true, hasStandbys: true, systemIdentifier: 1, timeline: 1,
            database: 1),
        DatabaseDemands(systemIdentifier: 1, timeline: 1, database: 1)
    )
    static let steady: @Sendable () -> Duration = {
        let start = ContinuousClock.now
        return { ContinuousClock.now - start }
    }()

    func lead(
        _ holder: String = "leader", from standing: StandingBy? = nil, epochInterval: Duration = .zero
    ) async throws -> Directory {
        let directory = if let standing { standing.place } else { try directory() }
        return try await directory.lead(
            place.keys, over: logDatabase(), Self.facts, holder: holder, from: standing?.replica,
            epochInterval: epochInterval, steady: Self.steady)
    }

    /// A process that stands by.
    struct StandingBy {
        let place: SharedDirectory
        let replica: DirectoryReplica
    }

    func standBy(state: String? = nil) async throws -> StandingBy {
        let directory = try directory(state: state)
        return StandingBy(place: directory, replica: try await directory.follow(steady: Self.steady))
    }

    func serve(state: String? = nil) async throws -> (directory: Directory, follower: LogFollower) {
        let (directory, follower) = try await directory(state: state).serve(
            vrf: place.keys.vrf, steady: Self.steady)
        return (directory, follower)
    }

    /// Does what a request at a front end needs of the other processes, until it has its answer: the leader logs what waits, and the front
    /// ends look.
    func answering<Value: Sendable>(
        _ leader: Directory, _ followers: [LogFollower], _ request: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task { try await request() }
        let helper = Task {
            while !Task.isCancelled {
                try await leader.logWaiting()
                for follower in followers { try await follower.step() }
                await Task.yield()
            }
        }
        let outcome = await task.result
        helper.cancel()
        _ = await helper.result
        try await settle(leader)
        return try outcome.get()
    }

    /// Waits until the leader shows what it has logged: others can see that a moment before it does itself.
    func settle(_ leader: Directory) async throws {
        _ = try await leader.log.awaitPublished(size: leader.log.statistics.durableSize)
    }
}

@Suite("A directory that several processes share")
struct SharedDirectoryTests {
    let shared: SharedPlace

    init() async throws {
        shared = try SharedPlace()
        try await shared.directory().create(shared.place.keys)
    }

    @Test func aPersonRegistersAtOneFrontEndAndIsFoundAtAnother() async throws {
        let leader = try await shared.lead()
        let (one, two) = (try await shared.serve(), try await shared.serve())
        let alice = try Person("alice@example.org")
        let registered = try await shared.answering(leader, [one.follower, two.follower]) {
            var person = alice
            try await person.register(at: one.directory)
            return person
        }
        try await two.follower.step()
        for directory in [one.directory, two.directory, leader] {
            let found = try await shared.place.verifiedLookup(alice.handle, at: directory)
            #expect(found.state == registered.state)
        }
        await leader.close()
    }

    /// What goes together in one transaction at a front end: each is told what it would be told alone.
    @Test func peopleWhoRegisterAtOnceAreToldWhatTheyWouldBeToldAlone() async throws {
        let leader = try await shared.lead()
        let (one, two) = (try await shared.serve(), try await shared.serve())
        let device = try Device(1)
        let people = try (0..<6).map { number in
            var person = try Person(number < 2 ? "alice@example.org" : "person-\(number)@example.org")
            if number > 3 { person.devices = [device] }
            return person
        }
        var made: [StateSubmission] = []
        for person in people { made.append(try await person.submission(devices: person.devices, at: one.directory)) }
        let bodies = made
        let codes = try await shared.answering(leader, [one.follower, two.follower]) {
            try await withThrowingTaskGroup(of: (Int, ErrorCode?).self) { group in
                for (number, person) in people.enumerated() {
                    let directory = number.isMultiple(of: 2) ? one.directory : two.directory
                    group.addTask {
                        (number, try await refusal { try await person.send(bodies[number], to: directory) })
                    }
                }
                return try await group.reduce(into: [ErrorCode?](repeating: nil, count: 6)) { $0[$1.0] = $1.1 }
            }
        }
        #expect(Set([codes[0], codes[1]]) == [nil, .handleTaken])
        #expect([codes[2], codes[3]] == [nil, nil])
        #expect(Set([codes[4], codes[5]]) == [nil, .keyInUse])
        let again = try await shared.answering(leader, [one.follower, two.follower]) {
            try await people[2].send(bodies[2], to: two.directory)
        }
        let entries = leader.log.published.head.size
        #expect(again.index < entries && again.size <= entries)
        let stranger = try Person("new@example.org")
        let bare = try StateSubmission(
            state: stranger.nextState(devices: stranger.devices), opening: Person.opening(), cards: [])
        #expect(try await refusal { try await stranger.send(bare, to: one.directory) } == .possessionNotProven)
        let body = try await stranger.submission(devices: stranger.devices, at: one.directory)
        let (signature, content) = try stranger.devices[0].sign(
            .register, body.encoded, at: one.directory, time: StandingClock.start)
        let uninvited = try await refusal {
            try await one.directory.register(body, signature, content, admitting: .holder(of: nil))
        }
        #expect(uninvited == .notInvited)
        // A handle that is taken is no reason to look at the rest.
        var thief = try Person("person-2@example.org")
        thief.devices = stranger.devices
        let taken = try StateSubmission(
            state: thief.nextState(devices: thief.devices), opening: Person.opening(), cards: [])
        #expect(try await refusal { try await thief.send(taken, to: two.directory) } == .handleTaken)
        await leader.close()
    }

    /// The other front end has the account in memory, and is told nothing.
    @Test func aChangeAtOneFrontEndIsShownByAnotherThatHadTheAccountInMemory() async throws {
        let leader = try await shared.lead()
        let (one, two) = (try await shared.serve(), try await shared.serve())
        let alice = try Person("alice@example.org")
        let registered = try await shared.answering(leader, [one.follower, two.follower]) {
            var person = alice
            try await person.register(at: one.directory)
            return person
        }
        try await two.follower.step()
        let before = try await shared.place.verifiedLookup(alice.handle, at: two.directory)
        let changed = try await shared.answering(leader, [one.follower]) {
            var person = registered
            let laptop = try person.newDevice()
            try await person.change(to: person.devices + [laptop], at: one.directory)
            return person
        }
        let still = try await shared.place.verifiedLookup(alice.handle, at: two.directory)
        #expect(still.state == registered.state)
        try await two.follower.step()
        let after = try await shared.place.verifiedLookup(alice.handle, at: two.directory, knowing: before.view)
        #expect(after.state == changed.state)
        await leader.close()
    }

    @Test func whatWasAcceptedWhileNobodyLedIsLoggedByTheNextLeader() async throws {
        let first = try await shared.lead("first")
        let front = try await shared.serve()
        await first.close()
        let alice = try Person("alice@example.org")
        let waiting = Task {
            var person = alice
            return try await person.register(at: front.directory)
        }
        while try await front.directory.database.waiting(limit: 1).isEmpty { await Task.yield() }
        let second = try await shared.lead("second")
        while try await !front.follower.step() { await Task.yield() }
        let receipt = try await waiting.value
        #expect(receipt.index < second.log.published.head.size)
        #expect(try await second.database.waiting(limit: 1).isEmpty)
        await second.close()
    }

    @Test func aStepThatWasLoggedBeforeIsOnlyTakenOut() async throws {
        let leader = try await shared.lead()
        let front = try await shared.serve()
        let alice = try Person("alice@example.org")
        _ = try await shared.answering(leader, [front.follower]) {
            var person = alice
            return try await person.register(at: front.directory)
        }
        let size = leader.log.published.head.size
        // As if the leader had ended between logging and taking out.
        try await leader.database.write { database in
            _ = try database.run("INSERT INTO waiting (state) SELECT id FROM states")
        }
        #expect(try await leader.logWaiting() == 1)
        #expect(try await leader.database.waiting(limit: 1).isEmpty)
        #expect(leader.log.statistics.durableSize == size)
        await leader.close()
    }

    /// The mishap: a database from before a change answers a front end that has seen the change in the log. An older state under the newer
    /// checkpoint proves nothing, and looks to the client like a directory that lies.
    @Test func aDatabaseThatLacksTheNewestStateIsAnsweredWithUnavailable() async throws {
        let leader = try await shared.lead()
        let (one, two) = (try await shared.serve(), try await shared.serve())
        let alice = try Person("alice@example.org")
        _ = try await shared.answering(leader, [one.follower, two.follower]) {
            var person = alice
            try await person.register(at: one.directory)
            let laptop = try person.newDevice()
            return try await person.change(to: person.devices + [laptop], at: one.directory)
        }
        try await two.follower.step()
        try await leader.database.write { database in
            _ = try database.run("DELETE FROM states WHERE version = 2")
        }
        #expect(
            try await refusal { try await shared.place.verifiedLookup(alice.handle, at: two.directory) } == .unavailable
        )
        await leader.close()
    }

    @Test func anAccountErasedAtAFrontEndThatIsBehindIsClosedOnce() async throws {
        let leader = try await shared.lead()
        let (one, two) = (try await shared.serve(), try await shared.serve())
        let alice = try Person("alice@example.org")
        let registered = try await shared.answering(leader, [one.follower, two.follower]) {
            var person = alice
            try await person.register(at: one.directory)
            return person
        }
        _ = try await shared.answering(leader, [one.follower]) {
            var person = registered
            let laptop = try person.newDevice()
            return try await person.change(to: person.devices + [laptop], at: one.directory)
        }
        // The second front end has not seen the change.
        let erasing = Task { try await two.directory.erase(alice.handle) }
        while try await leader.database.waiting(limit: 1).isEmpty { await Task.yield() }
        try await leader.logWaiting()
        try await leader.database.write { database in
            _ = try database.run("INSERT INTO waiting (label, version) SELECT label, version FROM erased")
        }
        let size = leader.log.statistics.durableSize
        try await leader.logWaiting()
        #expect(leader.log.statistics.durableSize == size)
        erasing.cancel()
        try await shared.settle(leader)
        try await one.follower.step()
        let answer = try await shared.place.verifiedAnswer(about: alice.handle, at: one.directory)
        guard case .closed = answer else {
            Issue.record("\(answer)")
            return
        }
        await leader.close()
    }

    /// A server of one machine that ended between its two writes, and was moved then.
    @Test func whatOneMachineHadAcceptedAndNotLoggedIsLoggedAfterAMove() async throws {
        let leader = try await shared.lead("first")
        let front = try await shared.serve()
        await leader.close()
        let alice = try Person("alice@example.org")
        let waiting = Task {
            var person = alice
            return try await person.register(at: front.directory)
        }
        while try await front.directory.database.waiting(limit: 1).isEmpty { await Task.yield() }
        try await front.directory.database.write { database in
            // As it is on one machine, which has nobody to wait for.
            try database.run("DELETE FROM waiting")
            try SharedDirectory.handOver(database)
        }
        let next = try await shared.lead("second")
        while try await !front.follower.step() { await Task.yield() }
        #expect(try await waiting.value.index < next.log.published.head.size)
        await next.close()
    }

    /// The first has to wait for the end of an epoch, and the second comes meanwhile.
    @Test func whatComesWhileOthersWaitForAnEpochSharesItWithThem() async throws {
        let leader = try await shared.lead(epochInterval: .seconds(86_400))
        let front = try await shared.serve()
        let sequencing = Task { await leader.sequence(every: .zero) { _ in false } }
        var requests: [Task<StateReceipt, any Error>] = []
        for (number, name) in ["alice@example.org", "bob@example.org"].enumerated() {
            let person = try Person(name)
            requests.append(
                Task {
                    var person = person
                    return try await person.register(at: front.directory)
                })
            // Its leaf of a device and its record of a state.
            while leader.log.statistics.queuedEntries < 2 * (number + 1) { await Task.yield() }
        }
        let epochs = leader.log.statistics.commits
        sequencing.cancel()
        await leader.close()
        await sequencing.value
        #expect(leader.log.statistics.commits == epochs + 1)
        while try await !front.follower.step() { await Task.yield() }
        for request in requests { #expect(try await request.value.size == front.follower.log.published.head.size) }
    }

    @Test func ofOneAccountOneStepIsUnderWayAtATime() async throws {
        let leader = try await shared.lead()
        let front = try await shared.serve()
        let alice = try Person("alice@example.org")
        _ = try await shared.answering(leader, [front.follower]) {
            var person = alice
            return try await person.register(at: front.directory)
        }
        try await leader.database.write { database in
            for _ in 0..<2 { try database.run("INSERT INTO waiting (state) SELECT id FROM states") }
        }
        let underWay = StepsUnderWay()
        let first = try #require(await leader.reconciliation.next(beside: underWay))
        #expect(first.numbers.count == 1)
        #expect(try await leader.reconciliation.next(beside: underWay) == nil)
        #expect(try await leader.reconciliation.log(first) == 1)
        underWay.end(first)
        let second = try #require(await leader.reconciliation.next(beside: underWay))
        #expect(second.numbers.count == 1 && second.numbers != first.numbers)
        await leader.close()
    }

    @Test func aFrontEndOfAnotherDirectoryIsRefused() async throws {
        let other = try Place.keys(seed: 1, vrf: 9)
        await #expect(throws: SharedDirectoryError.self) {
            try await shared.directory().serve(vrf: other.vrf, steady: SharedPlace.steady)
        }
    }
}
