import GRDB
public import KeyTransparency
public import SignetAPI
import TransparencyLog

extension Directory {
    /// Asks for a friendship, or accepts one that the other person asked for. Asking again changes nothing.
    ///
    /// - Throws: ``DirectoryError``; `badRequest`: oneself; `notFound`: nobody of this handle is published;
    ///   `notYourAccount`: the caller's account is gone; `tooLarge`: too many requests already.
    public func addFriend(_ handle: Handle, by caller: Caller) async throws(DirectoryError) -> FriendAnswer {
        guard handle != caller.handle else { throw .refused(.badRequest) }
        return try await befriend(handle, by: caller) { database, other in
            try FriendRows.add(other, by: caller.accountID, in: database)
        }
    }

    /// Accepts a friendship that the other person asked for. Accepting again changes nothing.
    ///
    /// - Throws: ``DirectoryError``; `notFound`: no such person, or they did not ask; `notYourAccount`: the caller's
    ///   account is gone.
    public func acceptFriend(_ handle: Handle, by caller: Caller) async throws(DirectoryError) -> FriendAnswer {
        try await befriend(handle, by: caller) { database, other in
            let event = try FriendRows.accept(other, by: caller.accountID, in: database)
            guard try event != nil || FriendRows.isAccepted(other, caller.accountID, in: database) else {
                throw DirectoryError.refused(.notFound)
            }
            return event
        }
    }

    /// The people of the caller's account, in order of handle.
    ///
    /// - Throws: ``DirectoryError``.
    public func friends(of caller: Caller) async throws(DirectoryError) -> FriendList {
        try await database.read { FriendList(friends: try FriendRows.list(of: caller.accountID, in: $0)) }
    }

    private func befriend(
        _ handle: Handle, by caller: Caller,
        _ change: @escaping @Sendable (Database, Int64) throws -> AuditEvent?
    ) async throws(DirectoryError) -> FriendAnswer {
        guard let other = try await account(handle, size: log.published.head.size) else {
            throw .refused(.notFound)
        }
        let now = clock()
        try await database.write { database in
            guard try AccountRow.find(id: caller.accountID, in: database) != nil else {
                throw DirectoryError.refused(.notYourAccount)
            }
            guard try AccountRow.find(id: other.account.id, in: database) != nil else {
                throw DirectoryError.refused(.notFound)
            }
            try change(database, other.account.id)?.record(caller.accountID, at: now, in: database)
        }
        return FriendAnswer(publicKeyHashs: other.publicKeyHashs)
    }
}
