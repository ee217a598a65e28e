// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import ObjectStores
import ObjectTesting
import SQLStores
import SharedLog
import Synchronization
import Testing
import TransparencyLog

/// As when a leader's clock is wrong, or its lines to the witnesses are cut: another candidate may have neither fault.
@Suite("A leader that can publish nothing")
struct UnshownTests {
    let fixture: SharedLogFixture
    let clock = HandClock()
    let database: TimedDatabase
    let turn = LeaderTurn()

    init() async throws {
        fixture = try SharedLogFixture()
        try await fixture.engines.create(try fixture.configuration())
        database = TimedDatabase(base: fixture.engines.database, clock: clock)
    }

    private struct Away: CheckpointWitnessing {
        private let asked = AsyncStream.makeStream(of: Void.self)

        func cosignatures(
            on note: SignedNote, head: TreeHead, consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
        ) async throws(WitnessShortfall) -> [NoteSignature] {
            asked.continuation.yield()
            throw WitnessShortfall(missing: [])
        }

        /// Returns when the witnesses were asked for the first time: from then on the leader asks again and makes no step.
        func areAsked() async { for await _ in asked.stream { return } }
    }

    /// Objects of which one is put, or got, by nobody: the store is full, or takes our clock for wrong.
    private struct Refusing: ObjectStore {
        let base: any ObjectStore
        let path: String
        let hidden: String
        let fault = ObjectFault.refused(.status(403, code: "QuotaExceeded"))
        private let refusals = AsyncStream.makeStream(of: Void.self)

        init(base: any ObjectStore, path: String = "", hidden: String = "") {
            (self.base, self.path, self.hidden) = (base, path, hidden)
        }

        /// Returns when something was refused.
        func isRefused() async { for await _ in refusals.stream { return } }

        func get(_ path: String) async throws(ObjectFault) -> StoredObject? {
            guard path != hidden else { throw fault }
            return try await base.get(path)
        }

        func put(
            _ bytes: [UInt8], at path: String, _ condition: PutCondition
        ) async throws(ObjectFault) -> PutOutcome {
            guard path != self.path else {
                refusals.continuation.yield()
                throw fault
            }
            return try await base.put(bytes, at: path, condition)
        }

        func remove(_ path: String) async throws(ObjectFault) { try await base.remove(path) }

        func list(_ prefix: String) async throws(ObjectFault) -> [String] { try await base.list(prefix) }
    }

    private func lead(
        _ holder: String, objects: (any ObjectStore)? = nil, witnessing: (any CheckpointWitnessing)? = nil,
        wall: (@Sendable () -> UInt64)? = nil, turn: LeaderTurn = LeaderTurn()
    ) async throws -> DurableLog {
        let engines = SharedLogEngines(
            database: database, objects: objects ?? fixture.objects, policy: fixture.engines.policy,
            origin: fixture.engines.origin)
        var configuration = try fixture.configuration()
        configuration.witnessing = witnessing
        return try await LogCandidate(engines, holder: holder, clock: clock.reading, wall: wall).lead(
            over: TimedDatabase(base: try fixture.link(), clock: clock), SharedLogFixture.facts, configuration,
            turn: turn)
    }

    private func awaitFailure() async {
        let failed = AsyncStream.makeStream(of: Void.self)
        fixture.whenFailed { failed.continuation.yield() }
        for await _ in failed.stream { break }
    }

    private func handsOver(_ log: DurableLog, after isStuck: () async -> Void) async throws {
        let range = try await log.append(SharedLogFixture.entries(0..<3))
        // A step that comes after the hand of the clock has moved would give it time again.
        await isStuck()
        clock.advance(by: ShowingWatch.patience)
        await awaitFailure()
        #expect(fixture.failures == [.leadershipEnded(.unshown)])
        #expect(turn.end == .unshown && !turn.hasShown)
        await log.close()
        // It need not run out.
        let next = try await lead("b")
        #expect(try await next.awaitPublished(size: range.upperBound).head.size == range.upperBound)
        await next.close()
    }

    @Test func withoutWitnessesItGivesTheLeaseBack_andTheNextOnePublishes() async throws {
        let witnesses = Away()
        let log = try await lead("a", witnessing: witnesses, turn: turn)
        try await handsOver(log) { await witnesses.areAsked() }
    }

    @Test func withoutTheBucketItGivesTheLeaseBack_andTheNextOnePublishes() async throws {
        let objects = Refusing(base: fixture.objects, path: SharedLogEngines.signedPath)
        try await handsOver(try await lead("a", objects: objects, turn: turn)) { await objects.isRefused() }
    }

    /// A process that was told to stop has given up. The lease is its own all the while.
    @Test func aStoreThatThisProcessHasClosedIsNotAskedAgain() async throws {
        // Later ones would be served.
        let refusals = Mutex([ObjectFault.refused(.closed)])
        let objects = MemoryObjects { operation in
            guard case .put = operation else { return nil }
            return refusals.withLock { $0.popLast().map { .before($0) } }
        }
        let log = try await lead("a", objects: objects, turn: turn)
        let range = try await log.append(SharedLogFixture.entries(0..<3))
        _ = try? await log.awaitPublished(size: range.upperBound)
        guard case .sharedStore(.unavailable)? = fixture.failures.first else {
            Issue.record("\(fixture.failures)")
            return await log.close()
        }
        await log.close()
    }

