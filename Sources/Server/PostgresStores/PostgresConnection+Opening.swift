// SPDX-License-Identifier: Apache-2.0

import CPostgres
import SQLStores

extension PostgresConnection {
    /// Makes a connection and brings it into the state that the stores rely on.
    ///
    /// - Parameters:
    ///   - schema: the group of tables that statements mean; nil: that of the server's configuration.
    ///   - connecting: how long it may take, with all hosts of the address together.
    ///   - patience: how long the server may take for each command; nil: as long as it wants.
    ///   - demandsStandbys: whether nothing is written unless each commit waits for a standby's disk.
    ///   - idling: after so long without a command the server ends a transaction that can write, and the connection.
    ///   - cutOff: ends everything before that; nil: nothing does.
    /// - Throws: ``PostgresOpenError``.
    package static func open(
        _ address: PostgresAddress, schema: String? = nil, connecting: Duration = .seconds(10),
        patience: Duration? = nil, demandsStandbys: Bool = false, idling: Duration = idling,
        cutOff: PostgresCutOff? = nil
    ) throws(PostgresOpenError) -> PostgresConnection {
        let hosts = PostgresHosts(defaults.merging(address.parameters) { $1 }.merging(demands) { $1 })
        let (connection, number): (PostgresConnection, Int)
        do {
            let made = try hosts.connect(within: connecting, cutOff)
            number = made.number
            connection = PostgresConnection(
                made.handle, patience: patience, demandsStandbys: demandsStandbys, idling: idling, cutOff: cutOff)
        } catch { throw unreached(address, error) }
        try connection.check()
        hosts.use(number)
        do { try connection.settle(schema) } catch { throw unreached(address, error) }
        try connection.beDurable(address)
        connection.beMissed()
        return connection
    }

    /// What an operator may change: a server that vanished is noticed after about ten seconds.
    private static let defaults = [
        "application_name": "signet", "keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3",
        "tcp_user_timeout": "10000",
    ]
    private static let demands = ["client_encoding": "UTF8"]

    private static func unreached(_ address: PostgresAddress, _ failure: PostgresFailure) -> PostgresOpenError {
        let words = address.masked(failure.words)
        guard let refusal = failure.refusal else {
            return .unreachable(address: address.description, words: words)
        }
        return .turnedAway(refusal, address: address.description, words: words)
    }

    /// Looks at what the server said of itself while the connection was made.
    private func check() throws(PostgresOpenError) {
        let version = Int(PQserverVersion(handle))
        guard version >= 150_000 else { throw .tooOld(version: version) }
        guard parameter("in_hot_standby") != "on" else { throw .isReplica }
        let encoding = parameter("server_encoding") ?? ""
        guard encoding == "UTF8" else { throw .notUTF8(encoding: encoding) }
    }

    private func parameter(_ name: String) -> String? { PQparameterStatus(handle, name).map { String(cString: $0) } }

    /// Tables are small when a directory is new, and reading one whole would conflict with every writer of it; so an index is used wherever
    /// there is one.
    private func settle(_ schema: String?) throws(PostgresFailure) {
        let path = schema.map { "SET search_path TO \(Self.quoted($0));" } ?? ""
        _ = try command(
            """
            SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;
            SET TimeZone = 'UTC'; SET standard_conforming_strings = on; SET enable_seqscan = off; SET jit = off; \(path)
            """)
    }

    /// Has commits of this connection wait for the disks of the server and of the standbys that it asks, whatever the server's configuration is,
    /// or is changed to.
    ///
    /// Spec: PostgreSQL 15, 20.5.1, `synchronous_commit`.
    private func beDurable(_ address: PostgresAddress) throws(PostgresOpenError) {
        do {
            let isMore = try command("SHOW synchronous_commit").words(0, 0) == "remote_apply"
            _ = try command("SET synchronous_commit = \(isMore ? "remote_apply" : "on")")
        } catch { throw Self.unreached(address, error) }
    }

    /// Has the server notice that this process is gone, also while it waits for a lock on its behalf: every second it looks whether the
    /// connection has ended, and after about ten seconds of silence it has. A server whose system cannot tell says so and waits as before.
    ///
    /// Spec: PostgreSQL 15, 20.3.2, `client_connection_check_interval` and `tcp_keepalives_idle`.
    private func beMissed() {
        let keepalives = "SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3"
        for settings in ["SET client_connection_check_interval = 1000", keepalives] { _ = try? command(settings) }
    }

    /// A name as SQL writes it.
    static func quoted(_ name: String) -> String { SQLTransaction.quoted(name) }

    /// A string as SQL writes it.
    static func literal(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }
}
