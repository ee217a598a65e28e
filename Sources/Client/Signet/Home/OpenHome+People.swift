// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import SignetAPI
public import SignetClient

/// A person whom this device knows, or who is in the user's list at the directory.
public struct KnownPerson: Sendable {
    /// The person's handle.
    public let handle: Handle
    /// What the user accepted of the person; nil if nothing is pinned.
    public package(set) var pinned: PinnedPeer?
    /// Whether the user compared the identity key that is pinned; of somebody who was met and not looked up yet, the key that they proved
    /// in the meeting.
    public package(set) var comparison = ComparisonState.none
    /// What the directory's list says of the person, which is not proven; nil if it does not name them or was not asked.
    public package(set) var status: FriendStatus?
    /// The result for the request that the person signed; nil if it was judged before, or if there is none.
    /// `ClientError.forkMet` is an alarm: the directory showed the person another log.
    public package(set) var request: Result<MetFriendRequest, ClientError>?

    init(_ handle: Handle) { self.handle = handle }
}

extension OpenHome {
    /// The people whom this device knows, in order of handle. The directory is not asked.
    ///
    /// - Throws: ``SignetError/store(_:path:)``.
    public func people() async throws(SignetError) -> [KnownPerson] {
        let store = client.store
        let (added, pinned, comparisons): ([Person], [PinnedPeer], [Comparison])
        do throws(StoreError) {
            added = try await store.people()
            pinned = try await store.pinnedPeers()
            comparisons = try await store.comparisons()
        } catch { throw .store(error, path: storePath) }
        var people = Dictionary(added.map { ($0.handle, KnownPerson($0.handle)) }) { first, _ in first }
        for peer in pinned where peer.handle != keystore?.handle {
            people[peer.handle, default: KnownPerson(peer.handle)].pinned = peer
        }
        for comparison in comparisons {
            let key = people[comparison.handle]?.pinned?.identityKey
            people[comparison.handle]?.comparison =
                key.map { ComparisonState(comparison, of: $0) } ?? ComparisonState(ofUnpinned: comparison)
        }
        return people.values.inOrder
    }

    /// What this device knows of one person. The directory is not asked.
    ///
    /// - Throws: ``SignetError/store(_:path:)``.
    public func person(_ handle: Handle) async throws(SignetError) -> KnownPerson {
        var person = KnownPerson(handle)
        do throws(StoreError) { person.pinned = try await client.store.pinnedPeer(handle) } catch {
            throw .store(error, path: storePath)
        }
        person.comparison = try await comparison(with: handle)
        return person
    }

    /// Whether the user compared the identity key that is pinned for a person.
    ///
    /// - Throws: ``SignetError``.
    public func comparison(with handle: Handle) async throws(SignetError) -> ComparisonState {
        do throws(ClientError) { return try await client.comparison(with: handle) } catch { throw .client(error) }
    }

    /// Accepts a change of a person's devices or identity, or of the user's own account, after the user has approved it. The log
    /// must still show exactly the change that the user saw.
    ///
    /// - Returns: the verdict on what was accepted, and the home that is now in force.
    /// - Throws: ``SignetError``.
    public func accept(_ change: KeyChange) async throws(SignetError) -> (verdict: LookupVerdict, home: OpenHome) {
        let (verdict, home) = try await run { client throws(ClientError) in
            try await client.trust(change.handle, accepting: change.stateHash)
        }
        return (verdict, home)
    }
}

extension LookupVerdict {
    /// The change that waits for the user's approval; nil if there is none.
    public var keyChange: KeyChange? {
        guard case .changed(let change) = outcome else { return nil }
        return KeyChange(self, change)
    }
}

extension Sequence<KnownPerson> {
    var inOrder: [KnownPerson] { sorted { $0.handle.description < $1.handle.description } }
}
