// SPDX-License-Identifier: Apache-2.0

import GRDB
import KeyTransparency
import TransparencyLog

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Brings the store of an earlier version of this program up to date, in the transaction that opens it.
enum StoreMigration {
    /// Version 1 had neither epochs nor histories. An empty history is one of which nothing is known yet.
    static func fromVersion1(_ db: Database) throws {
        let unknown = StoreRow.encode(LabelHead(.empty))
        let hexadecimal = unknown.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        try db.execute(
            sql: "ALTER TABLE pinned_peer ADD COLUMN history BLOB NOT NULL DEFAULT x'\(hexadecimal)'")
        try db.execute(
            sql: """
                ALTER TABLE own_record ADD COLUMN acts BLOB NOT NULL DEFAULT x'';
                ALTER TABLE own_record ADD COLUMN watch BLOB;
                """)
        try rewriteView("log_view", key: "origin", column: "view", in: db)
        try rewriteView("evidence", key: "number", column: "known", in: db)
        try rewriteView("evidence", key: "number", column: "received", in: db)
    }

    private static func rewriteView(_ table: String, key: String, column: String, in db: Database) throws {
        for row in try Row.fetchAll(db, sql: "SELECT \(key), \(column) FROM \(table)") {
            let (key, old): (DatabaseValue, Data) = (row[0], row[1])
            let view = try StoreRow.view(Array(old), hasEpoch: false)
            try db.execute(
                sql: "UPDATE \(table) SET \(column) = ? WHERE \(row.columnNames.first ?? "") = ?",
                arguments: [Data(StoreRow.encode(view)), key])
        }
    }
}
