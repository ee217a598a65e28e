// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
public import KeyTransparency
import SQLStores
import SignetAPI

/// What an operator sees of accounts and decides about them.
///
/// Security: a suspension takes nothing from the log. Lookups go on, and the account can still change its devices and be recovered, so
/// that an operator, or a thief of an operator's rights, cannot keep a person from revoking a stolen device.
extension Directory {
    /// A page of all accounts, in the order of the bytes of their handles.
    ///
    /// - Parameters:
    ///   - handle: the last one of the page before; nil for the first page.
    ///   - count: at most so many.
    public func accounts(
        after handle: Handle? = nil, count: Int = 500
    ) async throws(DirectoryError) -> AccountListing {
        try await database.read { try AccountListing(after: handle, count: count, in: $0) }
    }

    /// One account.
    ///
    /// - Throws: ``DirectoryError``; `notFound`.
    public func account(_ handle: Handle) async throws(DirectoryError) -> AccountSummary {
        try await database.read { database in try AccountSummary(Self.row(of: handle, in: database), in: database) }
    }

    /// What happened to an account, the newest first; also to one that was erased.
    ///
    /// - Parameter count: at most so many.
    /// - Throws: ``DirectoryError``; `notFound`.
    public func events(of handle: Handle, count: Int = 500) async throws(DirectoryError) -> [AuditedEvent] {
        let index = try LabelIndex(label(of: handle).0).bytes
        return try await database.read { database in
            let number =
                try AccountRow.find(handle, in: database)?.id
                ?? database.row("SELECT account FROM erased WHERE label = ?", [index])?.optionalInteger(0)
            guard let number else { throw DirectoryError.refused(.notFound) }
            return try database.rows(
                "SELECT time, event, \(AuditDetail.columns) FROM audit WHERE account = ? ORDER BY id DESC LIMIT ?",
                [number, count]
            ).map { row in
                let time = UInt64(clamping: try row.integer(0))
                return AuditedEvent(time: time, name: try row.text(1), try AuditDetail(row, at: 2))
            }
        }
    }

    /// Refuses an account's requests from now on, except those that protect it. Suspending it again changes nothing.
    ///
    /// - Parameter administrator: who suspends it, for the audit trail.
    /// - Throws: ``DirectoryError``; `notFound`.
    public func suspend(_ handle: Handle, by administrator: Administrator? = nil) async throws(DirectoryError) {
        try await setSuspension(of: handle, to: clock(), .suspended, by: administrator)
    }

    /// Takes an account's requests again.
    ///
    /// - Parameter administrator: who resumes it, for the audit trail.
    /// - Throws: ``DirectoryError``; `notFound`.
    public func resume(_ handle: Handle, by administrator: Administrator? = nil) async throws(DirectoryError) {
        try await setSuspension(of: handle, to: nil, .resumed, by: administrator)
    }

    /// Writes into an account's audit trail that it gets a quota of its own, or that of all again. The notes keep the quota.
    ///
    /// - Parameters:
    ///   - before: the quota that it has, in bytes; nil for that of all.
    ///   - after: the quota that it gets; nil for that of all.
    ///   - administrator: who sets it.
    /// - Throws: ``DirectoryError``; `notFound`.
    package func recordQuota(
        from before: UInt64?, to after: UInt64?, of handle: Handle, by administrator: Administrator?
    ) async throws(DirectoryError) {
        let now = clock()
        let event: AuditEvent = after == nil ? .quotaRemoved : .quotaSet
        let detail = AuditDetail(quotaBefore: before, quotaAfter: after, administrator: administrator)
        try await database.write { database in
            let account = try Self.row(of: handle, in: database)
            try event.record(account.id, at: now, detail, in: database)
        }
    }

    private func setSuspension(
        of handle: Handle, to time: UInt64?, _ event: AuditEvent, by administrator: Administrator?
    ) async throws(DirectoryError) {
        let now = clock()
        try await database.write { database in
            try Self.row(of: handle, in: database)
                .setSuspension(to: time, event, at: now, by: administrator, in: database)
        }
    }

    private static func row(of handle: Handle, in database: SQLTransaction) throws -> AccountRow {
        guard let account = try AccountRow.find(handle, in: database) else { throw DirectoryError.refused(.notFound) }
        return account
    }
}

