// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import LogEngine
import SQLStores
public import SignetAPI
import TransparencyLog

extension Directory {
    /// Asks for a friendship, or accepts one that the other person asked for. Asking again replaces what was signed, and
    /// changes nothing else.
    ///
    /// - Parameters:
    ///   - body: what the caller's device signed, kept for the other person; empty to keep nothing.
    ///   - network: whence the request came.
    /// - Throws: ``DirectoryError``; `badRequest`: oneself, or a body that is too long or that the caller did not sign; `notFound`:
    ///   no account with this handle is published; `notYourAccount`: the caller's account is gone; `tooLarge`: too many
    ///   requests already.
    public func addFriend(
        _ handle: Handle, by caller: Caller, saying body: [UInt8] = [], from network: [UInt8] = []
    ) async throws(DirectoryError) -> FriendAnswer {
        guard handle != caller.handle else { throw .refused(.badRequest) }
        let signed = try signed(body, by: caller, isAgreement: false)
        let now = clock()
        return try await befriend(handle, by: caller) { database, other in
            let event = try FriendRows.add(other, by: caller.accountID, from: network, at: now, in: database)
            try FriendRows.keep(signed, of: caller.accountID, to: other, in: database)
            return event
        }
    }

    /// Rejects another person's request to the caller for good, even if it was accepted. They are not told, and asking
    /// again changes nothing.
    ///
    /// - Throws: ``DirectoryError``; `notFound`: nothing waits of them, and the two have not accepted each other.
    public func blockFriend(_ handle: Handle, by caller: Caller) async throws(DirectoryError) -> FriendAnswer {
        try await database.write { database in
            guard let other = try AccountRow.find(handle, in: database),
                try FriendRows.block(other.id, by: caller.accountID, in: database)
            else { throw DirectoryError.refused(.notFound) }
        }
        return FriendAnswer(publicKeyHashs: [])
    }

    /// Whether two people accepted each other; false if one is not registered.
    ///
    /// - Throws: ``DirectoryError``.
    public func areFriends(_ one: Handle, _ other: Handle) async throws(DirectoryError) -> Bool {
        try await database.read { database in
            guard let one = try AccountRow.find(one, in: database), let other = try AccountRow.find(other, in: database)
            else { return false }
            return try FriendRows.isAccepted(one.id, other.id, in: database)
        }
    }

    /// Accepts a friendship that the other person asked for. Accepting again replaces what was signed, and changes nothing else.
    ///
    /// - Parameter body: as for ``addFriend(_:by:saying:)``.
    /// - Throws: ``DirectoryError``; `badRequest`: a body that is too long or that the caller did not sign; `notFound`: no such
    ///   person, or they did not ask; `notYourAccount`: the caller's account is gone.
    public func acceptFriend(
        _ handle: Handle, by caller: Caller, saying body: [UInt8] = []
    ) async throws(DirectoryError) -> FriendAnswer {
        let signed = try signed(body, by: caller, isAgreement: true)
        return try await befriend(handle, by: caller) { database, other in
            let event = try FriendRows.accept(other, by: caller.accountID, in: database)
            guard try event != nil || FriendRows.isAccepted(other, caller.accountID, in: database) else {
                throw DirectoryError.refused(.notFound)
            }
            try FriendRows.keep(signed, of: caller.accountID, to: other, in: database)
            return event
        }
    }

    /// What another person signed when they last asked the caller, or agreed: an encoded `SignedFriendRequest`.
    ///
    /// - Throws: ``DirectoryError``; `notFound`: they did neither, or signed nothing that was kept.
    public func signedFriendRequest(of handle: Handle, to caller: Caller) async throws(DirectoryError) -> [UInt8] {
        let found = try await database.read { database in
            try FriendRows.signed(by: handle, to: caller.accountID, in: database)
        }
        guard let found else { throw .refused(.notFound) }
        return found
    }

    /// The request as its device sent it; nil for an empty body.
    private func signed(
        _ body: [UInt8], by caller: Caller, isAgreement: Bool
    ) throws(DirectoryError) -> [UInt8]? {
        guard !body.isEmpty else { return nil }
        guard caller.signed(body),
            let request = try? SignedFriendRequest(isAgreement: isAgreement, signature: caller.signature, body: body)
        else { throw .refused(.badRequest) }
        return request.encoded
    }

    /// A page of the people of the caller's account, in order of handle.
    ///
    /// - Parameters:
    ///   - handle: behind whom the page begins; nil for the first.
    ///   - count: the most people on it.
    /// - Throws: ``DirectoryError``.
    public func friends(
        of caller: Caller, after handle: Handle? = nil, count: Int = FriendList.maximumCount
    ) async throws(DirectoryError) -> FriendList {
        let found = try await database.read { database in
            try FriendRows.list(of: caller.accountID, after: handle, limit: count + 1, in: database)
        }
        return FriendList(friends: Array(found.prefix(count)), more: found.count > count ? true : nil)
    }

    private func befriend(
        _ handle: Handle, by caller: Caller,
        _ change: @escaping @Sendable (SQLTransaction, Int64) throws -> AuditEvent?
    ) async throws(DirectoryError) -> FriendAnswer {
        guard let other = try await account(handle, size: log.published.head.size) else {
            throw .refused(.notFound)
        }
        let now = clock()
        try await database.write { database in
            guard try AccountRow.find(id: caller.accountID, in: database) != nil else {
                throw DirectoryError.refused(.notYourAccount)
            }
            // Whoever is asked while the handle waits for another person would be somebody else than the one who answers.
            guard let found = try AccountRow.find(id: other.account.id, in: database), found.releasedAt == nil else {
                throw DirectoryError.refused(.notFound)
            }
            try change(database, other.account.id)?.record(caller.accountID, at: now, in: database)
        }
        return FriendAnswer(publicKeyHashs: other.publicKeyHashs)
    }
}
