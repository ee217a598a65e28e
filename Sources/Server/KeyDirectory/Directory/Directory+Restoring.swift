// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogEngine
import SignetAPI
import TransparencyLog
import VRF

// States whose records are in the log and whose rows the database has lost: after an older copy of it was restored and repaired.
extension Directory {
    /// Takes a state again that was accepted and logged before.
    ///
    /// What was proven then, such as the possession of keys, need not be proven again: the record in the log commits to the whole state under
    /// an opening of 32 random bytes. Nobody needs an invitation for it either, and no rule for registrations is asked. One state after the
    /// other: the first that is lost comes first.
    ///
    /// After a release that the database knows of, the first state of the handle's next holder takes the place of the account, as it did then.
    ///
    /// - Parameters:
    ///   - known: what the database has of the account; nil: nothing.
    ///   - label: of the handle, with the proof of it; nil: that of the account.
    ///   - onNewHolder: called when the state is of the next holder of a released handle.
    /// - Returns: nil if the database lacks nothing of this account.
    /// - Throws: ``DirectoryError``; `unavailable`: this is not the state that is lost. Nothing was changed.
    func restored(
        _ statement: Statement, _ known: Known?, _ label: (hash: VRFHash, proof: VRFProof)? = nil,
        onNewHolder: @Sendable () async -> Void = {}
    ) async throws(DirectoryError) -> StateReceipt? {
        let account = known?.account
        guard let label = label ?? account.map({ ($0.label, $0.vrfProof) }) else { return nil }
        let newest = known?.newest.version ?? 0
        guard epochs.version(of: LabelIndex(label.hash)) > newest else { return nil }
        if known == nil, try await database.isErased(label.hash) { return nil }
        guard statement.state.version == newest + 1 else { throw .refused(.unavailable) }
        var current: AccountState?
        let isReleased = account?.releasedAt != nil
        if let known, !isReleased { current = try state(of: known.newest) }
        try requireCards(of: statement, after: current)
        let row = StateRow(statement, label: label.hash, after: current, kind: isReleased ? .reset : .set)
        guard let receipt = receipt(for: row) else { throw .refused(.unavailable) }
        try await database.restore(statement, row, of: account, label)
        cache.forget(statement.state.handle)
        if isReleased { await onNewHolder() }
        return try await seen(row, receipt)
    }

    /// Takes a state again that comes with the signature of when it was first brought, which was too long ago for anything new.
    ///
    /// - Throws: ``DirectoryError``; `wrongTime`: the log does not have it, or the database lacks nothing of the account; `unavailable`: as
    ///   ``restored(_:_:_:onNewHolder:)``.
    func takenAgain(
        _ statement: Statement, _ onNewHolder: @Sendable () async -> Void
    ) async throws(DirectoryError) -> StateReceipt {
        let known = try await known(statement)
        if let known, let same = known.same { return try await receipt(for: same, of: known.account) }
        var label: (VRFHash, VRFProof)?
        if known == nil { label = try self.label(of: statement.state.handle) }
        guard let receipt = try await restored(statement, known, label, onNewHolder: onNewHolder) else {
            throw .refused(.wrongTime)
        }
        return receipt
    }

    /// The log commits to the state without the longest key of each device, which is on the device's card.
    private func requireCards(of statement: Statement, after current: AccountState?) throws(DirectoryError) {
        let known = current?.devices ?? []
        let cards = statement.submission.cards
        for device in statement.state.devices where !known.contains(device) {
            guard cards.contains(where: { $0.request.keys.listed == device.keys }) else {
                throw .refused(.possessionNotProven)
            }
        }
    }

    /// Refuses to answer with a state that is not the label's last one: the last one is lost.
    func requireNewest(_ account: PublishedAccount, size: UInt64) throws(DirectoryError) {
        guard isNewest(account, size: size) else { throw .refused(.unavailable) }
    }

    /// Whether the log has nothing later of the account, within this size.
    func isNewest(_ account: PublishedAccount, size: UInt64) -> Bool {
        let last = epochs.lastIndex(of: LabelIndex(account.account.label), size: size)
        return last == nil || last == account.index
    }
}