    /// A claim that comes to nothing would end the leadership of somebody who has no such fault.
    @Test func whoCannotReadTheSecondMemoryClaimsNothing() async throws {
        func candidate(_ hidden: String) -> LogCandidate {
            let engines = SharedLogEngines(
                database: database, objects: Refusing(base: fixture.objects, hidden: hidden),
                policy: fixture.engines.policy, origin: fixture.engines.origin)
            return LogCandidate(engines, holder: "a", clock: clock.reading)
        }
        try await candidate("other").reachesMemory()
        await #expect {
            try await candidate(SharedLogEngines.signedPath).reachesMemory()
        } throws: { ($0 as? CandidacyEnd)?.isPassing == true }
    }

    @Test func whoPublishesIsOwedNothing() async throws {
        let log = try await lead("a", turn: turn)
        let range = try await log.append(SharedLogFixture.entries(0..<3))
        _ = try await log.awaitPublished(size: range.upperBound)
        #expect(turn.hasShown && !turn.isStuck(at: .seconds(86_400)))
        await log.close()
        #expect(turn.end == nil)
    }

    // MARK: The lease

    private func keeper(_ wall: (@Sendable () -> UInt64)? = nil) throws -> LeaseKeeper {
        try fixture.execute("INSERT INTO lease (id, holder, expires) VALUES (1, 'a', 1003000)")
        return LeaseKeeper(
            database, holder: "a", sent: clock.now, told: 1_000_000, clock: clock.reading, wall: wall, turn: turn)
    }

    @Test func aLeaseIsKeptWhileSomethingGoesOn() async throws {
        let keeper = try keeper()
        turn.step(at: clock.now)
        for second in 1...60 {
            clock.advance(by: .seconds(1))
            #expect(await keeper.renew())
            if second == 46 { turn.rest() } else if second % 14 == 0 { turn.step(at: clock.now) }
            #expect(keeper.check() && keeper.allowsWriting)
        }
    }

    @Test func aLeaseIsGivenUpForGoodWhenNothingGoesOn() async throws {
        let keeper = try keeper()
        turn.step(at: clock.now)
        for _ in 1...14 {
            clock.advance(by: .seconds(1))
            #expect(await keeper.renew())
            #expect(keeper.check())
        }
        clock.advance(by: .seconds(1))
        #expect(await keeper.renew())
        #expect(!keeper.check() && !keeper.allowsWriting && keeper.end == .unshown)
        turn.rest()
        #expect(!keeper.check() && !keeper.allowsWriting)
    }

    // MARK: The clock

    private static func seconds(_ seconds: Int64) -> @Sendable () -> UInt64 { { UInt64(seconds) } }

    @Test func whoseClockIsAheadDoesNotTryToLead() async throws {
        func sight(_ wall: (@Sendable () -> UInt64)?) async -> LeaseSight {
            let engines = SharedLogEngines(
                database: database, objects: fixture.objects, policy: fixture.engines.policy,
                origin: fixture.engines.origin)
            return await LogCandidate(engines, holder: "a", clock: clock.reading, wall: wall).look()
        }
        #expect(await !sight(Self.seconds(1_000 + 62)).mayTry)
        #expect(await sight(Self.seconds(1_000 + 61)).mayTry)
        #expect(await sight(Self.seconds(0)).mayTry)
        #expect(await sight(Self.seconds(0)).clock?.seconds == -999)
        let unknown = await sight(nil)
        #expect(unknown.mayTry && unknown.clock == nil)
        database.isAway.set(true)
        let away = await sight(Self.seconds(0))
        #expect(away.mayTry && away.clock == nil)
    }

    @Test func aLeaderWhoseClockGoesAheadGivesTheLeaseUp() async throws {
        let wall = Mutex<UInt64>(1_000)
        let keeper = try keeper { wall.withLock { $0 } }
        #expect(keeper.check() && keeper.allowsWriting)
        // An hour behind, nothing that it logs is dated wrong.
        wall.withLock { $0 = 0 }
        #expect(keeper.check())
        wall.withLock { $0 = 1_061 }
        #expect(keeper.check())
        // The database's time goes on.
        clock.advance(by: .seconds(1))
        wall.withLock { $0 = 1_062 }
        #expect(await keeper.renew())
        #expect(keeper.check())
        wall.withLock { $0 = 1_063 }
        #expect(!keeper.check() && !keeper.allowsWriting && keeper.end == .clockAhead)
    }

    /// Clients would refuse what follows for as long, whoever leads then.
    @Test func nothingIsLoggedByAClockThatIsAhead() async throws {
        let wall = Mutex<UInt64>(1_000)
        let log = try await lead("a", wall: { wall.withLock { $0 } })
        _ = try await log.append(SharedLogFixture.entries(0..<3))
        wall.withLock { $0 = 4_600 }
        await #expect(throws: LogAppendError.stopped) { try await log.append(SharedLogFixture.entries(3..<6)) }
        #expect(fixture.failures == [.leadershipEnded(.clockAhead)])
        await log.close()
        let size = try await fixture.engines.database.read { try $0.row("SELECT size FROM log")?.integer(0) }
        #expect(size == 3)
    }
}
