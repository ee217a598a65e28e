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
    /// Whether a handle that is free needs an invitation too.
    let needsInvitation: Bool
    /// The invitation of the request; nil: it has none.
    let invitation: Invitation?

    /// Anyone, for any handle that is free.
    public static let anyone = RegistrationRight(needsInvitation: false, invitation: nil)

    /// Anyone, for any handle that is free; the request may have an invitation for a released one.
    public static func anyone(holding invitation: Invitation?) -> RegistrationRight {
        RegistrationRight(needsInvitation: false, invitation: invitation)
    }

    /// The holder of an invitation for the handle; nil: the request has none.
    public static func holder(of invitation: Invitation?) -> RegistrationRight {
        RegistrationRight(needsInvitation: true, invitation: invitation)
    }
}

extension Directory {
    /// How long an invitation is good, in seconds.
    public static let invitationLifetime: UInt64 = 7 * 86_400

    /// Lets the holder of a code register a handle, once; an earlier code for it is of no use any more.
    ///
    /// - Returns: until when the code is good, in seconds since 1970.
    /// - Throws: ``DirectoryError``; `handleTaken`: the handle has an account.
    public func invite(_ handle: Handle, with invitation: Invitation) async throws(DirectoryError) -> UInt64 {
        let now = clock()
        let end = now + Self.invitationLifetime
        try await database.write { database in
            guard try AccountRow.find(handle, in: database) == nil else { throw DirectoryError.refused(.handleTaken) }
            try invitation.write(for: handle, until: end, at: now, in: database)
        }
        return end
    }
}

extension RegistrationRight {
    /// Uses the invitation up, if a free handle needs one, in the transaction that writes the account.
    ///
    /// - Throws: `DirectoryError/refused(_:)` with `notInvited`.
    func claim(_ handle: Handle, at now: UInt64, in database: SQLTransaction) throws {
        if needsInvitation { try redeem(handle, at: now, in: database) }
    }

    /// Uses the invitation up, in the transaction that writes the account.
    ///
    /// - Throws: `DirectoryError/refused(_:)` with `notInvited`.
    func redeem(_ handle: Handle, at now: UInt64, in database: SQLTransaction) throws {
        guard let invitation else { throw DirectoryError.refused(.notInvited) }
        let count = try database.run(
            "DELETE FROM invitations WHERE handle = ? AND code_hash = ? AND until >= ?",
            [handle.bytes, invitation.hash, Int64(clamping: now)])
        guard count == 1 else { throw DirectoryError.refused(.notInvited) }
    }
}

extension Invitation {
    /// What the database has of it: a copy of the database lets no one register.
    fileprivate var hash: [UInt8] { Array(SHA256.hash(data: code)) }

    /// Replaces the invitation for a handle, and drops those that have run out.
    func write(for handle: Handle, until end: UInt64, at now: UInt64, in database: SQLTransaction) throws {
        try database.run("DELETE FROM invitations WHERE until < ?", [Int64(clamping: now)])
        try database.run(
            """
            INSERT INTO invitations (handle, code_hash, until) VALUES (?, ?, ?)
            ON CONFLICT (handle) DO UPDATE SET code_hash = excluded.code_hash, until = excluded.until
            """,
            [handle.bytes, hash, Int64(clamping: end)])
    }
}
