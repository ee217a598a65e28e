// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB

/// GRDB's connection, inside a transaction.
final class SQLiteConnection: SQLConnection {
    private let database: Database
    /// The statements whose rows are being read. Each of them has one place in its answer, so it is prepared anew for a use inside its own.
    private var reading: [Statement] = []

    init(database: Database) { self.database = database }

    func run(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Bool) throws -> Int {
        let statement = try idleStatement(sql)
        guard statement.columnCount > 0 else {
            try statement.execute(arguments: Self.given(arguments))
            return database.changesCount
        }
        reading.append(statement)
        defer { reading.removeLast() }
        let rows = try Row.fetchCursor(statement, arguments: Self.given(arguments))
        while let row = try rows.next() {
            guard try body(SQLRow(row.databaseValues.map(Self.value))) else { break }
        }
        return 0
    }

    /// `RETURNING` would have SQLite make a table in memory for the answer of every statement.
    func insert(_ sql: String, _ arguments: [SQLValue]) throws -> Int64 {
        try idleStatement(sql).execute(arguments: Self.given(arguments))
        guard database.changesCount == 1 else { throw DamagedRow() }
        return database.lastInsertedRowID
    }

    private func idleStatement(_ sql: String) throws -> Statement {
        let statement = try database.cachedStatement(sql: sql)
        return reading.contains { $0 === statement } ? try database.makeStatement(sql: sql) : statement
    }

    /// As existential values: what GRDB makes of a sequence of one type goes through a key path, which costs more than the statement.
    private static func given(_ arguments: [SQLValue]) -> StatementArguments {
        StatementArguments(arguments.map(stored))
    }

    private static func stored(_ value: SQLValue) -> (any DatabaseValueConvertible)? {
        switch value {
        case .null: nil
        case .integer(let integer): integer
        case .bytes(let bytes): Data(bytes)
        case .text(let text): text
        }
    }

    private static func value(_ stored: DatabaseValue) throws -> SQLValue {
        switch stored.storage {
        case .null: .null
        case .int64(let integer): .integer(integer)
        case .blob(let bytes): .bytes(Array(bytes))
        case .string(let text): .text(text)
        case .double: throw DamagedRow()
        }
    }
}
