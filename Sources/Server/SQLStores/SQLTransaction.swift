// SPDX-License-Identifier: Apache-2.0

import DurableStorage

/// A connection of one engine, inside a transaction. Only ``SQLTransaction`` uses it.
package protocol SQLConnection {
    /// Runs a statement that is prepared once, and hands over its rows until `body` returns false.
    ///
    /// - Returns: how many rows a statement that writes has changed.
    func run(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Bool) throws -> Int

    /// Runs an `INSERT` of one row into a table whose column `id` numbers its rows, and says which number the row has.
    ///
    /// - Throws: `DamagedRow`: no row was made, or more than one.
    func insert(_ sql: String, _ arguments: [SQLValue]) throws -> Int64
}

extension SQLConnection {
    package func insert(_ sql: String, _ arguments: [SQLValue]) throws -> Int64 {
        var numbers: [SQLRow] = []
        // To its end: an engine may look for broken references after the last row.
        _ = try run(sql + " RETURNING id", arguments) { row in
            numbers.append(row)
            return true
        }
        guard numbers.count == 1 else { throw DamagedRow() }
        return try numbers[0].integer(0)
    }
}

/// One transaction: what it reads is of one moment, and what it writes is written whole or not at all.
///
/// Statements are written in the subset that SQLite 3.40 and PostgreSQL 15 read alike: `insert` instead of the last number, `ON CONFLICT … DO
/// UPDATE` instead of `INSERT OR REPLACE`, `COALESCE` instead of `IFNULL`, `CAST(SUM(…) AS BIGINT)` instead of `SUM(…)`, and columns of
/// the excluded row and of the present one by their full names. `Documentation/storage.md` has the list.
package struct SQLTransaction {
    private let connection: any SQLConnection

    package init(_ connection: any SQLConnection) { self.connection = connection }

    /// A name as both engines read it in a statement, whatever is in it.
    package static func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }

    /// The first row of a query, or of a statement with `RETURNING`.
    package func row(_ sql: String, _ arguments: SQLArguments = []) throws -> SQLRow? {
        var first: SQLRow?
        try each(sql, arguments) { row in
            first = row
            return false
        }
        return first
    }

    /// All rows of a query.
    package func rows(_ sql: String, _ arguments: SQLArguments = []) throws -> [SQLRow] {
        var rows: [SQLRow] = []
        try each(sql, arguments) { row in
            rows.append(row)
            return true
        }
        return rows
    }

    /// Hands over the rows of a query one by one, until `body` returns false.
    package func each(_ sql: String, _ arguments: SQLArguments, _ body: (SQLRow) throws -> Bool) throws {
        _ = try connection.run(sql, arguments.map { $0?.sqlValue ?? .null }, body)
    }

    /// Runs an `INSERT` of one row into a table whose column `id` numbers its rows. It has no `RETURNING`: each engine has its own way to say
    /// the number.
    ///
    /// - Returns: the row's number.
    /// - Throws: `DamagedRow`: no row was made, or more than one.
    package func insert(_ sql: String, _ arguments: SQLArguments) throws -> Int64 {
        try connection.insert(sql, arguments.map { $0?.sqlValue ?? .null })
    }

    /// Runs a statement that gives no rows.
    ///
    /// - Returns: how many rows it has changed.
    @discardableResult
    package func run(_ sql: String, _ arguments: SQLArguments = []) throws -> Int {
        try connection.run(sql, arguments.map { $0?.sqlValue ?? .null }) { _ in true }
    }
}
