// SPDX-License-Identifier: Apache-2.0

import Foundation
public import KeyTransparency
import SQLStores
public import SignetAPI

/// A handle that the wrong person registered goes to another one.
///
/// The former holder's devices and contacts are gone at once, and nothing that they or their guardians send is taken any more. Their last
/// state stays until the holder of the invitation registers: that person's first state names it as the one before, and the log
/// calls the step a `reset`.
///
/// Security: this is what a server that replaces an account does, and it looks like that to everyone who knew the former holder: to
/// their contacts another identity that no recovery explains, and to their own devices a reset that they did not make.
extension Directory {
    /// Takes a handle from its holder, for the holder of a code. Releasing it again makes another code.
    ///
    /// - Parameter administrator: who releases it, for the audit trail.
    /// - Returns: until when the code is good, in seconds since 1970.
    /// - Throws: ``DirectoryError``, as ``prepareRelease(of:by:)`` does.
    public func release(
        _ handle: Handle, to invitation: Invitation, by administrator: Administrator? = nil
    ) async throws(DirectoryError) -> UInt64 {
        let now = clock()
        let end = now + Self.invitationLifetime
        try await turns.run(handle) { () throws(DirectoryError) in
            defer { self.cache.forget(handle) }
            try await self.database.release(handle, at: now, AuditDetail(until: end, administrator: administrator))
            try await self.database.write { database in
                try invitation.write(for: handle, until: end, at: now, by: administrator, in: database)
            }
        }
        return end
    }

    /// Suspends an account whose handle is to be released, and makes an earlier code for the handle useless, so that until
    /// ``release(_:to:by:)`` nobody has the handle who could write: what is stored under it can be erased.
    ///
    /// From the person who got it by a release it is not taken again: a release that is repeated after they registered would otherwise hit
    /// them. That is looked at in the same transaction, which a takeover comes before or after.
    ///
    /// - Parameter administrator: who suspends it, for the audit trail.
    /// - Throws: ``DirectoryError``; `notFound`: the account does not exist, or was erased; `handleTaken`: another person got it by a
    ///   release. Nothing was changed.
    public func prepareRelease(
        of handle: Handle, by administrator: Administrator? = nil
    ) async throws(DirectoryError) {
        let now = clock()
        try await database.write { database in
            let account = try AccountRow.releasable(handle, in: database)
            try account.setSuspension(to: now, .suspended, at: now, by: administrator, in: database)
            try database.run("DELETE FROM invitations WHERE handle = ?", [handle.bytes])
        }
    }
}

extension AccountRow {
    fileprivate static func releasable(_ handle: Handle, in database: SQLTransaction) throws -> AccountRow {
        guard let account = try find(handle, in: database) else { throw DirectoryError.refused(.notFound) }
        let label = LabelIndex(account.label).bytes
        guard try database.row("SELECT 1 FROM taken_over WHERE label = ?", [label]) == nil else {
            throw DirectoryError.refused(.handleTaken)
        }
        return account
    }
}

extension DirectoryDatabase {
    /// Marks an account as released, and removes what is not needed to show its last state.
    fileprivate func release(
        _ handle: Handle, at time: UInt64, _ detail: AuditDetail
    ) async throws(DirectoryError) {
        try await write { database in
            let account = try AccountRow.releasable(handle, in: database)
            guard account.releasedAt == nil else { return }
            try database.run(
                "UPDATE accounts SET released = ?1, suspended = COALESCE(suspended, ?1) WHERE id = ?2",
                [Int64(clamping: time), account.id])
            for table in ["devices", "former"] {
                try database.run("DELETE FROM \(table) WHERE account = ?", [account.id])
            }
            try database.run("DELETE FROM friends WHERE requester = ?1 OR invitee = ?1", [account.id])
            try AuditEvent.released.record(account.id, at: time, detail, in: database)
        }
        try await expunge()
    }
}
