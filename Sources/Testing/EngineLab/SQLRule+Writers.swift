// SPDX-License-Identifier: Apache-2.0

import SQLStores
import Synchronization

extension SQLRule {
    private static let value = "SELECT value FROM counters WHERE id = ?"
    private static let set = "UPDATE counters SET value = ? WHERE id = ?"

    func checkWriters(_ database: some SQLDatabase) async throws {
        try await fill(database, 2)
        if self == .aCounterCountsEveryWriter { return try await checkCounter(database) }
        // Each of the two may be set only while the other is not; both look first.
        for _ in 0..<20 {
            try await database.write { _ = try $0.run("UPDATE counters SET value = 0") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (own, other) in [(1, 2), (2, 1)] {
                    group.addTask {
                        try await database.write { transaction in
                            guard try transaction.row(Self.value, [other])?.integer(0) == 0 else { return }
                            try transaction.run(Self.set, [1, own])
                        }
                    }
                }
                try await group.waitForAll()
            }
            let sum = try await database.read { try $0.row("SELECT CAST(SUM(value) AS BIGINT) FROM counters") }
            try expect(sum?.integer(0) == 1)
        }
    }

    private func checkCounter(_ database: some SQLDatabase) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<50 {
                        try await database.write { transaction in
                            let value = try transaction.row(Self.value, [1])?.integer(0) ?? 0
                            try transaction.run(Self.set, [value + 1, 1])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try expect(await database.read { try $0.row(Self.value, [1])?.integer(0) } == 400)
    }

    /// Two rows always change together; whoever reads them one after the other sees them alike.
    func checkReader(_ database: some SQLDatabase) async throws {
        try await fill(database, 2)
        async let written: Void = {
            for value in 1...100 {
                try await database.write { try $0.run("UPDATE counters SET value = ?", [value]) }
            }
        }()
        for _ in 0..<100 {
            let (first, second) = try await database.read { transaction in
                (try transaction.row(Self.value, [1]), try transaction.row(Self.value, [2]))
            }
            try expect(first == second)
        }
        try await written
    }

    func checkClosing(_ database: some SQLDatabase) async throws {
        if self == .aClosedDatabaseRefuses {
            try await fill(database, 1)
            database.close()
            try await expectThrow(SQLFault.self) { _ = try await count(database, "counters") }
            try await expectThrow(SQLFault.self) { try await database.write { _ = try $0.run("DELETE FROM counters") } }
            return
        }
        let row = try await database.write { transaction in
            try transaction.run("INSERT INTO counters VALUES (1, 6)")
            database.close()
            return try transaction.row("SELECT value FROM counters")
        }
        try expect(row?.integer(0) == 6)
    }
}
