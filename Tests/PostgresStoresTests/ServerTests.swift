// SPDX-License-Identifier: Apache-2.0

import EngineLab
import LogFencing
import PostgresStores
import SQLStores
import Testing

/// Servers that end, stand still, or are not what they should be.
@Suite(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here.")) struct ServerTests {
    private func lab() throws -> PostgresLab { try PostgresLab.shared.get() }

    private func refusal(_ address: PostgresAddress) -> PostgresOpenError? {
        do { _ = try PostgresConnection.open(address, connecting: .seconds(1), patience: .seconds(1)) } catch {
            return error
        }
        return nil
    }

    /// The connections that the pool has kept are dead; nobody is told more than once.
    @Test func aKilledServerIsUnavailable_andWorksAfterItsRestart() async throws {
        let server = try lab().primary()
        let database = try PostgresDatabase(at: server.address, SQLRule.schema)
        try await database.write { _ = try $0.run(Counters.add, [1]) }
        try server.kill()
        #expect(await fault { try await database.write { _ = try $0.run(Counters.add, [2]) } }?.isUnavailable == true)
        #expect(await fault { _ = try await Counters.count(database) }?.isUnavailable == true)
        guard case .unreachable = refusal(try server.address) else {
            Issue.record("reached")
            return
        }
        try server.start()
        #expect(try await Counters.count(database) == 1, "what was acknowledged is there")
        try await database.write { _ = try $0.run(Counters.add, [3]) }
        database.close()
        try server.stop()
    }

    /// In the middle of a transaction, and between two.
    @Test func aConnectionThatTheServerEndsIsMadeAnew() async throws {
        let lent = try PostgresLab.database()
        var options = PostgresDatabase.Options()
        options.connectionCount = 1
        let database = try lent.open(SQLRule.schema, options: options)
        // The function waits until the process has ended, for five seconds at most.
        let terminate = """
            SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
            WHERE datname = '\(lent.name)' AND pid <> pg_backend_pid()
            """
        let during = await fault {
            try await database.write { transaction in
                try transaction.run(Counters.add, [1])
                _ = try? lent.administer(terminate)
                try transaction.run(Counters.add, [2])
            }
        }
        #expect(during?.isUnavailable == true)
        #expect(try await Counters.count(database) == 0)
        try lent.administer(terminate)
        #expect(try await Counters.count(database) == 0)
        try await database.write { _ = try $0.run(Counters.add, [3]) }
    }

    /// A server that stands still answers nobody: the deadline ends the connection.
    @Test func aServerThatStandsStillIsUnavailableAtTheDeadline() async throws {
        let server = try lab().primary()
        var options = PostgresDatabase.Options()
        options.patience = .milliseconds(200)
        options.connecting = .milliseconds(200)
        let database = try PostgresDatabase(at: server.address, SQLRule.schema, options: options)
        server.pause()
        let first = await fault { try await database.write { _ = try $0.run(Counters.add, [1]) } }
        #expect(first == .unavailable(.postgres(state: nil)))
        let address = try server.address
        #expect(refusal(address) == .unreachable(address: address.description, words: "no answer in time"))
        server.resume()
        try await server.settle("the server") {
            (try? database.writeNow { _ = try $0.run(Counters.add, [1]) }) != nil
        }
        #expect(try await Counters.count(database) == 1)
        database.close()
        try server.stop()
    }

    /// Whoever may change the database's settings would otherwise have commits acknowledged that are on no disk, or on one.
    @Test(arguments: [
        ("off", "on"), ("local", "on"), ("remote_write", "on"), ("on", "on"), ("remote_apply", "remote_apply"),
    ])
    func connectionsWaitForDisksWhateverTheServersSettingIs(_ setting: String, _ own: String) async throws {
        let lent = try PostgresLab.database()
        try lent.administer("ALTER DATABASE \(lent.name) SET synchronous_commit = \(setting)")
        let database = try PostgresDatabase(at: lent.address, SQLRule.schema)
        #expect(try await database.read { try $0.row("SELECT current_setting('synchronous_commit')")?.text(0) } == own)
        database.close()
    }

    @Test func aDatabaseOfAnotherEncodingIsRefused() throws {
        let lent = try PostgresLab.database(" ENCODING 'SQL_ASCII' TEMPLATE template0")
        #expect(refusal(lent.address) == .notUTF8(encoding: "SQL_ASCII"))
    }

    // MARK: Standbys

    /// An operator, or a program beside ours, cancels a commit that waits: the server then says that it succeeded, beside a warning. The
    /// row is there, and a failover would lose it.
    @Test func aCommitWhoseWaitWasCancelledIsUnknown() async throws {
        let (server, replica) = try lab().pair()
        let database = try PostgresDatabase(at: server.address, SQLRule.schema)
        let link = try PostgresLink(to: server.address, schema: SQLRule.schema.name)
        try await database.write { _ = try $0.run(Counters.add, [1]) }
        replica.pause()
        async let written = fault { try await database.write { _ = try $0.run(Counters.add, [2]) } }
        try await interrupt(server, "pg_cancel_backend")
        #expect(await written == .outcomeUnknown(.postgres(state: "01000")))
        async let led = link.transact { _ = try $0.run(Counters.add, [3]) }
        try await interrupt(server, "pg_cancel_backend")
        guard case .unknown(.postgres(state: "01000")) = await led else {
            Issue.record("known")
            return
        }
        async let ended = fault { try await database.write { _ = try $0.run(Counters.add, [4]) } }
        try await interrupt(server, "pg_terminate_backend")
        #expect(await ended?.isUnknown == true)
        #expect(try await Counters.count(database) == 4, "all are visible, and none is on the standby")
        replica.resume()
        try await database.write { _ = try $0.run(Counters.add, [5]) }
        database.close()
        try replica.stop()
        try server.stop()
    }

    /// Whoever waits for a standby is interrupted.
    private func interrupt(_ server: PostgresServer, _ function: String) async throws {
        try await server.settle("a commit that waits") {
            try server.administer(
                "SELECT \(function)(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' LIMIT 1") == "t"
        }
    }

    /// A standby is refused; once it is the first, its timeline says that it was another.
    @Test func aServersFactsTellAPromotion() async throws {
        let (server, replica) = try lab().pair()
        let before = try await PostgresLink(to: server.address, schema: "public").facts()
        #expect(!before.isInRecovery && before.commitsAreSynchronous && before.hasStandbys && before.timeline == 1)
        #expect(refusal(try replica.address) == .isReplica)
        try server.kill()
        try replica.promote()
        let after = try await PostgresLink(to: replica.address, schema: "public").facts()
        #expect(after.systemIdentifier == before.systemIdentifier && after.timeline == 2)
        #expect(!after.hasStandbys, "nobody follows it")
        try replica.stop()
    }

    @Test func aServerAloneHasNoStandbys() async throws {
        let server = try lab().primary()
        let link = try PostgresLink(to: server.address, schema: "public")
        #expect(try await !link.facts().hasStandbys)
        #expect(try await link.facts(replicatesBelowSQL: true).hasStandbys)
        #expect(try await link.facts().commitsAreSynchronous)
        try server.stop()
    }

    /// After a promotion, for example, of a server that waits for nobody.
    @Test func nothingIsWrittenWhereNoStandbyIsAsked() async throws {
        let server = try lab().primary()
        var options = PostgresDatabase.Options()
        options.demandsStandbys = true
        options.connectionCount = 1
        let database = try PostgresDatabase(at: server.address, SQLRule.schema, options: options)
        let write = { await fault { try await database.write { _ = try $0.run(Counters.add, [1]) } } }
        #expect(await write() == .unavailable(.postgres(state: nil)))
        #expect(try await Counters.count(database) == 0, "what is read goes on")
        try server.change("synchronous_standby_names", to: "ANY 1 (second)")
        // A commit would wait for the standby: the body is as far as this gets.
        struct Reached: Error {}
        await #expect(throws: Reached.self) { try await database.write { _ in throw Reached() } }
        try server.change("synchronous_standby_names", to: "")
        #expect(await write() == .unavailable(.postgres(state: nil)), "on the connection that was there")
        database.close()
        try server.stop()
    }

    /// The server that the tests of conformance share does not wait for its disk, and no log may be led on it.
    @Test func aServerThatDoesNotWaitForItsDiskIsNotSynchronous() async throws {
        let lent = try PostgresLab.database()
        #expect(try await !PostgresLink(to: lent.address, schema: "public").facts().commitsAreSynchronous)
    }
}
