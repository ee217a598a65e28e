// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
package import SQLStores

/// Copies the rows of one store from an SQLite file to an empty schema of a server or back, and compares them.
package struct TableCopy: Sendable {
    /// What did not go as it has to.
    package enum Fault: Error, Hashable, Sendable {
        /// A table has rows already where it is copied to.
        case notEmpty(table: String)
        /// A table has other rows here than there.
        case differs(table: String)
    }

    private let source: any SQLDatabase
    private let target: any SQLDatabase
    /// Whether the target is the file.
    private let isBack: Bool
    private var file: any SQLDatabase { isBack ? target : source }

    /// From a file to a server.
    package init(from source: any SQLDatabase, to target: any SQLDatabase) {
        self.source = source
        self.target = target
        isBack = false
    }

    /// From a server back to a file.
    package init(from source: any SQLDatabase, backTo file: any SQLDatabase) {
        self.source = source
        target = file
        isBack = true
    }

    /// Copies all rows in one transaction.
    ///
    /// - Parameters:
    ///   - isRepeated: whether what a copy has left that was interrupted may be removed first.
    ///   - seeded: tables that have rows from the moment they are made.
    /// - Returns: how many rows there were.
    /// - Throws: ``Fault``, `SQLFault`, or `DamagedRow`; then nothing was written.
    package func run(isRepeated: Bool, seeded: Set<String> = []) throws -> Int {
        let tables = try file.readNow { try Self.tables($0) }
        return try source.readNow { source in
            try target.writeNow { target in
                try Self.empty(tables, target) { isRepeated || seeded.contains($0) }
                // They would charge an account again for what it has paid for.
                let resting = isBack ? try Self.takeTriggers(target) : []
                if !isBack { try Self.setTriggers(of: tables, "DISABLE", target) }
                let count = try tables.reduce(0) { try $0 + copy($1, from: source, to: target) }
                if !isBack { try Self.setTriggers(of: tables, "ENABLE", target) }
                for trigger in resting { try target.run(trigger) }
                for table in tables { try isBack ? goOn(table, source, target) : advance(table, source, target) }
                return count
            }
        }
    }

    /// Compares all rows of both sides.
    ///
    /// - Returns: by which ``requireUnchanged(_:in:schema:)`` knows the rows of the source again.
    /// - Throws: ``Fault/differs(table:)``.
    @discardableResult
    package func compare() throws -> Rows {
        let tables = try file.readNow { try Self.tables($0) }
        let ours = try source.readNow { source in try tables.map { try digest($0, source, isServer: isBack) } }
        let theirs = try target.readNow { target in try tables.map { try digest($0, target, isServer: !isBack) } }
        for (table, (one, other)) in zip(tables, zip(ours, theirs)) where one != other {
            throw Fault.differs(table: table.name)
        }
        return Rows(tables: tables, digests: ours)
    }

    /// The rows of a store at one moment.
    package struct Rows: Sendable {
        fileprivate let tables: [Table]
        fileprivate let digests: [[UInt8]]
    }

    /// Keeps others from changing the tables of a server's schema until the transaction ends, and demands that they have the same rows as
    /// when they were copied.
    ///
    /// - Throws: ``Fault/differs(table:)``.
    package func requireUnchanged(_ rows: Rows, in transaction: SQLTransaction, schema: String) throws {
        let names = rows.tables.map { "\(schema).\($0.name)" }
        try transaction.run("LOCK TABLE \(names.joined(separator: ", ")) IN EXCLUSIVE MODE")
        for (table, digest) in zip(rows.tables, rows.digests) {
            guard try self.digest(table, transaction, isServer: true, schema: schema) == digest else {
                throw Fault.differs(table: table.name)
            }
        }
    }

    fileprivate struct Table: Sendable {
        let name: String
        let columns: [String]

        var list: String { columns.joined(separator: ", ") }
        var marks: String { columns.map { _ in "?" }.joined(separator: ", ") }
        var order: String { columns.indices.map { "\($0 + 1)" }.joined(separator: ", ") }
    }

    /// In the order in which they were made: a table stands after those that it refers to.
    private static func tables(_ file: SQLTransaction) throws -> [Table] {
        let names = try file.rows(
            """
            SELECT name FROM sqlite_master
            WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'grdb_migrations' ORDER BY rowid
            """
        ).map { try $0.text(0) }
        return try names.map { name in
            let columns = try file.rows("SELECT name FROM pragma_table_info(?) ORDER BY cid", [name])
            return Table(name: name, columns: try columns.map { try $0.text(0) })
        }
    }

    private static func empty(
        _ tables: [Table], _ target: SQLTransaction, where mayHaveRows: (String) -> Bool
    ) throws {
        for table in tables.reversed() {
            guard try target.row("SELECT 1 FROM \(table.name) LIMIT 1") != nil else { continue }
            guard mayHaveRows(table.name) else { throw Fault.notEmpty(table: table.name) }
            try target.run("DELETE FROM \(table.name)")
        }
    }

    // MARK: Triggers

    private static func setTriggers(of tables: [Table], _ state: String, _ server: SQLTransaction) throws {
        for table in tables { try server.run("ALTER TABLE \(table.name) \(state) TRIGGER USER") }
    }

    /// Takes a file's triggers out, and returns the statements that make them again.
    private static func takeTriggers(_ file: SQLTransaction) throws -> [String] {
        let triggers = try file.rows("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid")
        for trigger in triggers { try file.run("DROP TRIGGER \(try trigger.text(0))") }
        return try triggers.map { try $0.text(1) }
    }

    // MARK: Rows

    private func copy(_ table: Table, from source: SQLTransaction, to target: SQLTransaction) throws -> Int {
        var count = 0
        try each("SELECT \(table.list) FROM \(table.name)", as: table.name, source, isServer: isBack) { row in
            try target.run("INSERT INTO \(table.name) (\(table.list)) VALUES (\(table.marks))", row.values)
            count += 1
        }
        return count
    }

    /// Hands over the rows of a query. A server's whole answer is in memory at once, so it is asked for some rows at a time.
    private func each(
        _ query: String, as name: String, _ transaction: SQLTransaction, isServer: Bool, _ body: (SQLRow) throws -> Void
    ) throws {
        guard isServer else {
            return try transaction.each(query, []) { row in
                try body(row)
                return true
            }
        }
        let cursor = "of_\(name.replacing(".", with: "_"))"
        try transaction.run("DECLARE \(cursor) CURSOR FOR \(query)")
        while true {
            let rows = try transaction.rows("FETCH \(Self.rowsAtOnce) FROM \(cursor)")
            for row in rows { try body(row) }
            if rows.count < Self.rowsAtOnce { break }
        }
        try transaction.run("CLOSE \(cursor)")
    }

    private static let rowsAtOnce = 128

    // MARK: Numbers

    /// The next row of a server gets a number behind those that the file has given, also to rows that are gone.
    private func advance(_ table: Table, _ file: SQLTransaction, _ server: SQLTransaction) throws {
        guard let column = try Self.numbered(table, server), let last = try Self.lastNumber(table, column, file) else {
            return
        }
        _ = try server.row("SELECT setval(pg_get_serial_sequence('\(table.name)', '\(column)'), ?)", [last])
    }

    private static func lastNumber(_ table: Table, _ column: String, _ file: SQLTransaction) throws -> Int64? {
        let greatest = try file.row("SELECT MAX(\(column)) FROM \(table.name)")?.optionalInteger(0)
        guard try file.row("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'") != nil else { return greatest }
        let given = try file.row("SELECT seq FROM sqlite_sequence WHERE name = ?", [table.name])?.integer(0)
        return [greatest, given].compactMap(\.self).max()
    }

    /// The next row of a file gets a number behind those that the server has given.
    private func goOn(_ table: Table, _ server: SQLTransaction, _ file: SQLTransaction) throws {
        let isCounted = try file.row(
            "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND sql LIKE '%AUTOINCREMENT%'", [table.name]
        )
        guard isCounted != nil, let column = try Self.numbered(table, server) else { return }
        let last = try server.row(
            "SELECT pg_sequence_last_value(pg_get_serial_sequence('\(table.name)', '\(column)')::regclass)"
        )?.optionalInteger(0)
        let greatest = try file.row("SELECT MAX(\(column)) FROM \(table.name)")?.optionalInteger(0)
        guard let number = [last, greatest].compactMap(\.self).max() else { return }
        try file.run("DELETE FROM sqlite_sequence WHERE name = ?", [table.name])
        try file.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table.name, number])
    }

    /// The column that a server numbers; nil if there is none.
    private static func numbered(_ table: Table, _ server: SQLTransaction) throws -> String? {
        try server.row(
            """
            SELECT column_name FROM information_schema.columns
            WHERE table_schema = current_schema() AND table_name = ? AND is_identity = 'YES'
            """, [table.name])?.text(0)
    }

    private func digest(
        _ table: Table, _ database: SQLTransaction, isServer: Bool, schema: String? = nil
    ) throws -> [UInt8] {
        var hash = SHA256()
        let name = schema.map { "\($0).\(table.name)" } ?? table.name
        let query = "SELECT \(table.list) FROM \(name) ORDER BY \(table.order)"
        try each(query, as: name, database, isServer: isServer) { row in
            var writer = ByteWriter()
            for value in row.values {
                switch value {
                case .null: writer.write(UInt8(0))
                case .integer(let integer):
                    writer.write(UInt8(1))
                    writer.write(UInt64(bitPattern: integer))
                case .bytes(let bytes):
                    writer.write(UInt8(2))
                    writer.write(UInt64(bytes.count))
                    writer.write(bytes)
                case .text(let text):
                    writer.write(UInt8(3))
                    writer.write(UInt64(text.utf8.count))
                    writer.write(Array(text.utf8))
                }
            }
            hash.update(data: writer.bytes)
        }
        return Array(hash.finalize())
    }
}
