// SPDX-License-Identifier: Apache-2.0

import EngineLab
import PostgresStores
import SQLStores
import Testing

/// A connection that ends around a commit, at each message of it: what is told to the caller is true.
@Suite(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here.")) struct CommitTests {
    private let proxy: CuttingProxy
    /// The same tables, past the proxy.
    private let direct: any SQLDatabase
    private let database: PostgresDatabase
    private let runs = Tally()

    init() throws {
        let lent = try PostgresLab.database()
        proxy = try lent.proxy()
        direct = try lent.open(SQLRule.schema)
        var options = PostgresDatabase.Options()
        options.patience = .seconds(2)
        database = try PostgresDatabase(at: proxy.address, SQLRule.schema, options: options)
    }

    private func write() async -> SQLFault? {
        await fault {
            try await database.write { [runs] transaction in
                runs.up()
                try transaction.run(Counters.add, [1])
            }
        }
    }

    /// After whatever has happened, the next transaction works.
    private func expectNextWorks() async throws {
        proxy.pass()
        try await database.write { try $0.run(Counters.add, [2]) }
        #expect(runs.count == 1, "what may have been committed is not run again")
    }

    /// The server has committed, and nobody hears of it.
    @Test(arguments: [CuttingProxy.Action.cut, .withhold])
    func aCommitWhoseAnswerIsLostIsUnknown_andIsThere(action: CuttingProxy.Action) async throws {
        proxy.decide { $0.ends("COMMIT") ? action : .pass }
        #expect(await write() == .outcomeUnknown(.postgres(state: nil)))
        #expect(try await Counters.count(direct) == 1)
        try await expectNextWorks()
    }

    /// The server never heard of the commit; the client cannot know that.
    @Test(arguments: [CuttingProxy.Action.cut, .withhold])
    func aCommitThatDoesNotArriveIsUnknown_andIsNotThere(action: CuttingProxy.Action) async throws {
        proxy.decide { $0.asks(for: "COMMIT") ? action : .pass }
        #expect(await write() == .outcomeUnknown(.postgres(state: nil)))
        #expect(try await Counters.count(direct) == 0)
        try await expectNextWorks()
    }

    /// Before a commit is asked for, nothing can be there.
    @Test(arguments: ["INSERT", "BEGIN"], [CuttingProxy.Action.cut, .withhold])
    func whatEndsBeforeTheCommitIsUnavailable(tag: String, action: CuttingProxy.Action) async throws {
        if tag == "BEGIN" {
            proxy.decide { $0.ends(tag) ? action : .pass }
            #expect(await write()?.isUnavailable == true)
            #expect(runs.count == 0)
            runs.up()
        } else {
            proxy.decide { $0.ends(tag) ? action : .pass }
            #expect(await write() == .unavailable(.postgres(state: nil)))
        }
        #expect(try await Counters.count(direct) == 0)
        try await expectNextWorks()
    }

    /// A body that goes on after the connection has ended does not commit what is left.
    @Test func aBodyThatHidesAFailureCommitsNothing() async throws {
        proxy.decide { $0.ends("INSERT") ? .cut : .pass }
        let fault = await fault {
            try await database.write { transaction in
                _ = try? transaction.run(Counters.add, [1])
                _ = try? transaction.run(Counters.add, [3])
            }
        }
        #expect(fault == .unavailable(.postgres(state: nil)))
        #expect(try await Counters.count(direct) == 0)
    }

    /// Reading commits, too, but there is nothing to be unknown of.
    @Test func theEndOfReadingIsNoOutcome() async throws {
        proxy.decide { $0.ends("SELECT") ? .cut : .pass }
        #expect(await fault { _ = try await Counters.count(database) } == .unavailable(.postgres(state: nil)))
        proxy.decide { $0.ends("COMMIT") ? .cut : .pass }
        #expect(await fault { _ = try await Counters.count(database) } == .unavailable(.postgres(state: nil)))
    }

    // MARK: A leader's link

    @Test func aLinkTellsItsOutcomesApart() async throws {
        struct Refusal: Error, Equatable {}
        let link = try PostgresLink(to: proxy.address, schema: SQLRule.schema.name)
        guard
            case .committed(7) = await link.transact({
                try $0.run(Counters.add, [1]); return 7
            })
        else {
            Issue.record("not committed")
            return
        }
        guard
            case .refused(let error) = await link.transact({
                try $0.run(Counters.add, [2]); throw Refusal()
            })
        else {
            Issue.record("not refused")
            return
        }
        #expect(error is Refusal)
        let runs = runs
        let twice = await link.transact { transaction in
            runs.up()
            try transaction.run(Counters.add, [1])
        }
        guard case .failed(.unavailable(.postgres(state: "23505"))) = twice else {
            Issue.record("\(twice)")
            return
        }
        #expect(runs.count == 1, "a leader's transaction is run once")
        #expect(try await Counters.count(direct) == 1)
        await link.close()
    }

    @Test func aLinkThatDoesNotKnowIsOfNoUseAnyMore() async throws {
        let link = try PostgresLink(to: proxy.address, schema: SQLRule.schema.name)
        proxy.decide { $0.ends("COMMIT") ? .cut : .pass }
        guard case .unknown = await link.transact({ try $0.run(Counters.add, [1]) }) else {
            Issue.record("known")
            return
        }
        proxy.pass()
        guard case .failed(.unavailable) = await link.transact({ try $0.run(Counters.add, [2]) }) else {
            Issue.record("it was connected anew")
            return
        }
        await #expect(throws: SQLFault.self) { _ = try await link.facts() }
        #expect(try await Counters.count(direct) == 1)
    }
}
