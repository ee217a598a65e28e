// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
package import SQLStores

/// Copies the rows of one store from an SQLite file to an empty schema of a server, and compares them.
package struct TableCopy: Sendable {
    /// What did not go as it has to.
    package enum Fault: Error, Hashable, Sendable {
        /// A table of the server has rows already.
        case notEmpty(table: String)
        /// A table has other rows here than there.
        case differs(table: String)
    }

    private let source: any SQLDatabase
    private let target: any SQLDatabase

    package init(from source: any SQLDatabase, to target: any SQLDatabase) {
        self.source = source
        self.target = target
    }

    /// Copies all rows in one transaction.
    ///
    /// - Parameters:
    ///   - isRepeated: whether what a copy has left that was interrupted may be removed first.
    ///   - seeded: tables that have rows from the moment they are made.
    /// - Returns: how many rows there were.
    /// - Throws: ``Fault``, `SQLFault`, or `DamagedRow`; then nothing was written.
    package func run(isRepeated: Bool, seeded: Set<String> = []) throws -> Int {
        try source.readNow { source in
            let tables = try Self.tables(source)
            return try target.writeNow { target in
                try Self.empty(tables, target) { isRepeated || seeded.contains($0) }
                // They would charge an account again for what it has paid for.
                for table in tables { try target.run("ALTER TABLE \(table.name) DISABLE TRIGGER USER") }
                let count = try tables.reduce(0) { try $0 + Self.copy($1, from: source, to: target) }
                for table in tables { try target.run("ALTER TABLE \(table.name) ENABLE TRIGGER USER") }
                for table in tables { try Self.advance(table, target) }
                return count
            }
        }
    }

    /// Compares all rows of both sides.
    ///
    /// - Throws: ``Fault/differs(table:)``.
    package func compare() throws {
        let tables = try source.readNow { try Self.tables($0) }
        let ours = try source.readNow { source in try tables.map { try Self.digest($0, source) } }
        let theirs = try target.readNow { target in try tables.map { try Self.digest($0, target) } }
        for (table, (one, other)) in zip(tables, zip(ours, theirs)) where one != other {
            throw Fault.differs(table: table.name)
        }
    }

    private struct Table {
        let name: String
        let columns: [String]

        var list: String { columns.joined(separator: ", ") }
        var marks: String { columns.map { _ in "?" }.joined(separator: ", ") }
        var order: String { columns.indices.map { "\($0 + 1)" }.joined(separator: ", ") }
    }

    /// In the order in which they were made: a table stands after those that it refers to.
    private static func tables(_ database: SQLTransaction) throws -> [Table] {
        let names = try database.rows(
            """
            SELECT name FROM sqlite_master
            WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'grdb_migrations' ORDER BY rowid
            """
        ).map { try $0.text(0) }
        return try names.map { name in
            let columns = try database.rows("SELECT name FROM pragma_table_info(?) ORDER BY cid", [name])
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

    private static func copy(_ table: Table, from source: SQLTransaction, to target: SQLTransaction) throws -> Int {
        var count = 0
        try source.each("SELECT \(table.list) FROM \(table.name)", []) { row in
            try target.run("INSERT INTO \(table.name) (\(table.list)) VALUES (\(table.marks))", row.values)
            count += 1
            return true
        }
        return count
    }

    /// The next row gets a number behind those that were copied.
    private static func advance(_ table: Table, _ target: SQLTransaction) throws {
        let identities = try target.rows(
            """
            SELECT column_name FROM information_schema.columns
            WHERE table_schema = current_schema() AND table_name = ? AND is_identity = 'YES'
            """, [table.name]
        ).map { try $0.text(0) }
        for column in identities {
            _ = try target.row(
                """
                SELECT setval(pg_get_serial_sequence('\(table.name)', '\(column)'), MAX(\(column)))
                FROM \(table.name) HAVING COUNT(*) > 0
                """)
        }
    }

    private static func digest(_ table: Table, _ database: SQLTransaction) throws -> [UInt8] {
        var hash = SHA256()
        try database.each("SELECT \(table.list) FROM \(table.name) ORDER BY \(table.order)", []) { row in
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
            return true
        }
        return Array(hash.finalize())
    }
}
