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

    /// GRDB's initialisers from a sequence are generic code that it does not specialise, and one of them goes through a key path: with them
    /// the arguments cost more than the statement. Its literals are specialised.
    private static func given(_ arguments: [SQLValue]) -> StatementArguments {
        let all = arguments.map(stored)
        return switch all.count {
        case 0: []
        case 1: [all[0]]
        case 2: [all[0], all[1]]
        case 3: [all[0], all[1], all[2]]
        case 4: [all[0], all[1], all[2], all[3]]
        case 5: [all[0], all[1], all[2], all[3], all[4]]
        case 6: [all[0], all[1], all[2], all[3], all[4], all[5]]
        case 7: [all[0], all[1], all[2], all[3], all[4], all[5], all[6]]
        case 8: [all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7]]
        case 9: [all[0], all[1], all[2], all[3], all[4], all[5], all[6], all[7], all[8]]
        default: StatementArguments(all)
        }
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
