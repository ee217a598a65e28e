// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GRDB
public import KeyTransparency
public import SignetAPI

/// Who may register a new account.
public enum RegistrationRight: Hashable, Sendable {
    /// Anyone, for any handle that is free.
    case anyone
    /// The holder of an invitation for the handle; nil: the request has none.
    case holder(of: Invitation?)
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
            try database.run("DELETE FROM invitations WHERE until < ?", [Int64(clamping: now)])
            try database.run(
                "INSERT OR REPLACE INTO invitations (handle, code_hash, until) VALUES (?, ?, ?)",
                [Data(handle.bytes), invitation.hash, Int64(clamping: end)])
        }
        return end
    }
}

extension RegistrationRight {
    /// Uses the invitation up, in the transaction that writes the account.
    ///
    /// - Throws: `DirectoryError/refused(_:)` with `notInvited`.
    func claim(_ handle: Handle, at now: UInt64, in database: Database) throws {
        guard case .holder(let invitation) = self else { return }
        guard let invitation else { throw DirectoryError.refused(.notInvited) }
        try database.run(
            "DELETE FROM invitations WHERE handle = ? AND code_hash = ? AND until >= ?",
            [Data(handle.bytes), invitation.hash, Int64(clamping: now)])
        guard database.changesCount == 1 else { throw DirectoryError.refused(.notInvited) }
    }
}

extension Invitation {
    /// What the database has of it: a copy of the database lets no one register.
    fileprivate var hash: Data { Data(SHA256.hash(data: code)) }
}
