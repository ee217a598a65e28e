// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import ObjectStores
import SQLStores
import SharedLog
import Synchronization
import Testing
import TransparencyLog

@Suite("A candidate that has followed the log")
struct WarmCandidateTests {
    let fixture: SharedLogFixture

    init() async throws { fixture = try await SharedLogFixture.led(300) }

    private func end(_ engines: SharedLogEngines? = nil, from follower: LogFollower) async throws -> CandidacyEnd? {
        do {
            let log = try await fixture.lead("later", over: engines, from: follower)
            await log.close()
            return nil
        } catch let error as CandidacyEnd { return error }
    }

    @Test func itReadsNoFrameThatItHas() async throws {
        let follower = try await fixture.follow()
        try fixture.execute("DELETE FROM frames")
        let leader = try await fixture.lead("later", from: follower)
        #expect(try await leader.append(SharedLogFixture.entries(300..<310)) == 300..<310)
        let shown = try await leader.awaitPublished(size: 310)
        #expect(try leader.root(size: 310) == shown.head.root)
        await leader.close()
    }

    /// Bundles and tiles that fill up with what it has in memory and what comes later are kept as whole as those of others.
    @Test func itGoesOnWhereTheLastOneEnded() async throws {
        let follower = try await fixture.follow()
        try await fixture.extend(300..<500)
        let leader = try await fixture.lead("later", from: follower)
        #expect(leader.published.head.size == 500)
        #expect(try await leader.append(SharedLogFixture.entries(500..<800)) == 500..<800)
        _ = try await leader.awaitPublished(size: 800)
        await leader.close()
        let later = try await fixture.follow()
        for index in [UInt64(0), 255, 256, 299, 300, 499, 511, 512, 767, 799] {
            #expect(try await later.log.entry(at: index) == Array("entry \(index)".utf8))
        }
        let whole = try await fixture.lead("the last")
        #expect(try whole.root(size: 800) == later.log.root(size: 800))
        await whole.close()
    }

    // MARK: A memory that is not the database's log

    @Test func aRowWithAnotherRootStopsIt() async throws {
        let follower = try await fixture.follow()
        try fixture.execute("UPDATE log SET root = ?", [TreeHash.emptyTree.bytes])
        guard case .ended(.framesDiffer(let row, let frames))? = try await end(from: follower) else {
            Issue.record("It led.")
            return
        }
        #expect(row.size == 300 && frames.size == 300)
    }

    /// The log parted after 200 entries from the one that the candidate has, and is as long, or longer: every frame of it is sound, and what
    /// was signed last is of it.
    @Test(arguments: [300, 400]) func anotherLogStopsIt(size: Int) async throws {
        let (one, two) = (try await SharedLogFixture.led(200), try await SharedLogFixture.led(200))
        try await one.extend(200..<300)
        try await two.extend(200..<size, words: "other")
        let database = SwitchedDatabase(one.engines.database)
        let follower = try await fixture.follow(over: one.engines(on: database))
        database.turn(to: two.engines.database)
        let candidate = LogCandidate(two.engines, holder: "later", clock: SharedLogFixture.clock)
        do {
            _ = try await candidate.lead(
                over: try two.link(), SharedLogFixture.facts, try two.configuration(), from: follower)
            Issue.record("It led.")
        } catch {
            guard case .ended(.framesDiffer) = error as? CandidacyEnd else {
                Issue.record("\(error)")
                return
            }
            #expect((error as? CandidacyEnd)?.isPassing == false)
        }
    }

