// SPDX-License-Identifier: Apache-2.0

package import SQLStores

/// What the front ends of a directory count and remember together, in the database that they share.
package struct SQLLimits: SharedMarks, AttemptCounter {
    /// The tables.
    package static let schema = SQLSchema(
        "limits",
        [
            SQLSchema.Step(
                "1: marks and attempts",
                """
                CREATE TABLE marks (               -- what was used, and may be used once
                    mark BLOB PRIMARY KEY,         -- 32 bytes
                    until INTEGER NOT NULL         -- seconds since 1970
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX marks_by_time ON marks (until);
                CREATE TABLE attempts (
                    name BLOB PRIMARY KEY,         -- 32 bytes that name neither account nor address
                    whole INTEGER NOT NULL         -- when all its attempts are there again, in milliseconds since 1970
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX attempts_by_time ON attempts (whole);
                """),
            SQLSchema.Step("2: secrets", SecretDigests.table, minimumReader: 1),
        ])

    private let database: any SQLDatabase
    private let clock: @Sendable () -> UInt64

    /// - Parameter clock: seconds since 1970.
    package init(_ database: any SQLDatabase, clock: @escaping @Sendable () -> UInt64) {
        self.database = database
        self.clock = clock
    }

    package func take(_ mark: [UInt8], until: UInt64) async throws -> Bool {
        let now = Int64(clamping: clock())
        return try await database.write { database in
            try database.run("DELETE FROM marks WHERE until < ?", [now])
            return try database.run(
                "INSERT INTO marks (mark, until) VALUES (?, ?) ON CONFLICT (mark) DO NOTHING",
                [mark, Int64(clamping: until)]) == 1
        }
    }

    package func take(_ keys: [AttemptKey]) async throws -> Bool {
        let expression = database.nowExpression
        return try await database.write { database in
            guard let now = try database.row("SELECT \(expression)")?.integer(0) else { return false }
            try database.run("DELETE FROM attempts WHERE whole < ?", [now])
            var (next, isTaken) = ([(AttemptKey, Int64)](), true)
            for key in keys {
                let found = try database.row("SELECT whole FROM attempts WHERE name = ?", [key.name])?.integer(0) ?? 0
                let latest = now + key.milliseconds * Int64(clamping: key.rate.burst)
                // Only a clock that was ahead has written that: it counts as no attempt left, and not as a longer wait.
                if found > latest {
                    try database.run("UPDATE attempts SET whole = ? WHERE name = ?", [latest, key.name])
                }
                let after = max(found, now) + key.milliseconds
                if after > latest { isTaken = false }
                next.append((key, after))
            }
            guard isTaken else { return false }
            for (key, whole) in next where key.milliseconds > 0 {
                try database.run(
                    """
                    INSERT INTO attempts (name, whole) VALUES (?, ?)
                    ON CONFLICT (name) DO UPDATE SET whole = excluded.whole
                    """, [key.name, whole])
            }
            return true
        }
    }

    package func giveBack(_ keys: [AttemptKey]) async throws {
        try await database.write { database in
            for key in keys {
                try database.run(
                    "UPDATE attempts SET whole = whole - ? WHERE name = ?", [key.milliseconds, key.name])
            }
        }
    }

    /// Whether every front end has this secret, or will have it: `isKnown(secret:digest:after:before:)`.
    package func isKnown(
        secret name: String, digest: [UInt8], after former: [[UInt8]] = [], before next: [UInt8]? = nil
    ) async throws -> Bool {
        try await database.write { try $0.isKnown(secret: name, digest: digest, after: former, before: next) }
    }

    package func close() { database.close() }
}

extension AttemptKey {
    /// After so long an attempt comes back; 0: there is no limit.
    fileprivate var milliseconds: Int64 { rate.burst == 0 ? 0 : Int64(clamping: rate.secondsPerAttempt) * 1000 }
}
