// SPDX-License-Identifier: Apache-2.0

package import SQLStores

/// What every engine does alike, as one suite for all of them. A test target runs ``check(_:)`` of every case on each engine, each time on an empty
/// database with the tables of ``schema``.
package enum SQLRule: String, CaseIterable, Sendable {
    case valuesComeBackAsTheyWere
    case nullComesBack
    case aThrowLeavesNothing
    case aCounterCountsEveryWriter
    case writeSkewIsPrevented
    case aReaderSeesOneState
    case returningAnswersTheNewRow
    case anInsertSaysItsNumber
    case conflictsAreSettledByTheStatement
    case readingMayStopEarly
    case aStatementIsUsedInsideItself
    case aViolationLeavesNothing
    case numbersOfArgumentsAreKept
    case aQuestionMarkInALiteralIsNoArgument
    case changesAreCounted
    case aBigRowComesBack
    case textIsOrderedByItsBytes
    case whatIsReadHoldsTheThread
    case aClosedDatabaseRefuses
    case whatHasBegunIsFinishedAfterClose

    /// The tables that the rules use.
    package static let schema = SQLSchema(
        "rules",
        [
            SQLSchema.Step(
                "1: things",
                """
                CREATE TABLE things (
                    id INTEGER PRIMARY KEY AUTOINCREMENT,
                    name TEXT UNIQUE,
                    number INTEGER,
                    blob BLOB
                ) STRICT;
                CREATE TABLE counters (id INTEGER PRIMARY KEY, value INTEGER NOT NULL CHECK (value >= 0)) STRICT;
                """)
        ])

    /// A rule that an engine breaks.
    package struct Broken: Error, CustomStringConvertible {
        let rule: SQLRule
        let line: Int
        package var description: String { "\(rule.rawValue), line \(line) of the suite" }
    }

    /// What a transaction of the suite throws on purpose.
    struct OnPurpose: Error {}

    /// Tries the rule on an empty database.
    ///
    /// - Throws: ``Broken``, or any error of the engine.
    package func check(_ database: some SQLDatabase) async throws {
        switch self {
        case .valuesComeBackAsTheyWere: try await checkValues(database)
        case .nullComesBack:
            let row = try await database.write { transaction in
                try transaction.run("INSERT INTO things (name, number, blob) VALUES (?, ?, ?)", [nil, nil, nil])
                return try transaction.row("SELECT name, number, blob FROM things")
            }
            try expect(row?.values == [.null, .null, .null])
        case .aThrowLeavesNothing:
            try await expectThrow(OnPurpose.self) {
                try await database.write { transaction in
                    try transaction.run("INSERT INTO counters VALUES (1, 0)")
                    throw OnPurpose()
                }
            }
            try expect(await count(database, "counters") == 0)
            try await database.write { try $0.run("INSERT INTO counters VALUES (1, 0)") }
            try expect(await count(database, "counters") == 1)
        case .aReaderSeesOneState: try await checkReader(database)
        case .aBigRowComesBack:
            let bytes = [UInt8](repeating: 0xA5, count: 8 << 20)
            try await database.write { try $0.run("INSERT INTO things (blob) VALUES (?)", [bytes]) }
            let row = try await database.read { try $0.row("SELECT blob FROM things") }
            try expect(row?.bytes(0) == bytes)
        case .aCounterCountsEveryWriter, .writeSkewIsPrevented: try await checkWriters(database)
        case .aClosedDatabaseRefuses, .whatHasBegunIsFinishedAfterClose: try await checkClosing(database)
        default: try await checkStatements(database)
        }
    }

    func expect(_ holds: Bool, line: Int = #line) throws {
        guard holds else { throw Broken(rule: self, line: line) }
    }

    func expectThrow<Failure: Error>(
        _ type: Failure.Type, line: Int = #line, _ body: () async throws -> Void
    ) async throws {
        do { try await body() } catch is Failure { return }
        throw Broken(rule: self, line: line)
    }

    func count(_ database: some SQLDatabase, _ table: String) async throws -> Int64? {
        try await database.read { try $0.row("SELECT COUNT(*) FROM \(table)")?.integer(0) }
    }
}