    @Test func aDatabaseThatHasLostWhatWasShownStopsIt() async throws {
        let follower = try await fixture.follow()
        let earlier = try #require(fixture.published.last { $0.head.size == 200 })
        try fixture.execute(
            "UPDATE log SET size = 200, root = ?1, published_size = 200, published_root = ?1, note = ?2",
            [earlier.head.root.bytes, earlier.bytes])
        let seen = SeenHead(follower.log.published.head, in: .publishedCheckpoint)
        #expect(
            try await end(from: follower)
                == .ended(.conflict(.databaseBehind(seen: seen, database: earlier.head))))
    }

    @Test func aFrameThatIsDamagedBeyondItIsNamed() async throws {
        let follower = try await fixture.follow()
        try await fixture.extend(300..<400)
        try fixture.execute("UPDATE frames SET digest = ? WHERE first = 300", [[UInt8](repeating: 0, count: 32)])
        #expect(try await end(from: follower) == .fault(.frameDamaged(firstIndex: 300)))
    }

    @Test func aFrameThatIsMissingBeyondItIsNamed() async throws {
        let follower = try await fixture.follow()
        try await fixture.extend(300..<500)
        try fixture.execute("DELETE FROM frames WHERE first = 300")
        #expect(try await end(from: follower) == .fault(.frameMissing(firstIndex: 300)))
    }

    /// A promotion can lose that something was published, and not what was.
    @Test func whatItHasShownIsNotTakenBack() async throws {
        let follower = try await fixture.follow()
        let earlier = try #require(fixture.published.last { $0.head.size == 200 })
        try fixture.execute(
            "UPDATE log SET published_size = 200, published_root = ?, note = ?",
            [earlier.head.root.bytes, earlier.bytes])
        let leader = try await fixture.lead("later", from: follower)
        #expect(leader.published.head.size == 300)
        #expect(try await leader.append(SharedLogFixture.entries(300..<600)) == 300..<600)
        _ = try await leader.awaitPublished(size: 600)
        #expect(fixture.failures == [])
        await leader.close()
    }

    // MARK: While a database fails over

    /// A standby was promoted, and the pool's connections are still to the primary of before.
    @Test func framesComeFromTheServerThatWasClaimed() async throws {
        fixture.engines.database.close()
        let (before, promoted) = (try SharedLogFixture(copyOf: fixture), try SharedLogFixture(copyOf: fixture))
        try await promoted.extend(300..<400)
        let engines = SharedLogEngines(
            database: before.engines.database, objects: promoted.objects, policy: promoted.engines.policy,
            origin: promoted.engines.origin)
        let follower = try await before.follow(over: engines)
        let log = try await LogCandidate(engines, holder: "later", clock: SharedLogFixture.clock).lead(
            over: try promoted.link(), SharedLogFixture.facts, try promoted.configuration(), from: follower)
        #expect(log.published.head.size == 400)
        await log.close()
    }

    /// One connection of the pool is to the promoted one, and the next one is to the primary of before.
    @Test func aLookIsOfOneServer() async throws {
        fixture.engines.database.close()
        let (before, promoted) = (try SharedLogFixture(copyOf: fixture), try SharedLogFixture(copyOf: fixture))
        let database = SwitchedDatabase(before.engines.database)
        let follower = try await promoted.follow(over: promoted.engines(on: database))
        try await promoted.extend(300..<400)
        database.turnForOneRead(to: promoted.engines.database)
        #expect(try await follower.step())
        #expect(follower.log.published.head.size == 400)
    }

    /// Another server than the one that has named the end says nothing of the log that is missing there.
    @Test func framesThatAnOlderCopyHasNotAreAskedForAgain() async throws {
        await #expect {
            _ = try await fixture.engines.frames(from: 300, to: 400)
        } throws: { error in
            if case .unavailable? = error as? SharedLogFault { true } else { false }
        }
    }

    // MARK: Before and after

    @Test func whoDoesNotComeToLeadFollowsOn() async throws {
        let follower = try await fixture.follow()
        let leader = try await fixture.lead("first")
        #expect(try await end(from: follower) == .ended(.othersLead))
        _ = try await leader.append(SharedLogFixture.entries(300..<310))
        _ = try await leader.awaitPublished(size: 310)
        #expect(try await follower.step())
        #expect(!follower.log.isOver)
        await leader.close()
    }

    /// It has read frames by then that nobody has published, and takes them for what they are when somebody does.
    @Test func whoLacksTheObjectsFollowsOn_andLeadsLater() async throws {
        let objects = AwayObjects(base: fixture.objects)
        let follower = try await fixture.follow(over: fixture.engines(objects: objects))
        let (ended, gate) = try await commitUnpublished()
        guard case .fault(.unavailable)? = try await end(fixture.engines(objects: objects), from: follower) else {
            Issue.record("It led.")
            return
        }
        #expect(follower.log.statistics.durableSize == 310 && follower.log.published.head.size == 300)
        #expect(try await !follower.step())
        // Somebody else publishes this, and more.
        try await fixture.extend(310..<320)
        #expect(try await follower.step())
        #expect(follower.log.published.head.size == 320)
        objects.returns()
        let leader = try await fixture.lead("later", over: fixture.engines(objects: objects), from: follower)
        #expect(try await leader.append(SharedLogFixture.entries(320..<600)) == 320..<600)
        _ = try await leader.awaitPublished(size: 600)
        await leader.close()
        #expect(try await fixture.follow().log.entry(at: 305) == Array("entry 305".utf8))
        gate.open()
        await ended.close()
    }

    /// A frame that a leader has committed, which is stopped then, and another one may claim.
    private func commitUnpublished() async throws -> (DurableLog, Gate) {
        let gate = Gate(.beforeIt, at: Point(engine: .objects, number: 1))
        let leader = try await Gate.$isWideOpen.withValue(true) {
            try await fixture.lead(
                "ended", over: fixture.engines(objects: GatedObjects(base: fixture.objects, gate: gate)))
        }
        _ = try await leader.append(SharedLogFixture.entries(300..<310))
        try fixture.execute("UPDATE lease SET holder = 'nobody', expires = 0")
        return (leader, gate)
    }

    @Test func aLogThatIsWrittenHereIsNotFollowedAnyMore() async throws {
        let follower = try await fixture.follow()
        let leader = try await fixture.lead("later", from: follower)
        #expect(follower.log.isOver)
        _ = try await leader.append(SharedLogFixture.entries(300..<310))
        _ = try await leader.awaitPublished(size: 310)
        await #expect(throws: SharedLogFault.self) { try await follower.step() }
        #expect(try await leader.append(SharedLogFixture.entries(310..<320)) == 310..<320)
        _ = try await leader.awaitPublished(size: 320)
        #expect(fixture.failures == [])
        await leader.close()
    }

    /// An orderly stop gives the lease back: nobody waits for it to run out.
    @Test func whoStopsInOrderIsFollowedAtOnce() async throws {
        let leader = try await fixture.lead("first")
        let candidate = LogCandidate(fixture.engines, holder: "later", clock: SharedLogFixture.clock)
        let follower = try await fixture.follow()
        #expect(await !candidate.look().mayTry)
        await leader.close()
        #expect(await candidate.look().mayTry)
        let later = try await fixture.lead("later", from: follower)
        await later.close()
    }
}

