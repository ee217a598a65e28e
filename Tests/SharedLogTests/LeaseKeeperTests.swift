// SPDX-License-Identifier: Apache-2.0

import LogEngine
import LogFencing
import SQLStores
import SharedLog
import Synchronization
import Testing

/// A clock that only the test moves.
final class HandClock: Sendable {
    private let time = Mutex<Duration>(.zero)

    var now: Duration { time.withLock { $0 } }

    func advance(by duration: Duration) { time.withLock { $0 += duration } }

    /// As the log's parts take it.
    var reading: @Sendable () -> Duration { { [self] in now } }
}

/// Counts for several threads.
final class Counter: Sendable {
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    @discardableResult
    func count(_ step: Int = 1) -> Int {
        count.withLock { count in
            count += step
            return count
        }
    }
}

/// A database that can stop answering, and whose time a test can set.
struct TimedDatabase: SQLDatabase {
    let base: any SQLDatabase
    var clock = HandClock()
    let isAway = Latch()

    /// Whether something holds, for several threads.
    final class Latch: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock { $0 } }
        func set(_ isSet: Bool) { value.withLock { $0 = isSet } }
    }

    private func answer() throws { if isAway.isSet { throw SQLFault.unavailable(.postgres(state: nil)) } }

    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try answer()
        return try await base.read(body)
    }

    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try answer()
        return try await base.write(body)
    }

    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try answer()
        return try base.readNow(body)
    }

    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try answer()
        return try base.writeNow(body)
    }

    var nowExpression: String { "\(1_000_000 + clock.now.components.seconds * 1000)" }

    func expunge() async throws {}

    func close() { base.close() }
}

@Suite("How a leader keeps its lease")
struct LeaseKeeperTests {
    let fixture: SharedLogFixture
    let clock = HandClock()
    let database: TimedDatabase

    init() async throws {
        fixture = try SharedLogFixture()
        try await fixture.engines.create(try fixture.configuration())
        database = TimedDatabase(base: fixture.engines.database, clock: clock)
        try put("a", expires: 1_003_000)
    }

    private func put(_ holder: String, expires: Int) throws {
        try fixture.execute("DELETE FROM lease")
        try fixture.execute("INSERT INTO lease (id, holder, expires) VALUES (1, ?, ?)", [holder, expires])
    }

    private func expires() throws -> Int64? {
        try fixture.engines.database.readNow { try $0.row("SELECT expires FROM lease WHERE holder = 'a'")?.integer(0) }
    }

    private func keeper() -> LeaseKeeper {
        LeaseKeeper(database, holder: "a", sent: clock.now, clock: clock.reading)
    }

    @Test func aLeaseThatIsRenewedInTimeIsKept() async throws {
        let keeper = keeper()
        for _ in 0..<5 {
            clock.advance(by: .seconds(1))
            #expect(await keeper.renew())
            #expect(keeper.check() && keeper.allowsWriting)
        }
        #expect(try expires() == 1_008_000)
    }

    @Test func aLeaseThatAnotherOneHasIsLostForGood() async throws {
        let (keeper, told) = (keeper(), Counter())
        keeper.whenLost { told.count() }
        try put("b", expires: 1_003_000)
        #expect(await !keeper.renew())
        #expect(!keeper.allowsWriting && !keeper.check())
        try put("a", expires: 1_003_000)
        #expect(await keeper.renew())
        #expect(!keeper.allowsWriting)
        #expect(told.value == 1)
        // Who asks later is told as well.
        keeper.whenLost { told.count() }
        #expect(told.value == 2)
    }

    /// Nothing is begun after the patience. When requests went without an answer for as long, it is given up, also if the database answers
    /// again.
    @Test func withoutAnAnswerNothingIsBegunAfterThePatience() async throws {
        let (keeper, told) = (keeper(), Counter())
        keeper.whenLost { told.count() }
        database.isAway.set(true)
        clock.advance(by: .seconds(1))
        #expect(await keeper.renew())
        clock.advance(by: LeaseWatch.patience - .seconds(1) - .milliseconds(1))
        #expect(await keeper.renew())
        #expect(keeper.allowsWriting && keeper.check())
        clock.advance(by: .milliseconds(1))
        #expect(!keeper.allowsWriting && keeper.check())
        clock.advance(by: .seconds(1))
        #expect(!keeper.check())
        database.isAway.set(false)
        #expect(await keeper.renew())
        #expect(!keeper.allowsWriting)
        #expect(told.value == 1)
    }