extension AccountRow {
    /// Suspends the account, or takes its requests again; if that is so already, nothing is changed.
    func setSuspension(
        to time: UInt64?, _ event: AuditEvent, at now: UInt64, by administrator: Administrator?,
        in database: SQLTransaction
    ) throws {
        guard (suspendedAt == nil) != (time == nil) else { return }
        try database.run("UPDATE accounts SET suspended = ? WHERE id = ?", [time.map { Int64(clamping: $0) }, id])
        try event.record(id, at: now, AuditDetail(administrator: administrator), in: database)
    }
}

/// A page of all accounts, in the order of the bytes of their handles.
public struct AccountListing: Hashable, Sendable {
    /// The accounts whose rows can be read.
    public private(set) var accounts: [AccountSummary] = []
    /// What is in the place of the handle in damaged rows, as text. The other accounts of the page are not concerned.
    public private(set) var damaged: [String] = []
    /// Behind which handle the next page begins; nil: this is the last one.
    public private(set) var next: Handle?

    init(after handle: Handle?, count: Int, in database: SQLTransaction) throws {
        var (start, wanted) = (handle?.bytes ?? [], count)
        // Only a handle that can be one is where the next page begins.
        repeat {
            let rows = try AccountRow.page(after: start, count: wanted, in: database)
            for row in rows {
                start = row.handle
                next = try? Handle(canonical: row.handle)
                try add(row.account, row.handle, in: database)
            }
            if rows.count < wanted {
                next = nil
                return
            }
            wanted = 1
        } while next == nil
    }

    private mutating func add(_ account: AccountRow?, _ handle: [UInt8], in database: SQLTransaction) throws {
        do {
            guard let account else { throw DamagedRow() }
            accounts.append(try AccountSummary(account, in: database))
        } catch is DamagedRow { damaged.append(String(decoding: handle, as: UTF8.self)) }
    }
}

/// What an operator sees of an account in the directory's database.
public struct AccountSummary: Hashable, Sendable {
    /// The account's name.
    public let handle: Handle
    /// The number of its newest state, from 1 on.
    public let version: UInt64
    /// How many active devices that state has.
    public let deviceCount: Int
    /// How many people it asked, was asked by, or accepted.
    public let contactCount: Int
    /// When it was registered, in seconds since 1970.
    public let registeredAt: UInt64
    /// When its newest state came, in seconds since 1970.
    public let changedAt: UInt64
    /// Since when its requests are refused, in seconds since 1970; nil if they are taken.
    public let suspendedAt: UInt64?
    /// Since when the handle waits for another person, in seconds since 1970; nil if it is this account's.
    public let releasedAt: UInt64?

    init(_ account: AccountRow, in database: SQLTransaction) throws {
        let states = try database.row(
            "SELECT MAX(version), MIN(time), MAX(time) FROM states WHERE account = ?", [account.id])
        let devices = try database.row(
            "SELECT COUNT(*) FROM devices WHERE account = ? AND revoked IS NULL", [account.id])
        let contacts = try database.row(
            "SELECT COUNT(*) FROM friends WHERE (requester = ?1 OR invitee = ?1) AND accepted <> 2", [account.id])
        handle = account.handle
        suspendedAt = account.suspendedAt
        releasedAt = account.releasedAt
        version = try states?.version(0) ?? 0
        registeredAt = UInt64(clamping: try states?.integer(1) ?? 0)
        changedAt = UInt64(clamping: try states?.integer(2) ?? 0)
        deviceCount = Int(clamping: try devices?.integer(0) ?? 0)
        contactCount = Int(clamping: try contacts?.integer(0) ?? 0)
    }
}

/// A line of the audit trail of an account.
public struct AuditedEvent: Hashable, Sendable {
    /// In seconds since 1970.
    public let time: UInt64
    /// `invited`, `registered`, `updated`, `friend-requested`, `friend-accepted`, `suspended`, `resumed`, `quota-set`,
    /// `quota-removed`, `released` or `erased`.
    public let name: String
    /// The quota before, in bytes; nil: that of all, or the line is from an older program or about something else.
    public let quotaBefore: UInt64?
    /// The quota after it, in the same way.
    public let quotaAfter: UInt64?
    /// Until when the invitation is good, in seconds since 1970, if there is one.
    public let until: UInt64?
    /// Who did it; nil: the account's own devices, or the line is from an older program.
    public let administrator: Administrator?

    init(time: UInt64, name: String, _ detail: AuditDetail = AuditDetail()) {
        self.time = time
        self.name = name
        quotaBefore = detail.quotaBefore
        quotaAfter = detail.quotaAfter
        until = detail.until
        administrator = detail.administrator
    }
}
