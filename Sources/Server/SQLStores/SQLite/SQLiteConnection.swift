// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import GRDB

/// GRDB's connection, inside a transaction.
final class SQLiteConnection: SQLConnection {
    private let database: Database
    /// The statements whose rows are being read. Each of them has one place in its answer, so it is prepared anew for a use inside its own.
    private var reading: Set<String> = []

    init(database: Database) { self.database = database }

    func run(_ sql: String, _ arguments: [SQLValue], _ body: (SQLRow) throws -> Bool) throws -> Int {
        let isOutermost = reading.insert(sql).inserted
        defer { if isOutermost { reading.remove(sql) } }
        let statement =
            try isOutermost ? database.cachedStatement(sql: sql) : database.makeStatement(sql: sql)
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
