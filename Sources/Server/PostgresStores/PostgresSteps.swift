// SPDX-License-Identifier: Apache-2.0

import SQLStores

/// Brings the tables of a schema up to date, in one transaction, and one server at a time.
///
/// `signet_steps` says which steps have run, and how many a program must know to use the tables.
struct PostgresSteps {
    let connection: PostgresConnection
    let schema: SQLSchema

    /// Runs what is missing.
    ///
    /// - Throws: ``PostgresOpenError``.
    func run(at address: PostgresAddress) throws(PostgresOpenError) {
        do {
            try connection.begin(.readCommitted)
            try lock()
            try prepare()
            try runMissing()
            try connection.commit()
        } catch let error as PostgresOpenError {
            connection.rollback()
            throw error
        } catch let failure as PostgresFailure {
            connection.rollback()
            throw Self.reported(failure, address)
        } catch {
            throw .unreachable(address: address.description, words: "the connection ended while tables were made")
        }
    }

    private static func reported(_ failure: PostgresFailure, _ address: PostgresAddress) -> PostgresOpenError {
        guard !failure.isLost, let state = failure.state else {
            return .unreachable(address: address.description, words: address.masked(failure.words))
        }
        return .refused(state: state, words: failure.words)
    }

    /// Only for this: two servers that start at once make the tables one after the other. It is given back with the transaction.
    private func lock() throws(PostgresFailure) {
        let name = PostgresConnection.literal("signet:\(schema.name)")
        _ = try connection.command("SELECT pg_advisory_xact_lock(hashtextextended(\(name), 0))")
    }

    private func prepare() throws {
        let name = PostgresConnection.literal(schema.name)
        let tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = \(name)"
        let isThere = try connection.command("SELECT 1 FROM pg_namespace WHERE nspname = \(name)").rowCount > 0
        if !isThere { _ = try connection.command("CREATE SCHEMA \(PostgresConnection.quoted(schema.name))") }
        let count = try connection.command(tables).rowCount
        if count == 0 {
            _ = try connection.command("CREATE TABLE signet_steps (name TEXT PRIMARY KEY, min_reader BIGINT NOT NULL)")
        } else if try connection.command(tables + " AND table_name = 'signet_steps'").rowCount == 0 {
            throw PostgresOpenError.notOurs(schema: schema.name)
        }
    }

    private func runMissing() throws {
        let answer = try connection.command("SELECT name, min_reader FROM signet_steps")
        let run = (0..<answer.rowCount).map { (answer.words($0, 0) ?? "", answer.words($0, 1).flatMap(Int.init)) }
        let known = Set(schema.steps.map(\.name))
        let needed = run.filter { !known.contains($0.0) }.map { $0.1 ?? .max }.max() ?? 0
        guard needed <= schema.steps.count else { throw PostgresOpenError.fromNewerVersion }
        let done = Set(run.map(\.0))
        for (place, step) in schema.steps.enumerated() where !done.contains(step.name) {
            _ = try connection.command(PortableSQL.definition(step.sql) + "\n;" + step.postgres)
            let reader = step.minimumReader ?? place + 1
            _ = try connection.command(
                "INSERT INTO signet_steps VALUES (\(PostgresConnection.literal(step.name)), \(reader))")
        }
    }
}