extension SharedLogFixture {
    func engines(on database: any SQLDatabase) -> SharedLogEngines {
        SharedLogEngines(database: database, objects: objects, policy: engines.policy, origin: engines.origin)
    }

    func engines(objects: any ObjectStore) -> SharedLogEngines {
        SharedLogEngines(
            database: engines.database, objects: objects, policy: engines.policy, origin: engines.origin)
    }
}

/// A database that becomes another one while it is used, as a name may that leads to several servers.
final class SwitchedDatabase: SQLDatabase {
    private let current: Mutex<any SQLDatabase>
    private let once = Mutex<(any SQLDatabase)?>(nil)

    init(_ first: any SQLDatabase) { current = Mutex(first) }

    func turn(to next: any SQLDatabase) { current.withLock { $0 = next } }

    /// After the next read it is again what it was.
    func turnForOneRead(to next: any SQLDatabase) { once.withLock { $0 = next } }

    private var base: any SQLDatabase { current.withLock { $0 } }

    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        let next = once.withLock { next in
            defer { next = nil }
            return next
        }
        return try await (next ?? base).read(body)
    }

    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await base.write(body)
    }

    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try base.readNow(body) }

    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value { try base.writeNow(body) }

    var nowExpression: String { base.nowExpression }

    func expunge() async throws {}

    func close() {}
}

/// Objects that are away until they return.
private final class AwayObjects: ObjectStore {
    private let base: any ObjectStore
    private let isAway = Mutex(true)

    init(base: any ObjectStore) { self.base = base }

    func returns() { isAway.withLock { $0 = false } }

    private func demand() throws(ObjectFault) {
        if isAway.withLock({ $0 }) { throw .unavailable(.connection) }
    }

    func get(_ path: String) async throws(ObjectFault) -> StoredObject? {
        try demand()
        return try await base.get(path)
    }

    func put(
        _ bytes: [UInt8], at path: String, _ condition: PutCondition
    ) async throws(ObjectFault) -> PutOutcome {
        try demand()
        return try await base.put(bytes, at: path, condition)
    }

    func remove(_ path: String) async throws(ObjectFault) {
        try demand()
        try await base.remove(path)
    }

    func list(_ prefix: String) async throws(ObjectFault) -> [String] {
        try demand()
        return try await base.list(prefix)
    }
}
