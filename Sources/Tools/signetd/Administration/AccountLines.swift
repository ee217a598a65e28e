// SPDX-License-Identifier: Apache-2.0

import CivilTime
import SignetServer

/// How accounts are printed for an operator. Handles are ASCII without spaces.
enum AccountLines {
    static let heading = "registered            devices  contacts  kilobytes  state      handle"

    /// An account in one line.
    static func line(_ account: AccountRecord) -> String {
        let state = account.released != nil ? "released" : account.suspended == nil ? "active" : "suspended"
        return "\(time(account.registered))  \(right(account.devices, 7))  \(right(account.contacts, 8))  "
            + "\(right(kilobytes(account), 9))  \(state)\(spaces(9 - state.count))  \(account.handle)"
    }

    /// An account, a fact a line.
    static func all(_ account: AccountRecord) -> [String] {
        [
            "handle      \(account.handle)",
            "state       \(state(account))",
            "registered  \(time(account.registered))",
            "changed     \(time(account.changed)) (version \(account.version))",
            "devices     \(account.devices)",
            "contacts    \(account.contacts)",
            "notes       \(kilobytes(account)) kB\(account.quota.map { ", quota \(($0 + 999) / 1000) kB" } ?? "")",
        ]
    }

    /// An invitation, a fact a line.
    static func all(_ invitation: InvitationRecord) -> [String] {
        [
            "handle      \(invitation.handle)",
            "invitation  \(invitation.code)",
            "good until  \(time(invitation.until))",
        ]
    }

    /// A line of an audit trail.
    static func line(_ event: AccountEvents.Event) -> String {
        var facts = [time(event.time), event.event]
        if event.quotaBefore != nil || event.quotaAfter != nil {
            facts.append("from \(quota(event.quotaBefore)) to \(quota(event.quotaAfter))")
        }
        if let until = event.until { facts.append("good until \(time(until))") }
        if let uid = event.uid { facts.append("by \(event.user.map { "\($0) (uid \(uid))" } ?? "uid \(uid)")") }
        if let claim = event.claim { facts.append("claims \(claim)") }
        return facts.joined(separator: "  ")
    }

    private static func quota(_ byteCount: UInt64?) -> String { byteCount.map { "\($0) bytes" } ?? "default" }

    /// What may be anything, in one line and without control characters.
    static func plain(_ text: String) -> String {
        String(text.unicodeScalars.prefix(100).map { (0x21...0x7E).contains($0.value) ? Character($0) : "?" })
    }

    private static func state(_ account: AccountRecord) -> String {
        if let released = account.released { return "released since \(time(released)), until another person registers" }
        return account.suspended.map { "suspended since \(time($0))" } ?? "active"
    }

    /// In UTC, as in `2026-11-21T14:03:00Z`.
    static func time(_ seconds: UInt64) -> String { UTCTime(secondsSince1970: seconds).text }

    private static func kilobytes(_ account: AccountRecord) -> UInt64 {
        account.bytes.addingReportingOverflow(999).partialValue / 1000
    }

    private static func right(_ number: some BinaryInteger, _ width: Int) -> String {
        let text = String(number)
        return spaces(width - text.count) + text
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: max(0, count)) }
}
