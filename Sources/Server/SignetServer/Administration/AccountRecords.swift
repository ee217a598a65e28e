// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency

/// What an operator is shown of an account, as JSON. Times are in seconds since 1970.
package struct AccountRecord: Codable, Hashable, Sendable {
    package let handle: String
    /// When it was registered.
    package let registered: UInt64
    /// When its newest state came.
    package let changed: UInt64
    /// The number of that state.
    package let version: UInt64
    package let devices: Int
    /// People it asked, was asked by, or accepted.
    package let contacts: Int
    /// Bytes that count for the quota of its notes.
    package let bytes: UInt64
    /// The quota that was set for it alone; missing if it has that of all.
    package let quota: UInt64?
    /// Since when its requests are refused; missing if they are taken.
    package let suspended: UInt64?
    /// Since when the handle waits for another person; missing if it is this account's.
    package let released: UInt64?

    init(_ account: AccountSummary, storing byteCount: UInt64, of quota: UInt64?) {
        handle = account.handle.description
        registered = account.registeredAt
        changed = account.changedAt
        version = account.version
        devices = account.deviceCount
        contacts = account.contactCount
        bytes = byteCount
        self.quota = quota
        suspended = account.suspendedAt
        released = account.releasedAt
    }
}

/// An invitation, as JSON.
package struct InvitationRecord: Codable, Hashable, Sendable {
    /// The handle that its holder may register.
    package let handle: String
    /// What the holder gives.
    package let code: String
    /// Until when it is good, in seconds since 1970.
    package let until: UInt64
}

/// A page of accounts in the order of their handles, as JSON.
package struct AccountPage: Codable, Hashable, Sendable {
    package let accounts: [AccountRecord]
    /// What is in the place of the handle of accounts that are damaged, and cannot be shown.
    package let damaged: [String]
    /// Behind which handle the next page begins; missing: this is the last one.
    package let next: String?

    /// Accounts of a page.
    static let maximumCount = 500
}

/// The audit trail of an account, the newest first, as JSON.
package struct AccountEvents: Codable, Hashable, Sendable {
    package let events: [Event]

    /// A line of it.
    package struct Event: Codable, Hashable, Sendable {
        /// In seconds since 1970.
        package let time: UInt64
        package let event: String
        /// The quota before and after, in bytes; missing: that of all, or the line is about something else.
        package let quotaBefore: UInt64?
        package let quotaAfter: UInt64?
        /// Until when the invitation is good, in seconds since 1970.
        package let until: UInt64?
        /// The user of the process that asked for it, as the kernel says it; missing if the account's own devices did it, and in lines
        /// that an older program wrote.
        package let uid: UInt32?
        /// The name of this user then.
        package let user: String?
        /// For whom the process said that it acted. Nothing shows that it is true.
        package let claim: String?

        init(_ event: AuditedEvent) {
            time = event.time
            self.event = event.name
            quotaBefore = event.quotaBefore
            quotaAfter = event.quotaAfter
            until = event.until
            uid = event.administrator?.userID
            user = event.administrator?.userName
            claim = event.administrator?.claim
        }

        /// The names of the fields.
        private enum CodingKeys: String, CodingKey {
            case time, event
            case quotaBefore = "quota_before"
            case quotaAfter = "quota_after"
            case until, uid, user, claim
        }
    }

    init(_ events: [AuditedEvent]) { self.events = events.map(Event.init) }
}
