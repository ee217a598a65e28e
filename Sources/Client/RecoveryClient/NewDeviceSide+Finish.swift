// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetAPI
import SignetClient
public import SocialRecovery

// The takeover, and what comes back after it.
extension NewDeviceSide {
    /// Puts the identity under this device's key, revokes every device from before, and brings back what guardians
    /// guarded.
    ///
    /// - Returns: what came back.
    /// - Throws: ``RecoveryClientError``.
    public func finish() async throws(RecoveryClientError) -> RecoveredThings {
        _ = try await post.asking { () throws(ClientError) in try await post.client.finishPending(post.secrets) }
        _ = try await status()
        guard var record = try record() else { throw .noRecovery }
        guard let stage = record.attempt?.stage else { throw .nobodyConfirmed }
        if stage == .collecting || stage == .succeeding { try await succeed(&record) }
        return try await bringBack(record)
    }

    private func succeed(_ record: inout RecoveryRecord) async throws(RecoveryClientError) {
        guard let start = record.attempt?.start else { throw .nobodyConfirmed }
        guard post.now() >= start.notBefore else { throw .tooEarly(until: start.notBefore) }
        let identityKey = record.request.identityKey
        let states = try await post.ownStates()
        guard let last = states.last else { throw .noRecovery }
        if last.identityKey != identityKey {
            guard last.pendingRecovery == start.hash else { throw .stopped }
            try await takeOver(&record, after: last, highest: states.flatMap(\.devices).map(\.number).max() ?? 0)
        }
        let now = try await states.last?.identityKey == identityKey ? states : post.ownStates()
        guard let before = now.last(where: { $0.identityKey != identityKey }),
            let after = now.first(where: { $0.identityKey == identityKey })
        else { throw .stopped }
        do throws(RecoveryAttemptError) { try record.attempt?.succeeded(before: before, after: after) } catch {
            throw .attempt(error)
        }
        try keep(record)
    }

    private func takeOver(
        _ record: inout RecoveryRecord, after state: AccountState, highest: UInt16
    ) async throws(RecoveryClientError) {
        guard var attempt = record.attempt else { throw .nobodyConfirmed }
        guard highest < UInt16.max else { throw .client(.misuse(.noDeviceNumberLeft)) }
        let secrets = post.secrets
        let card = try await post.asking { () throws(ClientError) in try await post.client.deviceCard(secrets) }
        // A little in the past, so that a fast clock does not claim a time to come.
        let time = max(attempt.start.notBefore, post.now() - min(post.now(), 60))
        let device = DeviceRecord(number: highest + 1, addedAt: time, keys: secrets.keys)
        let next: AccountState
        do {
            next = try secrets.withSealingKey { key in
                try attempt.succeed(with: key, after: state, device: device, at: time) {
                    try secrets.signAsIdentity($0) ?? []
                }
            }
        } catch let error as RecoveryAttemptError { throw .attempt(error) } catch { throw .damaged("recovery") }
        record.attempt = attempt
        try keep(record)
        _ = try await post.asking { () throws(ClientError) in
            try await post.client.submit(next, cards: [card], by: secrets)
        }
    }

    private func bringBack(_ record: RecoveryRecord) async throws(RecoveryClientError) -> RecoveredThings {
        guard let attempt = record.attempt, let journal = record.contents?.journal else { throw .nobodyConfirmed }
        let states = try await post.ownStates().filter { $0.identityKey != record.request.identityKey }
        let opened: OpenedJournal
        do {
            let count = try journal.verify(against: attempt.bundle, states: states)
            opened = try post.secrets.withSealingKey { key in
                try attempt.withJournalKey(key) { try journal.open(with: $0, first: count) }
            }
        } catch let error as RecoveryJournalError { throw .journal(error) } catch let error as RecoveryAttemptError {
            throw .attempt(error)
        } catch { throw .damaged("recovery") }
        var (people, changed): ([Handle], [Handle]) = ([], [])
        var comparisons: [Comparison] = []
        for case .contact(let handle, let identityKey, let comparison) in opened.entries.newestContacts {
            if try await isStill(handle, identityKey) {
                people.append(handle)
                comparisons += [comparison].compactMap(\.self)
            } else {
                changed.append(handle)
            }
        }
        try await post.asking { [people, comparisons] () throws(ClientError) in
            try await post.client.remember(people, comparisons)
        }
        for handle in people { _ = try await post.lookup(handle) }
        return RecoveredThings(
            entries: opened.entries, unreadable: opened.unreadable, people: people, changed: changed,
            devicesBefore: states.last?.devices.map(\.keys.signing) ?? [])
    }

    /// Whether the log shows the identity that the owner knew.
    private func isStill(_ handle: Handle, _ identityKey: [UInt8]) async throws(RecoveryClientError) -> Bool {
        do {
            return try await post.lookup(handle).lookup.state.identityKey == identityKey
        } catch {
            switch error {
            case .client(.notRegistered), .client(.accountClosed): return false
            default: throw error
            }
        }
    }
}

extension [JournalEntry] {
    /// Each person once, as they were known last: a person who was compared later is listed twice.
    fileprivate var newestContacts: [JournalEntry] {
        var handles: Set<Handle> = []
        let newest = reversed().filter { entry in
            if case .contact(let handle, _, _) = entry { handles.insert(handle).inserted } else { false }
        }
        return newest.reversed()
    }
}

/// What a recovery brought back.
public struct RecoveredThings: Sendable {
    /// Everything, in the order in which the owner's devices had put it there.
    public let entries: [JournalEntry]
    /// The number of additions by the owner's devices that cannot be read: a holder of one of them may have put junk
    /// there.
    public let unreadable: Int
    /// The people whom the owner knew, with the same identity as then: pinned.
    public let people: [Handle]
    /// People who have another identity by now, or are gone: to be compared again.
    public let changed: [Handle]
    /// Ed25519 keys, 32 bytes each, of the devices that the account had when the recovery took it over.
    public let devicesBefore: [[UInt8]]
}
