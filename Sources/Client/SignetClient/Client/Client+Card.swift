// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetAPI
import TransparencyLog

extension Client {
    /// The user's contact card, against which other people check their first lookup of the user.
    ///
    /// - Throws: ``ClientError``: ``ClientMisuse/identityKeyElsewhere`` on a device that does not hold the identity.
    public func contactCard(by secrets: DeviceSecrets) async throws(ClientError) -> ContactCard {
        _ = try await ownState(secrets)
        let lookup = try await lookup(secrets.handle).verdict.lookup
        let checkpoint: CheckpointCard
        do { checkpoint = try CheckpointCard(lookup.checkpoint) } catch { throw .misuse(.profileNeedsOneLog) }
        do {
            return try ContactCard(of: lookup, checkpoint: checkpoint) { try secrets.signAsIdentity($0) ?? [] }
        } catch { throw .keystore(.keysDoNotFit) }
    }

    /// Asks a person whose contact card the user has to be a friend, or accepts the person's request. What the directory proves
    /// is compared with the card before a request is sent and before anything is pinned; the card's checkpoint is also compared
    /// with the log.
    ///
    /// - Parameters:
    ///   - isAccepting: whether the other person asked first.
    ///   - metOn: the day on which the two people met and the card was handed over, counted from 1970-01-01; nil if they did
    ///     not meet.
    /// - Throws: ``ClientError``: ``ClientError/contactCard(_:)`` if the answer does not match the card, and
    ///   ``ClientError/forkMet(_:)`` if the directory showed the other person a different log.
    public func addFriend(
        by card: ContactCard, isAccepting: Bool, metOn: UInt64?, by secrets: DeviceSecrets
    ) async throws(ClientError) -> LookupVerdict {
        let found = try await verifiedAnswer(card.handle)
        switch found.answer {
        case .registered(let lookup):
            do { try card.check(lookup) } catch { throw .contactCard(error) }
        case .closed(let closure): throw .accountClosed(closure)
        case .absent(let absence): throw .notRegistered(absence)
        }
        if case .fork(let fork) = try await meet(card.checkpoint) { throw .forkMet(fork) }
        let friendship =
            isAccepting
            ? try await acceptFriend(card.handle, by: secrets) : try await addFriend(card.handle, by: secrets)
        let verdict: LookupVerdict
        switch await friendship.pinning.value {
        case .success(let found): verdict = found
        case .failure(let error): throw error
        }
        guard let keys = verdict.keys, keys.identityKey == card.identityKey else { return verdict }
        let comparison = Comparison(
            handle: card.handle, identityKey: card.identityKey, kind: .card, time: surroundings.now(), metOn: metOn)
        try await stored { () throws(StoreError) in try await store.keep(comparison) }
        return verdict
    }
}
