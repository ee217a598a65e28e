// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import KeyTransparency
import SQLStores
import SignetAPI

/// Friendships: one row for each pair, made by who asked first.
enum FriendRows {
    /// The most requests an account may have made.
    static let maximumRequestCount = 10_000
    /// The most requests that wait for an account.
    static let maximumWaitingCount = 1_000

    /// Asks for a friendship; asking a person who has already asked is an acceptance. Returns the event, or nil if
    /// nothing changed.
    ///
    /// When too many wait for a person, the oldest request from the network that sent the most is dropped, never a
    /// bystander's. Many networks of one provider are one network.
    static func add(
        _ other: Int64, by account: Int64, from network: [UInt8], at now: UInt64, in database: SQLTransaction
    ) throws -> AuditEvent? {
        if try accept(other, by: account, in: database) == .friendAccepted { return .friendAccepted }
        guard try !exists(other, account, in: database), try !exists(account, other, in: database) else { return nil }
        let count = try database.row("SELECT COUNT(*) FROM friends WHERE requester = ?", [account])
        guard try count?.integer(0) ?? 0 < maximumRequestCount else { throw DirectoryError.refused(.tooLarge) }
        try database.run(
            "INSERT INTO friends (requester, invitee, accepted, network, asked_at) VALUES (?, ?, 0, ?, ?)",
            [account, other, network, Int64(clamping: now)])
        try evict(waitingFor: other, in: database)
        return .friendRequested
    }

    private static func evict(waitingFor account: Int64, in database: SQLTransaction) throws {
        let waiting = "FROM friends WHERE invitee = ?1 AND accepted = 0"
        let count = try database.row("SELECT COUNT(*) \(waiting)", [account])?.integer(0) ?? 0
        for _ in 0..<max(0, count - Int64(maximumWaitingCount)) {
            var greediest = waiting
            var arguments: SQLArguments = [account, NetworkGroups.six, NetworkGroups.nothing]
            for network in NetworkGroups.columns(after: 1) {
                let most = "SELECT \(network) \(greediest) GROUP BY 1 ORDER BY COUNT(*) DESC, MIN(asked_at), 1 LIMIT 1"
                guard let found = try database.row(most, arguments) else { return }
                arguments.append(try found.bytes(0))
                greediest += " AND \(network) = ?\(arguments.count)"
            }
            try database.run(
                """
                DELETE FROM friends WHERE invitee = ?1 AND requester = (
                    SELECT requester \(greediest) ORDER BY asked_at, requester LIMIT 1)
                """, arguments)
        }
    }

    /// Rejects the other person's request for good, and ends an accepted one from either side; neither is told. Returns
    /// whether there was either.
    static func block(_ other: Int64, by account: Int64, in database: SQLTransaction) throws -> Bool {
        try database.run(
            """
            UPDATE friends SET requester = ?1, invitee = ?2, accepted = 2, agreed = NULL,
                asked = CASE requester WHEN ?1 THEN asked END
            WHERE (requester = ?1 AND invitee = ?2 AND accepted <> 2) OR (requester = ?2 AND invitee = ?1 AND accepted = 1)
            """, [other, account]) > 0
    }

    /// Accepts the other person's request, even a rejected one. Returns the event, or nil if there was nothing left to accept.
    static func accept(_ other: Int64, by account: Int64, in database: SQLTransaction) throws -> AuditEvent? {
        let count = try database.run(
            "UPDATE friends SET accepted = 1 WHERE requester = ? AND invitee = ? AND accepted <> 1", [other, account])
        return count > 0 ? .friendAccepted : nil
    }

    /// Keeps what `account` signed to `other`, in the place of what it signed before. What a rejected person asks is kept, too: who
    /// rejected them may think again, and accepts nothing that is not signed.
    static func keep(_ signed: [UInt8]?, of account: Int64, to other: Int64, in database: SQLTransaction) throws {
        guard let signed else { return }
        try database.run(
            "UPDATE friends SET asked = ? WHERE requester = ? AND invitee = ?",
            [signed, account, other])
        try database.run(
            "UPDATE friends SET agreed = ? WHERE requester = ? AND invitee = ? AND accepted = 1",
            [signed, other, account])
    }

    /// What the person with this handle signed for `account`; nil for nothing.
    static func signed(by handle: Handle, to account: Int64, in database: SQLTransaction) throws -> [UInt8]? {
        let rows = try database.rows(
            """
            SELECT CASE WHEN invitee = ?1 THEN asked ELSE agreed END FROM friends
            JOIN accounts ON accounts.id = requester + invitee - ?1
            WHERE (requester = ?1 OR invitee = ?1) AND handle = ?2
            """, [account, handle.bytes])
        return try rows.compactMap { try $0.optionalBytes(0) }.first
    }

    /// Whether `requester` has ever asked `invitee`.
    static func exists(_ requester: Int64, _ invitee: Int64, in database: SQLTransaction) throws -> Bool {
        try database.row(
            "SELECT 1 FROM friends WHERE requester = ? AND invitee = ?", [requester, invitee]) != nil
    }

    /// Whether both want it.
    static func isAccepted(_ one: Int64, _ other: Int64, in database: SQLTransaction) throws -> Bool {
        try database.row(
            """
            SELECT 1 FROM friends
            WHERE accepted = 1 AND ((requester = ?1 AND invitee = ?2) OR (requester = ?2 AND invitee = ?1))
            """, [one, other]) != nil
    }

    /// At most this many people of an account, in order of handle and after a given one, without those whom it
    /// rejected.
    static func list(
        of account: Int64, after handle: Handle?, limit: Int, in database: SQLTransaction
    ) throws -> [FriendList.Entry] {
        let start = handle?.bytes ?? []
        return try database.rows(
            """
            SELECT handle, accepted, requester FROM friends
            JOIN accounts ON accounts.id = requester + invitee - ?1
            WHERE (requester = ?1 OR invitee = ?1 AND accepted <> 2) AND handle > ?2 ORDER BY handle LIMIT ?3
            """, [account, start, limit]
        ).map { row in
            let isMine = try row.integer(2) == account
            let status: FriendStatus =
                try row.integer(1) == 1 ? .accepted : isMine ? .requested : .invited
            return FriendList.Entry(handle: try Handle(canonical: row.bytes(0)).description, status: status)
        }
    }
}
