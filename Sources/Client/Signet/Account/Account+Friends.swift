// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetAPI
import SignetClient

/// Becoming a contact: one person asks, the other one accepts.
extension Account {
    /// Asks a person to be a contact, verifies their keys and pins them.
    ///
    /// - Throws: ``SignetError``.
    public func add(_ handle: Handle) async throws(SignetError) -> Contact {
        try await contact(try await befriend(handle, isAccepting: false))
    }

    /// Accepts a person's request to be a contact, verifies their keys and pins them.
    ///
    /// - Throws: ``SignetError``.
    public func accept(_ handle: Handle) async throws(SignetError) -> Contact {
        try await contact(try await befriend(handle, isAccepting: true))
    }

    /// Asks a person whose contact card the user has to be a contact, or accepts the person's request. What the directory proves is
    /// compared with the card before anything is sent or pinned.
    ///
    /// - Parameters:
    ///   - isAccepting: whether the person asked first.
    ///   - metOn: the day on which the two people met and the card was handed over, counted from 1970-01-01; nil if they did not
    ///     meet.
    /// - Throws: ``SignetError``: `.client(.contactCard)` if the answer does not match the card.
    public func add(
        by card: ContactCard, isAccepting: Bool = false, metOn: UInt64? = nil
    ) async throws(SignetError) -> Contact {
        try await contact(try await befriend(by: card, isAccepting: isAccepting, metOn: metOn))
    }

    /// Becomes a contact of a person in one step: accepts their request if they have sent one, and asks them otherwise. Verifies
    /// and pins their keys, as ``add(_:)`` and ``accept(_:)-(Handle)`` do.
    ///
    /// - Parameter interval: how long to wait before each further attempt while the person has no account yet; nil for a single
    ///   attempt.
    /// - Throws: ``SignetError``; one with ``SignetError/isUnknownHandle`` if the person has no account, and no further attempt is
    ///   wanted or the task was cancelled.
    public func meet(_ handle: Handle, every interval: Duration? = nil) async throws(SignetError) -> Contact {
        while true {
            do throws(SignetError) {
                return try await requests().contains(handle) ? try await accept(handle) : try await add(handle)
            } catch {
                guard let interval, error.isUnknownHandle, !Task.isCancelled else { throw error }
                await surroundings.wait(interval)
            }
        }
    }

    /// The people whom this device knows and those in the user's list at the directory, in order of handle. The requests of people
    /// who agreed since the last time are judged, and the checkpoints in them are compared with the user's own log.
    ///
    /// - Throws: ``SignetError``. A request that is refused is a result, ``KnownPerson/request``.
    public func people() async throws(SignetError) -> [KnownPerson] {
        let secrets = secrets
        let friends = try await run { client throws(ClientError) in try await client.friends(of: secrets) }
        let met = try await run { client throws(ClientError) in try await client.meetFriends(friends, by: secrets) }
        var people = Dictionary(uniqueKeysWithValues: try await home.people().map { ($0.handle, $0) })
        for (handle, status) in friends { people[handle, default: KnownPerson(handle)].status = status }
        for (handle, result) in met { people[handle]?.request = result }
        return people.values.inOrder
    }

    /// The people who have asked to be a contact and wait for an answer. Nothing in the list is proven; accepting a request
    /// requires the person's signature.
    ///
    /// - Throws: ``SignetError``.
    public func requests() async throws(SignetError) -> [Handle] {
        let secrets = secrets
        let friends = try await run { client throws(ClientError) in try await client.friends(of: secrets) }
        return friends.filter { $0.1 == .invited }.map(\.0)
    }

    /// Dismisses a person's request for good, or withdraws the user's agreement. The person is not told.
    ///
    /// - Returns: whether there was a request or an agreement.
    /// - Throws: ``SignetError``.
    @discardableResult
    public func block(_ handle: Handle) async throws(SignetError) -> Bool {
        known[handle] = nil
        let secrets = secrets
        do throws(SignetError) {
            try await run { client throws(ClientError) in try await client.blockFriend(handle, by: secrets) }
            return true
        } catch {
            guard case .client(.refused(.notFound, _)) = error else { throw error }
            return false
        }
    }

    /// The user's contact card, against which other people check their first lookup of the user.
    ///
    /// - Throws: ``SignetError``: `.client(.misuse(.identityKeyElsewhere))` on a device that does not hold the identity.
    public func contactCard() async throws(SignetError) -> ContactCard {
        let secrets = secrets
        return try await run { client throws(ClientError) in try await client.contactCard(by: secrets) }
    }

    // MARK: Inside

    /// - Parameter onPending: called if the directory has taken the request, but the keys could not be pinned.
    package func befriend(
        _ handle: Handle, isAccepting: Bool, onPending: @Sendable () -> Void = {}
    ) async throws(SignetError) -> LookupVerdict {
        let secrets = secrets
        let friendship = try await run { client throws(ClientError) in
            isAccepting
                ? try await client.acceptFriend(handle, by: secrets) : try await client.addFriend(handle, by: secrets)
        }
        if friendship.request?.met == .noProof { tell(.friendsLogNotProven(handle)) }
        switch await friendship.pinning.value {
        case .success(let verdict): return verdict
        case .failure(let error):
            onPending()
            throw .client(error)
        }
    }

    package func befriend(
        by card: ContactCard, isAccepting: Bool, metOn: UInt64?
    ) async throws(SignetError) -> LookupVerdict {
        let secrets = secrets
        return try await run { client throws(ClientError) in
            try await client.addFriend(by: card, isAccepting: isAccepting, metOn: metOn, by: secrets)
        }
    }
}
