// SPDX-License-Identifier: Apache-2.0

import DurableStorage
public import KeyTransparency
import NoteLog
import SQLStores

extension NoteArchive {
    /// Erases everything that is kept of an account: its notes, for all members; its membership in others' notes; its
    /// keys, wraps, heads and feed. What is overwritten in a file is gone from it; the write-ahead file is emptied. A database server keeps
    /// copies for as long as its operator lets it: in pages that it has not reused, in its log and in backups.
    ///
    /// What the account wrote into notes of others stays there: their histories are signed chains.
    ///
    /// - Parameter keepsPlace: whether the account goes on, with an empty feed that does not restart, so that its
    ///   devices do not take the erasure for a server that went back. If not, this archive makes nothing for the handle for ten minutes.
    /// - Throws: ``NoteStoreError``; repeating the call completes it.
    public func erase(_ handle: Handle, keepsPlace: Bool) async throws(NoteStoreError) {
        if !keepsPlace { database.refuse(handle, at: clock()) }
        try await write { transaction in
            guard let account = try transaction.database.account(handle) else { return }
            try transaction.eraseNotes(of: account, payer: keepsPlace ? account : nil)
            if keepsPlace {
                try transaction.empty(account)
            } else {
                try transaction.run("DELETE FROM accounts WHERE id = ?", [account])
            }
        }
        try await database.expunge()
    }

    /// Keeps notes for a handle again at once: after an erasure of ``erase(_:keepsPlace:)`` it has another holder.
    public func admit(_ handle: Handle) { database.admit(handle) }

    /// The bytes that count for an account's quota; 0 if it never used the notes.
    public func usedByteCount(of handle: Handle) async throws(NoteStoreError) -> UInt64 {
        try await database.read { database in
            try database.row("SELECT bytes FROM accounts WHERE handle = ?", [handle.bytes])?.count(0) ?? 0
        }
    }
}

extension NoteArchive {
    /// The most bytes of a quota.
    public static let maximumQuota = UInt64(1) << 50

    /// The quota that was set for an account alone, in bytes; nil if it has that of all.
    public func quota(of handle: Handle) async throws(NoteStoreError) -> UInt64? {
        try await database.read { database in
            try database.row("SELECT quota FROM accounts WHERE handle = ?", [handle.bytes])?.optionalInteger(0)
                .map { UInt64(clamping: $0) }
        }
    }

    /// Sets the quota of an account. Below what the account uses, it keeps what it has, and writes nothing more.
    ///
    /// - Parameter byteCount: at most ``maximumQuota``; nil for that of all.
    /// - Throws: ``NoteStoreError``: ``NoteStoreError/unavailable`` for an account that was erased.
    public func setQuota(_ byteCount: UInt64?, of handle: Handle) async throws(NoteStoreError) {
        let quota = byteCount.map { Int64(clamping: min($0, Self.maximumQuota)) }
        try await write { transaction in
            let account = try transaction.account(handle)
            try transaction.run("UPDATE accounts SET quota = ? WHERE id = ?", [quota, account])
        }
    }
}

extension NoteTransaction {
    /// Notes that are erased cost nothing any more, but what their members are told does: or to share and erase in turn would fill the
    /// disk for nothing.
    fileprivate func eraseNotes(of account: Int64, payer: Int64?) throws {
        for row in try database.rows("SELECT id, name, deleted FROM notes WHERE owner = ? ORDER BY id", [account]) {
            guard let name = NoteID(try row.bytes(1)) else { throw DamagedRow() }
            let id = try row.integer(0)
            let others = try database.rows(
                "SELECT account FROM members WHERE note = ? AND account <> ? ORDER BY account", [id, account])
            try run("DELETE FROM notes WHERE id = ?", [id])
            guard try row.optionalInteger(2) == nil else { continue }
            for other in others { try append(.gone(name), to: other.integer(0), payer: payer) }
        }
    }

    /// Everything that an account has is in its feed, too.
    fileprivate func empty(_ account: Int64) throws {
        let isEmpty = try database.row(
            """
            SELECT 1 FROM accounts WHERE id = ? AND newest = trimmed
            AND NOT EXISTS (SELECT 1 FROM feed WHERE account = accounts.id)
            """, [account])
        guard isEmpty == nil else { return }
        for table in ["feed", "device_wraps", "heads", "pushes", "members"] {
            try run("DELETE FROM \(table) WHERE account = ?", [account])
        }
        try run("DELETE FROM records WHERE recipient = ?", [account])
        try run(
            """
            UPDATE accounts SET newest = newest + 1, trimmed = newest + 1, keys_version = keys_version + 1,
            login = NULL, password = NULL, recovery = NULL, head_notes = NULL WHERE id = ?
            """, [account])
    }

    /// Drops deleted notes and notices of lost ones that are older than tombstones are kept, and old names of pushes.
    /// A device that has not asked for that long begins again. Every statement finds its rows by an index and changes no others, so that on a
    /// server the writers of other rows need not begin anew.
    func purge(_ limits: NoteLimits) throws {
        let oldest = time - Int64(clamping: limits.tombstones)
        try run(
            """
            UPDATE accounts SET trimmed = dropped.position FROM (
                SELECT expired.account, MAX(expired.position) AS position FROM (
                    SELECT feed.account, feed.position FROM notes JOIN records ON records.note = notes.id
                    JOIN feed ON feed.record = records.id WHERE notes.deleted < ?
                    UNION ALL SELECT feed.account, feed.position FROM feed WHERE feed.kind IN (6, 7) AND feed.time < ?
                ) AS expired GROUP BY expired.account
            ) AS dropped WHERE accounts.id = dropped.account AND accounts.trimmed < dropped.position
            """, [oldest, oldest])
        try run("DELETE FROM notes WHERE deleted < ?", [oldest])
        try run("DELETE FROM feed WHERE kind IN (6, 7) AND time < ?", [oldest])
        try run("DELETE FROM pushes WHERE time < ?", [time - Int64(clamping: limits.names)])
    }
}
