// SPDX-License-Identifier: Apache-2.0

import GRDB
public import TransparencyLog

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension SQLiteStore {
    /// Replaces the record of this device's own account if it is still `expected`, and keeps a submission, in one transaction.
    ///
    /// - Throws: ``StoreError``.
    public func setOwnRecord(
        _ record: OwnRecord, keeping submission: KeptSubmission, of origin: KeyName, replacing expected: OwnRecord
    ) async throws(StoreError) -> Bool {
        try await write { db in
            guard try Self.ownRecord(in: db) == expected else { return false }
            try Self.setOwnRecord(record, in: db)
            try db.execute(
                sql: "INSERT OR REPLACE INTO kept_submission VALUES (?, ?, ?, ?, ?)",
                arguments: [
                    Data(origin.bytes), Int64(bitPattern: submission.version), Int64(bitPattern: submission.index),
                    Data(submission.submission), Data(submission.signature),
                ])
            try db.execute(
                sql: """
                    DELETE FROM kept_submission WHERE (origin, version) NOT IN
                    (SELECT origin, version FROM kept_submission ORDER BY version DESC LIMIT ?)
                    """, arguments: [KeptSubmission.maximumCount])
            return true
        }
    }

    /// The submissions kept of a log, the oldest version first.
    ///
    /// - Throws: ``StoreError``.
    public func keptSubmissions(of origin: KeyName) async throws(StoreError) -> [KeptSubmission] {
        try await read { db in
            try Row.fetchAll(
                db, sql: "SELECT * FROM kept_submission WHERE origin = ? ORDER BY version",
                arguments: [Data(origin.bytes)]
            ).map { row in
                KeptSubmission(
                    version: try row.number("version"), index: try row.number("log_index"),
                    submission: try row.bytes("submission"), signature: try row.bytes("signature"))
            }
        }
    }
}
