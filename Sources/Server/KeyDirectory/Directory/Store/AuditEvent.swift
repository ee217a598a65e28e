// SPDX-License-Identifier: Apache-2.0

import SQLStores

/// What the audit table remembers: that something happened to an account, never to whom.
enum AuditEvent: String, Sendable {
    case registered
    case updated
    case friendRequested = "friend-requested"
    case friendAccepted = "friend-accepted"
    case invited
    case suspended, resumed
    case quotaSet = "quota-set"
    case quotaRemoved = "quota-removed"
    case released, erased

    /// At most this many lines about friends are kept: endless requests, rejections and acceptances do not fill the
    /// disk. Of the other events each has a state or an operator behind it.
    static let keptOfFriends: Int64 = 1 << 20

    /// Adds a line, in the caller's transaction.
    func record(
        _ account: Int64, at time: UInt64, _ detail: AuditDetail = AuditDetail(), in database: SQLTransaction,
        keeping kept: Int64 = Self.keptOfFriends
    ) throws {
        let id = try database.insert(
            "INSERT INTO audit (time, event, account, \(AuditDetail.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [Int64(clamping: time), rawValue, account] + detail.values)
        try Self.trim(beside: id...id, keeping: kept, in: database)
    }

    /// Adds a line for each of some accounts, in the caller's transaction.
    func record(_ events: [(account: Int64, time: UInt64)], in database: SQLTransaction) throws {
        let rows = try database.insert(
            into: "audit (time, event, account)", events.map { [Int64(clamping: $0.time), rawValue, $0.account] },
            returning: "id")
        let ids = try rows.map { try $0.integer(0) }
        guard let first = ids.min(), let last = ids.max() else { return }
        try Self.trim(beside: first...last, keeping: Self.keptOfFriends, in: database)
    }

    /// A few at once: a server leaves out the numbers of transactions that it ran again.
    private static func trim(beside new: ClosedRange<Int64>, keeping kept: Int64, in database: SQLTransaction) throws {
        try database.run(
            "DELETE FROM audit WHERE id > ? AND id <= ? AND event IN (?, ?)",
            [new.lowerBound - kept - 16, new.upperBound - kept, friendRequested.rawValue, friendAccepted.rawValue])
    }
}

/// What a line of the audit trail holds beside time and event. Lines of older programs hold none of it.
struct AuditDetail: Hashable, Sendable {
    /// The quota before and after, in bytes; nil: that of all accounts, or the line is about something else.
    var quotaBefore: UInt64?
    var quotaAfter: UInt64?
    /// Until when the invitation is good, in seconds since 1970.
    var until: UInt64?
    /// Whose call it was; nil for what the account's own devices did.
    var administrator: Administrator?

    static let columns = "quota_before, quota_after, until, \(Administrator.columns)"

    var values: SQLArguments {
        [quotaBefore, quotaAfter, until].map { $0.map { Int64(clamping: $0) } } + Administrator.values(administrator)
    }
}

extension AuditDetail {
    /// - Parameter column: the first of ``columns``.
    init(_ row: SQLRow, at column: Int) throws {
        quotaBefore = try row.optionalInteger(column).map { UInt64(clamping: $0) }
        quotaAfter = try row.optionalInteger(column + 1).map { UInt64(clamping: $0) }
        until = try row.optionalInteger(column + 2).map { UInt64(clamping: $0) }
        administrator = try Administrator(row, at: column + 3)
    }
}

extension Administrator {
    /// The same in `audit` and in `invitations`.
    static let columns = "uid, user_name, claim"

    static func values(_ administrator: Administrator?) -> SQLArguments {
        [administrator.map { Int64($0.userID) }, administrator?.userName, administrator?.claim]
    }

    /// - Parameter column: the first of ``columns``. Nil if the row names nobody.
    init?(_ row: SQLRow, at column: Int) throws {
        guard let number = try row.optionalInteger(column) else { return nil }
        self.init(
            userID: UInt32(clamping: number), userName: try row.optionalText(column + 1),
            claim: try row.optionalText(column + 2))
    }
}
