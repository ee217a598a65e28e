// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB

/// GRDB's connection, inside a transaction.
struct SQLiteConnection: SQLConnection {
    let database: Database

    func run(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Bool) throws -> Int {
        let statement = try database.cachedStatement(sql: sql)
        let given = StatementArguments(arguments.map(Self.stored))
        guard statement.columnCount > 0 else {
            try statement.execute(arguments: given)
            return database.changesCount
        }
        let rows = try Row.fetchCursor(statement, arguments: given)
        while let row = try rows.next() {
            guard try body(SQLRow(row.databaseValues.map(Self.value))) else { break }
        }
        return 0
    }

    private static func stored(_ value: SQLValue) -> DatabaseValue {
        switch value {
        case .null: .null
        case .integer(let integer): integer.databaseValue
        case .bytes(let bytes): Data(bytes).databaseValue
        case .text(let text): text.databaseValue
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
