// SPDX-License-Identifier: Apache-2.0

import EngineLab
import Foundation
import PostgresStores
import SQLStores
import SeededRandomness
import Testing

/// The same random statements on SQLite and on PostgreSQL: each answer alike, and all rows alike.
@Suite(.enabled(if: PostgresLab.isPresent, "There is no PostgreSQL 15 here.")) struct DifferentialTests {
    /// A transaction. The numbers that an engine gives to rows are not compared: PostgreSQL leaves some out.
    enum Operation: Sendable {
        case insert(name: String?, number: Int64?, blob: [UInt8]?)
        case merge(name: String, number: Int64)
        case remove(below: Int64)
        case change(number: Int64, name: String)
        /// A counter that must not become negative.
        case count(id: Int64, by: Int64)
        case sums
        case page(after: String, limit: Int)
        case numbers(divisor: Int64)
        case blobs(below: [UInt8])
        /// Two of them, and then nothing of either.
        case abandoned(String)
    }

    private static let names = ["", "a", "B", "b", "é", "Z", "𝄞", "'", "?", "\\x00", "a b", "\u{FFFD}"]

    private static func operation(_ generator: inout SeededGenerator) -> Operation {
        let name = names.randomElement(using: &generator) ?? ""
        let number = Int64.random(in: -20...20, using: &generator)
        let blob = generator.bytes(Int(generator.next() % 4))
        switch generator.next() % 12 {
        case 0, 1, 2:
            return .insert(
                name: generator.next() % 4 == 0 ? nil : name, number: generator.next() % 5 == 0 ? nil : number,
                blob: generator.next() % 5 == 0 ? nil : blob)
        case 3, 4: return .merge(name: name, number: number)
        case 5: return .remove(below: number - 12)
        case 6: return .change(number: number, name: name)
        case 7: return .count(id: number % 4, by: Int64.random(in: -3...3, using: &generator))
        case 8: return .sums
        case 9: return .page(after: name, limit: Int(generator.next() % 5))
        case 10: return generator.next() % 2 == 0 ? .numbers(divisor: number) : .blobs(below: blob)
        default: return .abandoned(name)
        }
    }

    private struct Abandoned: Error {}

    /// What an engine answers; the reasons of refusals are its own.
    private static func perform(_ operation: Operation, _ database: any SQLDatabase) async throws -> String {
        do {
            return try await database.write { "\(try answer(to: operation, $0).map(\.values))" }
        } catch is SQLFault { return "refused" } catch is Abandoned { return "abandoned" }
    }

    private static func answer(to operation: Operation, _ transaction: SQLTransaction) throws -> [SQLRow] {
        switch operation {
        case .insert(let name, let number, let blob):
            return try transaction.rows(
                "INSERT INTO things (name, number, blob) VALUES (?, ?, ?) RETURNING name, number, blob",
                [name, number, blob])
        case .merge(let name, let number):
            return try transaction.rows(
                """
                INSERT INTO things (name, number) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE
                SET number = COALESCE(things.number, 0) + excluded.number WHERE things.number IS NULL OR things.number < 50
                RETURNING number
                """, [name, number])
        case .remove(let number): return [changed(try transaction.run("DELETE FROM things WHERE number < ?", [number]))]
        case .change(let number, let name):
            return [
                changed(
                    try transaction.run(
                        "UPDATE things SET name = ? WHERE id = (SELECT MIN(id) FROM things WHERE number = ?)",
                        [name, number]))
            ]
        case .count(let id, let step):
            return try transaction.rows(
                """
                INSERT INTO counters VALUES (?1, 0) ON CONFLICT (id) DO UPDATE SET value = counters.value + ?2
                RETURNING value
                """, [id, step])
        default: return try found(operation, transaction)
        }
    }

    private static func found(_ operation: Operation, _ transaction: SQLTransaction) throws -> [SQLRow] {
        switch operation {
        case .sums:
            return try transaction.rows(
                """
                SELECT COUNT(*), COUNT(number), CAST(SUM(number) AS BIGINT), MIN(name), MAX(name), MAX(length(blob))
                FROM things
                """)
        case .page(let name, let limit):
            return try transaction.rows(
                "SELECT name, number FROM things WHERE name > ? ORDER BY name LIMIT ?", [name, limit])
        case .numbers(let divisor):
            guard divisor != 0 else { return [] }
            return try transaction.rows(
                """
                SELECT number / ?1, number % ?1, CASE WHEN number < 0 THEN 'less' ELSE name END FROM things
                WHERE number IS NOT NULL ORDER BY id
                """, [divisor])
        case .blobs(let bytes):
            return try transaction.rows("SELECT blob FROM things WHERE blob < ? ORDER BY blob, id", [bytes])
        case .abandoned(let name):
            try transaction.run("DELETE FROM things WHERE name = ?", [name])
            try transaction.run("DELETE FROM counters")
            throw Abandoned()
        default: return []
        }
    }

    private static func changed(_ count: Int) -> SQLRow { SQLRow([.integer(Int64(count))]) }

    private static func subject(_ database: any SQLDatabase) -> DifferentialRun<Operation>.Subject {
        DifferentialRun.Subject {
            try await perform($0, database)
        } contents: {
            try await database.read { transaction in
                let things = try transaction.rows("SELECT name, number, blob FROM things ORDER BY id")
                let counters = try transaction.rows("SELECT id, value FROM counters ORDER BY id")
                return "\((things + counters).map(\.values))"
            }
        }
    }

    @Test(arguments: UInt64(1)...12) func randomStatementsAnswerAlike(seed: UInt64) async throws {
        var options = PostgresDatabase.Options()
        options.pauses = PostgresPauses(sleep: { _ in })
        let server = try PostgresLab.database().open(SQLRule.schema, options: options)
        let file = try LabPlace(on: .sqlite).open(SQLRule.schema)
        defer { (server.close(), file.close()) }
        try await DifferentialRun(Self.operation).run(seed: seed, steps: 500, Self.subject(file), Self.subject(server))
    }

    /// The runner itself: subjects that differ are found, by an answer and by what they hold.
    @Test func aDifferenceIsFound() async throws {
        typealias Run = DifferentialRun<UInt64>
        let honest = Run.Subject {
            "\($0)"
        } contents: {
            "same"
        }
        let wrong = Run.Subject {
            $0 % 50 == 7 ? "other" : "\($0)"
        } contents: {
            "same"
        }
        let forgetful = Run.Subject {
            "\($0)"
        } contents: {
            "less"
        }
        let run = Run { $0.next() }
        try await run.run(seed: 1, steps: 1000, honest, honest)
        await #expect(throws: Run.Difference.self) { try await run.run(seed: 1, steps: 1000, honest, wrong) }
        await #expect(throws: Run.Difference.self) { try await run.run(seed: 1, steps: 150, honest, forgetful) }
    }
}
