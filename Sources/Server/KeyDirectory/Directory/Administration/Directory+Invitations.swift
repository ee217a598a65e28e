// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
public import KeyTransparency
import SQLStores
public import SignetAPI

/// Who may register a new account, and which invitation the request has.
///
/// A released handle goes to the holder of its invitation in any case.
public struct RegistrationRight: Hashable, Sendable {
    /// Why a handle that is free is not registered without an invitation; nil: it is.
    let refusal: ErrorCode?
    /// The invitation of the request; nil: it has none.
    let invitation: Invitation?

    /// Anyone, for any handle that is free.
    public static let anyone = RegistrationRight(refusal: nil, invitation: nil)

    /// Anyone, for any handle that is free; if the request has an invitation, it has to be good.
    public static func anyone(holding invitation: Invitation?) -> RegistrationRight {
        RegistrationRight(refusal: nil, invitation: invitation)
    }

    /// The holder of an invitation for the handle; nil: the request has none.
    public static func holder(of invitation: Invitation?) -> RegistrationRight {
        RegistrationRight(refusal: .notInvited, invitation: invitation)
    }

    /// Nobody without an invitation, of which the request has none.
    package static func nobody(_ refusal: ErrorCode) -> RegistrationRight {
        RegistrationRight(refusal: refusal, invitation: nil)
    }
}

extension Directory {
    /// How long an invitation is good, in seconds.
    public static let invitationLifetime: UInt64 = 7 * 86_400

    /// Lets the holder of a code register a handle, once; an earlier code for it is of no use any more.
    ///
    /// - Parameter administrator: who makes it, for the audit trail that the account will have.
    /// - Returns: until when the code is good, in seconds since 1970.
    /// - Throws: ``DirectoryError``; `handleTaken`: the handle has an account, or had one that was erased, which closes it for good.
    public func invite(
        _ handle: Handle, with invitation: Invitation, by administrator: Administrator? = nil
    ) async throws(DirectoryError) -> UInt64 {
        let now = clock()
        let end = now + Self.invitationLifetime
        guard try epochs.version(of: LabelIndex(label(of: handle).0)) == 0 else { throw .refused(.handleTaken) }
        try await database.write { database in
            guard try AccountRow.find(handle, in: database) == nil else { throw DirectoryError.refused(.handleTaken) }
            try invitation.write(for: handle, until: end, at: now, by: administrator, in: database)
        }
        return end
    }
}

extension RegistrationRight {
    /// Uses the invitation up, if the request has one, in the transaction that writes the account. One for another handle, or of another
    /// directory, is not passed over without a word.
    ///
    /// - Returns: what the audit trail is to say of it; nil if the request has none.
    /// - Throws: `DirectoryError/refused(_:)` with `notInvited`, or with the reason why the handle is not registered without one.
    func claim(_ handle: Handle, at now: UInt64, in database: SQLTransaction) throws -> UsedInvitation? {
        guard invitation == nil else { return try redeem(handle, at: now, in: database) }
        if let refusal { throw DirectoryError.refused(refusal) }
        return nil
    }

    /// Uses the invitation up, in the transaction that writes the account.
    ///
    /// - Returns: what the audit trail is to say of it; nil if an older program made it.
    /// - Throws: `DirectoryError/refused(_:)` with `notInvited`.
    func redeem(_ handle: Handle, at now: UInt64, in database: SQLTransaction) throws -> UsedInvitation? {
        guard let invitation else { throw DirectoryError.refused(.notInvited) }
        let used = try UsedInvitation.find(handle, in: database)
        let count = try database.run(
            "DELETE FROM invitations WHERE handle = ? AND code_hash = ? AND until >= ?",
            [handle.bytes, invitation.hash, Int64(clamping: now)])
        guard count == 1 else { throw DirectoryError.refused(.notInvited) }
        return used
    }
}

/// What the database has of an invitation beside its code: who made it, and for how long.
struct UsedInvitation: Hashable, Sendable {
    private let made: UInt64
    private let detail: AuditDetail

    /// The one for a handle; nil if there is none, or an older program made it.
    ///
    /// A program before version 11 of the schema that replaces an invitation leaves what says who made the one before. It sets the end
    /// alone, which then is not the lifetime after that one was made.
    fileprivate static func find(_ handle: Handle, in database: SQLTransaction) throws -> UsedInvitation? {
        let found = try database.row(
            "SELECT made, until, \(Administrator.columns) FROM invitations WHERE handle = ?", [handle.bytes])
        guard let row = found, let made = try row.optionalInteger(0) else { return nil }
        let until = UInt64(clamping: try row.integer(1))
        guard UInt64(clamping: made) + Directory.invitationLifetime == until else { return nil }
        return UsedInvitation(
            made: UInt64(clamping: made),
            detail: AuditDetail(until: until, administrator: try Administrator(row, at: 2)))
    }

    /// Begins the audit trail of the account that its holder registers.
    func record(_ account: Int64, in database: SQLTransaction) throws {
        try AuditEvent.invited.record(account, at: made, detail, in: database)
    }
}

extension Invitation {
    /// What the database has of it: a copy of the database lets no one register.
    fileprivate var hash: [UInt8] { Array(SHA256.hash(data: code)) }

    /// Replaces the invitation for a handle, and drops those that have run out.
    func write(
        for handle: Handle, until end: UInt64, at now: UInt64, by administrator: Administrator?,
        in database: SQLTransaction
    ) throws {
        try database.run("DELETE FROM invitations WHERE until < ?", [Int64(clamping: now)])
        try database.run(
            """
            INSERT INTO invitations (handle, code_hash, until, made, \(Administrator.columns))
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (handle) DO UPDATE SET code_hash = excluded.code_hash, until = excluded.until,
                made = excluded.made, uid = excluded.uid, user_name = excluded.user_name, claim = excluded.claim
            """,
            [handle.bytes, hash, Int64(clamping: end), Int64(clamping: now)] + Administrator.values(administrator))
    }
}
