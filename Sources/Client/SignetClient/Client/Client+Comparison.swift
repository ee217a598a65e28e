// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency

/// What the user and another person compare. The other person's keys have just been looked up and are the accepted ones. Only
/// ``Client/identities(with:)`` makes one.
public struct ComparedIdentities: Hashable, Sendable {
    /// The user's handle.
    public let own: Handle
    /// The identity key that the user's devices use, 33 bytes.
    public let ownKey: [UInt8]
    /// The other person's handle.
    public let peer: Handle
    /// The other person's identity key, as the directory proves it and the user accepted it, 33 bytes.
    public let peerKey: [UInt8]

    /// The sixty digits that both people see.
    public var number: SafetyNumber { SafetyNumber((own, ownKey), (peer, peerKey)) }
    /// The code that the user's screen shows for the other person's camera.
    public var code: IdentityCode { IdentityCode(of: (own, ownKey), for: (peer, peerKey)) }

    /// Compares a code that was scanned from the other person's screen.
    ///
    /// - Throws: `IdentityCodeError`.
    public func check(_ scanned: IdentityCode) throws(IdentityCodeError) {
        try scanned.check(peer: (peer, peerKey), own: (own, ownKey))
    }
}

extension Client {
    /// Looks a person up, to compare identities with them. The user must have accepted the person's keys, and they must be
    /// unchanged.
    ///
    /// - Throws: ``ClientError``: ``ClientError/peerChanged(_:_:)`` if there is a change to decide on first.
    public func identities(with handle: Handle) async throws(ClientError) -> ComparedIdentities {
        guard let owner else { throw .misuse(.noAccount) }
        guard handle != owner.handle else { throw .misuse(.yourself) }
        guard let own = try await pinnedPeer(owner.handle) else { throw .misuse(.deviceNotAddedYet) }
        let verdict = try await lookup(handle).verdict
        switch verdict.outcome {
        case .matched(let keys), .firstPinned(let keys), .accepted(let keys):
            return ComparedIdentities(
                own: owner.handle, ownKey: own.identityKey, peer: handle, peerKey: keys.identityKey)
        case .stranger: throw .misuse(.nothingPinned)
        case .changed(let change): throw .peerChanged(handle, change)
        case .contradicted(let contradiction): throw .contradicted(contradiction)
        }
    }

    /// Records that the two people compared their identities and found each other's keys.
    ///
    /// - Parameter metOn: the day on which they met to compare, counted from 1970-01-01, as the user gave it; nil if they did
    ///   not meet, or met before: a meeting that is kept for the same identity stays.
    /// - Throws: ``ClientError``: ``ClientMisuse/changeHasMoved`` if another identity is pinned by now.
    public func keepComparison(
        of identities: ComparedIdentities, by kind: Comparison.Kind, metOn: UInt64?
    ) async throws(ClientError) {
        guard try await pinnedPeer(identities.peer)?.identityKey == identities.peerKey else {
            throw .misuse(.changeHasMoved)
        }
        let before = try await comparisonKept(with: identities.peer)
        let comparison = Comparison(
            handle: identities.peer, identityKey: identities.peerKey, kind: kind, time: surroundings.now(),
            metOn: metOn ?? (before?.identityKey == identities.peerKey ? before?.metOn : nil))
        try await stored { () throws(StoreError) in try await store.keep(comparison) }
    }

    /// Whether the user compared the identity key that is pinned for a person; of somebody who was met and not looked up yet, the key
    /// that they proved in the meeting.
    ///
    /// - Throws: ``ClientError/store(_:)``.
    public func comparison(with handle: Handle) async throws(ClientError) -> ComparisonState {
        let comparison = try await comparisonKept(with: handle)
        guard let pinned = try await pinnedPeer(handle) else { return ComparisonState(ofUnpinned: comparison) }
        return ComparisonState(comparison, of: pinned.identityKey)
    }

    /// What the user compared with a person, of whichever key; nil for nothing.
    func comparisonKept(with handle: Handle) async throws(ClientError) -> Comparison? {
        try await stored { () throws(StoreError) in try await store.comparison(with: handle) }
    }
}
