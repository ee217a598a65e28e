// SPDX-License-Identifier: Apache-2.0

package import SQLStores

/// A store's rows in one schema of a PostgreSQL, which several servers share.
///
/// Whoever reads sees one committed state. Whoever writes does so as if alone; when two writers disturb each other, one of them is run again. A
/// statement that fails ends its transaction, even if `body` goes on.
package struct PostgresDatabase: SQLDatabase {
    /// What differs from store to store.
    package struct Options: Sendable {
        /// How many connections there are at most.
        package var connectionCount = 8
        /// How long making one may take.
        package var connecting: Duration = .seconds(10)
        /// How long the server may take for one command, a commit too; nil: as long as it wants. Then the connection is closed.
        package var patience: Duration?
        /// Whether nothing is written unless each commit waits for the disk of a standby; otherwise ``write(_:)`` throws
        /// `SQLFault.unavailable`. What is read goes on.
        package var demandsStandbys = false
        /// How long to wait for a free connection; nil: as long as it takes.
        package var waiting: Duration?
        /// Ends everything that is asked, before any of these times; nil: nothing does.
        package var cutOff: PostgresCutOff?
        /// The pauses before a transaction is run again.
        package var pauses = PostgresPauses()
        /// How long a transaction waits for its turn before it goes on without.
        package var turnPatience = Duration.seconds(4)
        /// After so long without a statement the server ends a transaction that can write, and its connection: its process stands still.
        package var idling = PostgresConnection.idling
        /// Called before a transaction is run again because another one disturbed it.
        package var onRepeat: @Sendable () -> Void = {}

        package init() {}
    }

    private let pool: PostgresPool
    private let runner: PostgresRunner
    private let options: Options

    /// Connects, and brings the tables up to date. It holds the caller's thread.
    ///
    /// - Throws: ``PostgresOpenError``.
    package init(
        at address: PostgresAddress, _ schema: SQLSchema, options: Options = Options()
    ) throws(PostgresOpenError) {
        let connection = try PostgresConnection.open(
            address, schema: schema.name, connecting: options.connecting, patience: options.patience,
            cutOff: options.cutOff)
        try PostgresSteps(connection: connection, schema: schema).run(at: address)
        pool = PostgresPool(count: options.connectionCount, patience: options.waiting)
        self.options = options
        runner = PostgresRunner(address: address, schema: schema.name, options: options)
    }

    package func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await run(.snapshot, body)
    }

    package func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await run(.serializable, body)
    }

    package func writeInTurn<Value: Sendable>(
        on table: String, _ body: @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await run(.serializable, turn: PostgresTurn(table: table, options: options), body)
    }

    package func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try runNow(.snapshot, body)
    }

    package func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try runNow(.serializable, body)
    }

    package var nowExpression: String { Self.nowExpression }

    static let nowExpression = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)"

    /// Does nothing. PostgreSQL keeps deleted rows in its files until a vacuum has passed and the pages are written over, in its log until the
    /// segments are recycled, and for good in archives of the log, in standbys that lag, and in backups: their lifetime is the operator's.
    package func expunge() async throws {}

    /// Lets go of the connections. What has begun is finished first.
    package func close() { pool.close() }

    private func run<Value: Sendable>(
        _ isolation: PostgresIsolation, turn: PostgresTurn? = nil, _ body: @Sendable (SQLTransaction) throws -> Value
    ) async throws -> Value {
        let slot = try await pool.take()
        defer { pool.giveBack(slot) }
        return try await slot.thread.run { try runner.run(isolation, turn: turn, on: slot, body) }
    }

    private func runNow<Value>(
        _ isolation: PostgresIsolation, _ body: (SQLTransaction) throws -> Value
    ) throws -> Value {
        let slot = try pool.takeNow()
        defer { pool.giveBack(slot) }
        return try runner.run(isolation, on: slot, body)
    }
}
