// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import PinnedHTTP
public import SignetAPI
import TransparencyLog

/// The account as the directory shows it to a new device, which has accepted nothing of it yet. Only
/// ``Client/accountToConfirm()`` makes one.
public struct UnconfirmedAccount: Hashable, Sendable {
    /// The card with which this device asked to be added.
    public let card: LinkCard
    /// The identity key that the directory shows, 33 bytes.
    public let identityKey: [UInt8]
    /// SHA-256 of the account state that the directory shows, 32 bytes.
    public let stateHash: [UInt8]
    let lookup: VerifiedLookup
}

extension Client {
    /// Proves to the directory that this device holds its keys, reads the log, and makes the card with which a device that
    /// holds the identity key adds it. The card is stored until the account is confirmed.
    ///
    /// - Throws: ``ClientError``.
    public func linkCard(_ secrets: DeviceSecrets) async throws(ClientError) -> LinkCard {
        let device = try await deviceCard(secrets)
        _ = try await verifiedAnswer(secrets.handle)
        guard let checkpoint = try await self.card() else { throw .viewKeepsMoving }
        let card = LinkCard(device, checkpoint)
        try await stored { () throws(StoreError) in try await store.setPendingLink(card.encoded) }
        return card
    }

    /// Adds the device of a card to the account. Before anything is sent, it checks that both devices see the same log and that
    /// the card is new. A device that is already in the account is left unchanged.
    ///
    /// - Throws: ``ClientError``: ``ClientError/linkCard(_:)``, ``ClientError/forkMet(_:)``, and the errors of
    ///   ``addDevice(_:by:)`` with a device card.
    public func addDevice(_ card: LinkCard, by secrets: DeviceSecrets) async throws(ClientError) -> LookupVerdict {
        let state = try await ownState(secrets)
        if state.devices.contains(where: { $0.keys.signing == card.device.request.keys.signing }) {
            return try await lookup(secrets.handle).verdict
        }
        try await check(card)
        return try await addDevice(card.device, by: secrets)
    }

    private func check(_ card: LinkCard) async throws(ClientError) {
        switch try await meet(card.checkpoint) {
        case .oneHistory: break
        case .fork(let fork): throw .forkMet(fork)
        case .noProof, .otherLog: throw .linkCard(.anotherLog)
        case .notCompared: throw .transport(.unreachable)
        }
        let time = try await epochTime(of: card.checkpoint)
        let (limit, _) = time.addingReportingOverflow(LinkCard.maximumAge)
        guard surroundings.now() <= limit else { throw .linkCard(.tooOld(time)) }
    }

    /// When the epoch ended whose record is the last entry under a checkpoint, in seconds since 1970. It is read from the log's
    /// files, and proved to be in the checkpoint's tree.
    private func epochTime(of card: CheckpointCard) async throws(ClientError) -> UInt64 {
        let (head, files) = (card.checkpoint.head, LogFiles(calls: calls))
        guard head.size > 0 else { throw .linkCard(.anotherLog) }
        var reader = files.tiles.reader(size: head.size)
        let last = try await entries(from: head.size - 1, in: head, files, &reader).last
        guard let last, case .epoch(let record)? = try? LogEntry(decoding: last.bytes) else {
            throw .linkCard(.anotherLog)
        }
        return record.time / 1000
    }

    /// What the directory shows a new device about its account, for the user to confirm. This call accepts nothing.
    ///
    /// - Throws: ``ClientError``: ``ClientMisuse/nothingToConfirm``, ``ClientMisuse/deviceNotAddedYet``.
    public func accountToConfirm() async throws(ClientError) -> UnconfirmedAccount {
        guard let owner else { throw .misuse(.noAccount) }
        let kept = try await stored { () throws(StoreError) in try await store.pendingLink() }
        guard let kept else { throw .misuse(.nothingToConfirm) }
        guard let card = try? LinkCard(decoding: kept, policy: profile.trust.policy) else { throw .store(.damaged) }
        let lookup = try await lookup(owner.handle).verdict.lookup
        guard lookup.state.devices.contains(where: { $0.keys.signing == owner.deviceKey }) else {
            throw .misuse(.deviceNotAddedYet)
        }
        let state = lookup.state.authored
        return UnconfirmedAccount(card: card, identityKey: state.identityKey, stateHash: state.hash, lookup: lookup)
    }

    /// Accepts the account as this device's own. Call it only after the user has compared the digits of the card, identity key
    /// and state with those that their other device shows.
    ///
    /// - Throws: ``ClientError``.
    public func acceptCompared(_ account: UnconfirmedAccount) async throws(ClientError) {
        let pinned = try await pinnedPeer(account.lookup.handle)
        guard pinned == nil, try await pin(account.lookup, replacing: nil) else { throw .viewKeepsMoving }
        try await stored { () throws(StoreError) in try await store.setPendingLink(nil) }
    }

    /// Whether the user's account has been accepted on this device, or belongs to this device from the start.
    func isConfirmed(_ owner: Owner) async throws(ClientError) -> Bool {
        if owner.identityKey != nil { return true }
        return try await pinnedPeer(owner.handle) != nil
    }
}
