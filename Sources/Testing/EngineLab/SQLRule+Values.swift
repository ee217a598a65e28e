// SPDX-License-Identifier: Apache-2.0

import SQLStores

extension SQLRule {
    private static let texts = [
        "", "'", "''", "\"", "?", "$1", "\\", "\\x00", "a\nb\r\t", "é", "e\u{301}", "𝄞 🏳️‍🌈", "\u{10FFFF}", "\u{FEFF}a",
        "x'00'",
    ]
    private static let numbers: [Int64] = [0, 1, -1, 255, 256, -256, .max, .min, 1 << 31, -(1 << 31), 1 << 32]
    private static let blobs: [[UInt8]] = [[], [0], [0, 0], Array(0...255), Array("'\\x".utf8)]

    func checkValues(_ database: some SQLDatabase) async throws {
        let rows = (0..<15).map { place in
            (
                Self.texts[place], Self.numbers[place % Self.numbers.count], Self.blobs[place % Self.blobs.count]
            )
        }
        for (text, number, blob) in rows {
            try await database.write {
                try $0.run("INSERT INTO things (name, number, blob) VALUES (?, ?, ?)", [text, number, blob])
            }
        }
        let found = try await database.read { try $0.rows("SELECT name, number, blob FROM things ORDER BY id") }
        try expect(found.map(\.values) == rows.map { [.text($0), .integer($1), .bytes($2)] })
        for (text, number, blob) in rows {
            let same = try await database.read {
                try $0.row(
                    "SELECT COUNT(*) FROM things WHERE name = ? AND number = ? AND blob = ?", [text, number, blob])
            }
            try expect(same?.integer(0) == 1)
        }
    }

    func checkStatements(_ database: some SQLDatabase) async throws {
        let add = "INSERT INTO counters VALUES (?, ?)"
        switch self {
        case .returningAnswersTheNewRow:
            let ids = try await database.write { transaction in
                try (0..<3).map { _ in
                    try transaction.row("INSERT INTO things (number) VALUES (7) RETURNING id, number")?.values
                }
            }
            try expect(ids == [1, 2, 3].map { [.integer($0), .integer(7)] })
        case .anInsertSaysItsNumber: try await checkNumbers(database)
        case .conflictsAreSettledByTheStatement:
            let upsert = "\(add) ON CONFLICT (id) DO UPDATE SET value = counters.value + excluded.value"
            for _ in 0..<3 { try await database.write { try $0.run(upsert, [1, 5]) } }
            let kept = try await database.write { try $0.run("\(add) ON CONFLICT DO NOTHING", [1, 9]) }
            try expect(kept == 0)
            try expect(await database.read { try $0.row("SELECT value FROM counters")?.integer(0) } == 15)
        case .readingMayStopEarly:
            try await fill(database, 10)
            let (seen, all) = try await database.write { transaction in
                var seen = 0
                try transaction.each("SELECT id FROM counters ORDER BY id", []) { _ in
                    seen += 1
                    return seen < 3
                }
                return (seen, try transaction.rows("SELECT id FROM counters").count)
            }
            try expect((seen, all) == (3, 10))
        case .aStatementIsUsedInsideItself: try await checkNesting(database)
        case .aViolationLeavesNothing:
            try await expectThrow(SQLFault.self) {
                try await database.write { transaction in
                    try transaction.run(add, [1, 0])
                    try transaction.run(add, [2, -1])
                }
            }
            try expect(await count(database, "counters") == 0)
        default: try await checkArguments(database)
        }
    }

    private func checkNumbers(_ database: some SQLDatabase) async throws {
        let add = "INSERT INTO things (name) VALUES (?) ON CONFLICT DO NOTHING"
        let pairs = try await database.write { transaction in
            try ["a", "b", "c"].map { name in
                let number = try transaction.insert(add, [name])
                return (name, number, try transaction.row("SELECT id FROM things WHERE name = ?", [name])?.integer(0))
            }
        }
        try expect(pairs.map(\.1) == [1, 2, 3] && pairs.allSatisfy { $0.1 == $0.2 })
        // No row was made, and the number of the one before is not this one's.
        try await expectThrow((any Error).self) { _ = try await database.write { try $0.insert(add, ["a"]) } }
        try expect(await count(database, "things") == 3)
    }

    private func checkNesting(_ database: some SQLDatabase) async throws {
        try await fill(database, 4)
        let pairs = try await database.read { transaction in
            var pairs: [[Int64]] = []
            let query = "SELECT id FROM counters WHERE id <= ? ORDER BY id"
            try transaction.each(query, [4]) { outer in
                let limit = try outer.integer(0)
                try transaction.each(query, [limit]) { inner in
                    pairs.append([limit, try inner.integer(0)])
                    return true
                }
                return true
            }
            return pairs
        }
        try expect(pairs == (1...4).flatMap { outer in (1...outer).map { [Int64(outer), Int64($0)] } })
    }

    private func checkArguments(_ database: some SQLDatabase) async throws {
        let add = "INSERT INTO counters VALUES (?, ?)"
        switch self {
        case .numbersOfArgumentsAreKept:
            let row = try await database.read {
                try $0.row(
                    "SELECT CAST(?2 AS BIGINT), CAST(?1 AS BIGINT), CAST(?2 AS BIGINT), CAST(? AS BIGINT)", [1, 2, 3])
            }
            try expect(row?.values == [2, 1, 2, 3].map { .integer($0) })
        case .aQuestionMarkInALiteralIsNoArgument:
            let row = try await database.read { transaction in
                try transaction.row(
                    """
                    SELECT '? it''s ?', x'3f', -- what ?
                        CAST(? AS TEXT) /* ? */ AS "a ?"
                    """, ["yes?"])
            }
            try expect(row?.values == [.text("? it's ?"), .bytes([0x3F]), .text("yes?")])
        case .changesAreCounted:
            try await fill(database, 5)
            let counts = try await database.write { transaction in
                [
                    try transaction.run("UPDATE counters SET value = 1 WHERE id <= ?", [3]),
                    try transaction.run("DELETE FROM counters WHERE id > ?", [4]),
                    try transaction.run("DELETE FROM counters WHERE id > ?", [4]),
                ]
            }
            try expect(counts == [3, 1, 0])
        case .textIsOrderedByItsBytes:
            let names = ["B", "a", "é", "Z", "_", "𝄞", "\u{FFFD}"]
            for name in names {
                try await database.write { try $0.run("INSERT INTO things (name) VALUES (?)", [name]) }
            }
            let found = try await database.read { transaction in
                try transaction.rows("SELECT name FROM things ORDER BY name").map { try $0.text(0) }
            }
            try expect(found == names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) })
        case .whatIsReadHoldsTheThread:
            var written = 0
            try database.writeNow { written = try $0.run(add, [1, 2]) }
            try expect(written == 1 && database.readNow { try $0.row("SELECT value FROM counters")?.integer(0) } == 2)
        default: throw Broken(rule: self, line: #line)
        }
    }

    func fill(_ database: some SQLDatabase, _ count: Int) async throws {
        try await database.write { transaction in
            for id in 1...count { try transaction.run("INSERT INTO counters VALUES (?, 0)", [id]) }
        }
    }
}
