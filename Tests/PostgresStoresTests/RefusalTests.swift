// SPDX-License-Identifier: Apache-2.0

import EngineLab
import SQLStores
import Testing

@testable import PostgresStores

/// What hosts say that let nobody in, and whether that is a mistake in the address.
struct RefusalTests {
    private func refusal(_ address: PostgresAddress) -> PostgresOpenError? {
        do { _ = try PostgresConnection.open(address) } catch { return error }
        return nil
    }

    /// Of all hosts, in this order.
    private func refusal(_ hosts: ShutHost...) throws -> PostgresOpenError? {
        let ports = hosts.map { "\($0.port)" }.joined(separator: ",")
        let names = hosts.map { _ in "127.0.0.1" }.joined(separator: ",")
        return refusal(
            try PostgresAddress(
                "host=\(names) port=\(ports) user=nobody dbname=none gssencmode=disable sslmode=disable"))
    }

    @Test(
        arguments: [
            ("28P01", .login), ("28000", .login), ("3D000", .database), ("42501", .database),
        ] as [(String, PostgresRefusal.Part)])
    func aHostThatLetsNobodyInTurnsAway(state: String, part: PostgresRefusal.Part) throws {
        let host = try ShutHost(refusing: state)
        guard case .turnedAway(let refusal, let address, let words)? = refusal(try host.address()) else {
            Issue.record("not turned away")
            return
        }
        #expect(refusal.part == part && refusal.state == state)
        #expect(address == (try host.address()).description)
        #expect(words.hasSuffix("FATAL:  \(state): not you"), "without the line of its source: \(words)")
    }

    /// The server starts up, shuts down, has too many connections, or takes none for now: as in a fail-over.
    @Test(arguments: ["57P03", "57P01", "57P02", "53300", "55000"])
    func aHostThatLetsNobodyInForNowIsUnreachable(state: String) throws {
        let host = try ShutHost(refusing: state)
        guard case .unreachable(_, let words)? = refusal(try host.address()) else {
            Issue.record("not unreachable")
            return
        }
        #expect(words.contains(state))
    }

    @Test func aHostWithoutTLSTurnsAwayWhoDemandsIt() throws {
        let host = try ShutHost(refusing: "57P03")
        guard case .turnedAway(let refusal, _, _)? = refusal(try host.address("sslmode=require")) else {
            Issue.record("not turned away")
            return
        }
        #expect(refusal.part == .tls && refusal.state == nil)
    }

    /// libpq reads such an address, and refuses it when it is to connect.
    @Test(arguments: ["sslmode=perhaps", "port=99999", "port=x", "port=1,2", "target_session_attrs=x"])
    func whatNoHostCouldTakeTurnsAway(part: String) throws {
        let error = refusal(try PostgresAddress("host=127.0.0.1,127.0.0.1,127.0.0.1 user=u dbname=d \(part)"))
        guard case .turnedAway(let refusal, _, _)? = error else {
            Issue.record("not turned away: \(String(describing: error))")
            return
        }
        #expect(refusal.part == .address && refusal.state == nil)
    }

    /// The other one may be the primary, in a moment.
    @Test func oneHostThatIsOnlyAwayKeepsItPassing() throws {
        let (shut, starting) = (try ShutHost(refusing: "28P01"), try ShutHost(refusing: "57P03"))
        for refusal in [try refusal(shut, starting), try refusal(starting, shut)] {
            guard case .unreachable? = refusal else {
                Issue.record("\(String(describing: refusal))")
                continue
            }
        }
        guard case .turnedAway(let refusal, _, _)? = try refusal(shut, try ShutHost(refusing: "3D000")) else {
            Issue.record("each has turned away")
            return
        }
        #expect(refusal.part == .login, "what the first one said")
    }

    /// As libpq says it of a name with several addresses.
    @Test func oneAddressOfANameThatIsOnlyAwayKeepsItPassing() {
        let away = """
            connection to server at "db" (10.0.0.1), port 5432 failed: Connection refused
            \tIs the server running on that host and accepting TCP/IP connections?

            """
        let shut = """
            connection to server at "db" (10.0.0.2), port 5432 failed: FATAL:  28P01: not you
            LOCATION:  auth_failed, auth.c:1

            """
        #expect(PostgresFailure(connecting: shut).refusal?.state == "28P01")
        #expect(PostgresFailure(connecting: shut + shut).refusal?.state == "28P01")
        #expect(PostgresFailure(connecting: away + shut).refusal == nil)
        #expect(PostgresFailure(connecting: shut + away).refusal == nil)
        #expect(PostgresFailure(connecting: "").refusal == nil)
    }

    @Test(
        arguments: [
            ("fe_sendauth: no password supplied", .login),
            ("SSL error: certificate verify failed", .tls),
            ("SSL error: tlsv1 alert unknown ca", .tls),
            ("root certificate file \"/home/signet/.postgresql/root.crt\" does not exist", .tls),
            ("invalid port number: \"99999\"", nil),
            ("SSL SYSCALL error: EOF detected", nil),
            ("SSL SYSCALL error: Connection reset by peer", nil),
            ("SSL error: unexpected eof while reading", nil),
            ("server closed the connection unexpectedly", nil),
            ("session is read-only", nil),
            ("timeout expired", nil),
        ] as [(String, PostgresRefusal.Part?)])
    func whatLibpqFindsItselfIsKnownByItsWords(words: String, part: PostgresRefusal.Part?) {
        let said = "connection to server at \"127.0.0.1\", port 5432 failed: \(words)\n"
        #expect(PostgresFailure(connecting: said).refusal?.part == part)
    }
}

/// A process that was let in before.
@Suite(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here.")) struct LaterRefusalTests {
    /// An operator changes the user, or restores the server, while processes run.
    @Test func aStoreThatIsTurnedAwayLaterIsUnavailable_andWorksOnceItIsLetIn() async throws {
        let lent = try PostgresLab.database()
        let user = "user_of_\(lent.name)"
        try lent.administer("CREATE ROLE \(user) LOGIN SUPERUSER")
        let host = try #require(lent.address.parameters["host"])
        let address = try PostgresAddress("host=\(host) user=\(user) dbname=\(lent.name)")
        let database = try PostgresDatabase(at: address, SQLRule.schema)
        try lent.administer("ALTER ROLE \(user) NOLOGIN")
        try lent.administer("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = '\(user)'")
        let fault = await fault { try await database.write { _ = try $0.run(Counters.add, [1]) } }
        #expect(fault == .unavailable(.postgres(state: "28000")))
        try lent.administer("ALTER ROLE \(user) LOGIN")
        try await database.write { _ = try $0.run(Counters.add, [1]) }
        #expect(try await Counters.count(database) == 1)
        database.close()
    }
}
