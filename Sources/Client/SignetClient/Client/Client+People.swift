// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import SignetAPI

/// A friendship that was requested or accepted, while the friend's keys are fetched in the background.
public struct Friendship: Sendable {
    /// The friend.
    public let handle: Handle
    /// The result for the accepted request; nil for the user's own request.
    public let request: MetFriendRequest?
    /// Fetches, verifies and pins the friend's keys. A program that is about to exit waits for it. If the verdict is a change to decide on
    /// first, or a contradiction, nothing was sent.
    public let pinning: Task<Result<LookupVerdict, ClientError>, Never>
}

extension Client {
    /// Asks a person to be a friend, and pins their keys in the background.
    ///
    /// Spec: eCall Key Transparency guide, "Friendship Establishment (Eager Caching)".
    ///
    /// - Throws: ``ClientError``.
    public func addFriend(_ handle: Handle, by secrets: DeviceSecrets) async throws(ClientError) -> Friendship {
        try await befriend(handle, .addFriend, secrets)
    }

    /// Accepts a person's request, and pins their keys in the background. The signed request is required first, and the
    /// checkpoint in it is compared with the user's own log.
    ///
    /// - Throws: ``ClientError``: ``ClientMisuse/noRequest(_:)`` if the person did not ask, ``ClientError/friendRequest(_:_:)``, and
    ///   ``ClientError/forkMet(_:)``.
    public func acceptFriend(
        _ handle: Handle, by secrets: DeviceSecrets
    ) async throws(ClientError) -> Friendship {
        guard handle != secrets.handle else { throw .misuse(.yourself) }
        let request = try await meetRequest(of: handle, by: secrets)
        return try await befriend(handle, .acceptFriend, secrets, request)
    }

    /// Dismisses a person's request for good. The person is not told.
    ///
    /// - Throws: ``ClientError``; ``ClientError/refused(_:_:)`` with `notFound` if the person has no pending request.
    public func blockFriend(_ handle: Handle, by secrets: DeviceSecrets) async throws(ClientError) {
        guard handle != secrets.handle else { throw .misuse(.yourself) }
        try await calls.blockFriend(handle, by: secrets)
    }

    /// The directory's list of friends and requests, page by page. Nothing in it is proven.
    ///
    /// - Throws: ``ClientError``; ``ClientError/friendList(_:)`` if the pages are invalid or endless.
    public func friends(of secrets: DeviceSecrets) async throws(ClientError) -> [(Handle, FriendStatus)] {
        var pages = FriendPages()
        repeat { try pages.take(try await calls.friends(of: secrets, after: pages.last)) } while pages.wantsMore
        return pages.friends
    }

    /// The pinned data of the people whom the user added.
    package func knownPeople() async throws(ClientError) -> [PinnedPeer] {
        let people = try await stored { () throws(StoreError) in try await store.people() }
        let pinned = try await stored { () throws(StoreError) in try await store.pinnedPeers() }
        return pinned.filter { peer in people.contains { $0.handle == peer.handle } }
    }

    /// Adds people who were restored with a recovered identity.
    package func remember(_ handles: [Handle]) async throws(ClientError) {
        for handle in handles where handle != owner?.handle {
            let person = Person(handle: handle, since: surroundings.now())
            try await stored { () throws(StoreError) in try await store.remember(person) }
        }
    }

    private func befriend(
        _ handle: Handle, _ route: Route, _ secrets: DeviceSecrets, _ request: MetFriendRequest? = nil
    ) async throws(ClientError) -> Friendship {
        guard handle != secrets.handle else { throw .misuse(.yourself) }
        // Whoever is blocked, because their keys are not those that were accepted, is not asked and not agreed with.
        if try await pinnedPeer(handle) != nil {
            let verdict = try await lookup(handle).verdict
            if verdict.outcome.isBlocked {
                return Friendship(handle: handle, request: request, pinning: Task { .success(verdict) })
            }
        }
        let checkpoint = try await checkpointToSend(to: handle)
        _ = try await calls.befriend(handle, route: route, with: checkpoint, by: secrets)
        let person = Person(handle: handle, since: surroundings.now())
        try await stored { () throws(StoreError) in try await store.remember(person) }
        let pinning = Task { () -> Result<LookupVerdict, ClientError> in
            do throws(ClientError) { return .success(try await lookup(handle).verdict) } catch {
                return .failure(error)
            }
        }
        return Friendship(handle: handle, request: request, pinning: pinning)
    }
}