    /// As under `SIGSTOP`: nothing is begun before the database was asked, and it says that nobody else has led.
    @Test func aProcessThatWasAwayAsksBeforeItWrites() async throws {
        let keeper = keeper()
        clock.advance(by: .seconds(60))
        #expect(!keeper.allowsWriting)
        #expect(keeper.check())
        #expect(await keeper.renew())
        #expect(keeper.allowsWriting)
    }

    @Test func aLeaseThatIsGivenBackIsFree() async throws {
        await keeper().end()
        #expect(try expires() == 0)
    }

    @Test func whoGivesBackTakesNothingFromAnotherOne() async throws {
        try put("b", expires: 1_003_000)
        await keeper().end()
        #expect(
            try await fixture.engines.database.read { try $0.row("SELECT expires FROM lease")?.integer(0) }
                == 1_003_000)
    }

    // MARK: A candidate and a lease

    private func lead(_ holder: String) async throws -> DurableLog {
        let engines = fixture.engines(on: database)
        let link = TimedDatabase(base: try fixture.link(), clock: clock)
        return try await LogCandidate(engines, holder: holder, clock: clock.reading).lead(
            over: link, SharedLogFixture.facts, try fixture.configuration())
    }

    @Test func aCandidateWaitsUntilTheLeaseHasRunOut() async throws {
        await #expect(throws: CandidacyEnd.ended(.othersLead)) { try await lead("b") }
        clock.advance(by: LeaseWatch.term)
        await #expect(throws: CandidacyEnd.ended(.othersLead)) { try await lead("b") }
        clock.advance(by: .seconds(1))
        let log = try await lead("b")
        await log.close()
    }

    /// Such as one that a database gave whose clock was ahead: nobody would lead until then.
    @Test func aLeaseThatEndsLaterThanAnyCouldIsFree() async throws {
        let now = Int(1_000_000), longest = now + 2 * 3000
        let candidate = LogCandidate(fixture.engines(on: database), holder: "b", clock: clock.reading)
        try put("a", expires: longest)
        #expect(await !candidate.look().isFree)
        await #expect(throws: CandidacyEnd.ended(.othersLead)) { try await lead("b") }
        try put("a", expires: longest + 1)
        #expect(await candidate.look().isFree)
        #expect(try await fixture.engines(on: database).look().leaseLeft == .zero)
        await (try await lead("b")).close()
    }

    @Test func aLogThatIsClosedGivesItsLeaseBack() async throws {
        clock.advance(by: .seconds(4))
        await (try await lead("b")).close()
        await (try await lead("c")).close()
    }

    @Test func anIdleLogEndsWhenItsLeaseIsLost() async throws {
        clock.advance(by: .seconds(4))
        let (log, lost) = (try await lead("a"), AsyncStream.makeStream(of: Void.self))
        fixture.whenFailed { lost.continuation.yield() }
        try put("b", expires: 1_010_000)
        for await _ in lost.stream { break }
        #expect(fixture.failures == [.leadershipEnded(.superseded)])
        await #expect(throws: LogAppendError.stopped) { try await log.append(SharedLogFixture.entries(0..<1)) }
        await log.close()
    }

    /// The connection of the lease is gone, that of the leader may not be.
    @Test func anIdleLogEndsWhenTheDatabaseDoesNotAnswer() async throws {
        clock.advance(by: .seconds(4))
        let (log, lost) = (try await lead("a"), AsyncStream.makeStream(of: Void.self))
        fixture.whenFailed { lost.continuation.yield() }
        database.isAway.set(true)
        let moving = Task {
            // Whenever the next request is sent, it has no answer for the patience.
            while !Task.isCancelled {
                clock.advance(by: .milliseconds(100))
                await Task.yield()
            }
        }
        defer { moving.cancel() }
        for await _ in lost.stream { break }
        #expect(fixture.failures == [.leadershipEnded(.superseded)])
        await log.close()
    }
}
