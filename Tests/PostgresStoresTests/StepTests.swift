// SPDX-License-Identifier: Apache-2.0

import Dispatch
import EngineLab
import PostgresStores
import SQLStores
import Synchronization
import Testing

/// How tables are made and changed while several servers start, of one version or of two.
@Suite(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here.")) struct StepTests {
    private let lent: LabDatabase

    init() throws { lent = try PostgresLab.database() }

    private static let first = SQLSchema.Step("1", "CREATE TABLE things (id INTEGER PRIMARY KEY) STRICT;")
    private static func second(_ reader: Int?) -> SQLSchema.Step {
        SQLSchema.Step("2", "ALTER TABLE things ADD COLUMN name TEXT", minimumReader: reader)
    }

    private func schema(_ steps: SQLSchema.Step...) -> SQLSchema { SQLSchema("steps", steps) }

    private func refusal(_ schema: SQLSchema) -> PostgresOpenError? {
        do { try PostgresDatabase(at: lent.address, schema).close() } catch { return error }
        return nil
    }

    private func steps() throws -> String? {
        try lent.administer("SELECT string_agg(name || ':' || min_reader, ' ' ORDER BY name) FROM steps.signet_steps")
    }

    @Test func serversThatStartAtOnceMakeTheTablesOnce() throws {
        let refusals = Mutex<[PostgresOpenError]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            if let refusal = refusal(schema(Self.first, Self.second(nil))) { refusals.withLock { $0.append(refusal) } }
        }
        #expect(refusals.withLock(\.self) == [])
        #expect(try steps() == "1:1 2:2")
    }

    @Test func anOlderProgramIsRefusedByANewerStep() throws {
        #expect(refusal(schema(Self.first)) == nil)
        #expect(refusal(schema(Self.first, Self.second(nil))) == nil)
        #expect(refusal(schema(Self.first)) == .fromNewerVersion)
        #expect(refusal(schema(Self.first, Self.second(nil))) == nil)
    }

    @Test func anOlderProgramGoesOnBesideAStepThatAllowsIt() throws {
        #expect(refusal(schema(Self.first, Self.second(1))) == nil)
        #expect(refusal(schema(Self.first)) == nil)
        #expect(try steps() == "1:1 2:1")
    }

    /// A table of this program's own is the sign that a group of tables is ours.
    @Test func tablesOfSomebodyElseAreLeftAlone() throws {
        try lent.administer("CREATE SCHEMA steps CREATE TABLE theirs (id BIGINT)")
        #expect(refusal(schema(Self.first)) == .notOurs(schema: "steps"))
        #expect(try lent.administer("SELECT count(*) FROM pg_tables WHERE schemaname = 'steps'") == "1")
    }

    @Test func aStepThatFailsLeavesNothing() throws {
        let broken = SQLSchema.Step("2", "ALTER TABLE nothing ADD COLUMN name TEXT")
        guard case .refused(state: "42P01", _) = refusal(schema(Self.first, broken)) else {
            Issue.record("not refused")
            return
        }
        #expect(try lent.administer("SELECT count(*) FROM pg_namespace WHERE nspname = 'steps'") == "0")
        #expect(refusal(schema(Self.first)) == nil)
    }

    /// Two stores in one database do not see each other's tables.
    @Test func eachStoreHasTablesOfItsOwn() async throws {
        let other = SQLSchema("others", [Self.first])
        let (one, two) = (try lent.open(schema(Self.first)), try lent.open(other))
        try await one.write { _ = try $0.run("INSERT INTO things VALUES (?)", [1]) }
        let count = try await two.read { try $0.row("SELECT COUNT(*) FROM things")?.integer(0) }
        #expect(count == 0)
    }
}
