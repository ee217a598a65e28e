// SPDX-License-Identifier: Apache-2.0

import EngineLab
import SQLStores
import Testing

@testable import PostgresStores

/// A process that stands still, or is gone, in the middle of a transaction: nobody waits for its rows for long.
@Suite(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here.")) struct StandingStillTests {
    private let lent: LabDatabase
    private let held = Tally()
    private let mayGo = Gate()

    init() throws {
        lent = try PostgresLab.database()
        try lent.open(SQLRule.schema).writeNow { _ = try $0.run(Counters.add, [1]) }
    }

    private enum Unexpected: Error { case outcome }

    /// Changes the row, and stands still before it commits.
    @Sendable private func change(_ transaction: SQLTransaction) throws {
        try transaction.run(Counters.set, [10, 1])
        held.up()
        mayGo.wait()
    }

    /// As a leader who takes over does.
    private func changeOnAnotherLink() async throws {
        let link = try PostgresLink(to: lent.address, schema: SQLRule.schema.name, patience: .seconds(60))
        let outcome = await link.transact { try $0.run(Counters.set, [20, 1]) }
        await link.close()
        guard case .committed(1) = outcome else { throw Unexpected.outcome }
    }

    @Test func theRowsOfALeaderThatStandsStillAreLetGo() async throws {
        let link = try PostgresLink(
            to: lent.address, schema: SQLRule.schema.name, idling: .milliseconds(20))
        async let former = link.transact(change)
        defer { mayGo.open() }
        while held.count == 0 { await Task.yield() }
        try await changeOnAnotherLink()
        mayGo.open()
        if case .committed = await former { throw Unexpected.outcome }
        #expect(try lent.administer("SELECT value FROM \(SQLRule.schema.name).counters") == "20")
    }

    @Test func theRowsOfAFrontEndThatStandsStillAreLetGo() async throws {
        var options = PostgresDatabase.Options()
        options.idling = .milliseconds(20)
        let database = try lent.open(SQLRule.schema, options: options)
        let former = Task { [change] in await fault { try await database.write(change) } }
        while held.count == 0 { await Task.yield() }
        try await changeOnAnotherLink()
        mayGo.open()
        #expect(await former.value != nil)
        #expect(try lent.administer("SELECT value FROM \(SQLRule.schema.name).counters") == "20")
    }

    /// Nobody waits for it, so it may take its time: a log of millions of entries is read in one transaction.
    @Test func aTransactionThatReadsHasNoLimit() async throws {
        var options = PostgresDatabase.Options()
        options.idling = .milliseconds(1)
        let limit = try await lent.open(SQLRule.schema, options: options).read {
            try $0.row("SHOW idle_in_transaction_session_timeout")?.text(0)
        }
        #expect(limit == "0")
    }

    /// A claim that was given up would otherwise wait behind the row with all those before it, and take it in the end.
    @Test func whatWasGivenUpDoesNotGoOnWaiting() async throws {
        let holder = try PostgresLink(
            to: lent.address, schema: SQLRule.schema.name, idling: .seconds(20))
        async let holding = holder.transact(change)
        while held.count == 0 { await Task.yield() }
        let hasty = try PostgresLink(
            to: lent.address, schema: SQLRule.schema.name, patience: .seconds(1))
        let outcome = await hasty.transact { try $0.run(Counters.set, [30, 1]) }
        let waiting =
            "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        while try lent.administer(waiting) != "0" { await Task.yield() }
        mayGo.open()
        // It would have waited until the server ends the holder's transaction.
        guard case .committed = await holding, case .failed = outcome else { throw Unexpected.outcome }
        #expect(try lent.administer("SELECT value FROM \(SQLRule.schema.name).counters") == "10")
    }
}
