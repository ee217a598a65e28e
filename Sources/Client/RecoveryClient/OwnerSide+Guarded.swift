// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SecretSharing
import SignetAPI
import SignetClient
public import SocialRecovery

/// Keeping what guardians guard up to date. Sealing needs the recovery key's public half alone: no guardian is asked.
extension OwnerSide {
    /// Adds to the journal what is new since this device last did: keys that were made, people who were met. What a
    /// server that went back has lost is added again. Any device of the account may, and the same call may come twice.
    ///
    /// - Parameter entries: everything of this device that a recovery has to bring back, besides the people.
    /// - Returns: what a recovery brings back; nil when the account has no guardians in force.
    /// - Throws: ``RecoveryClientError``.
    public func guardNews(_ entries: [JournalEntry]) async throws(RecoveryClientError) -> GuardedNews? {
        for _ in 0..<3 {
            do { return try await addNews(entries) } catch {
                // Another device of the account added in between: what it added is fetched, and this behind it.
                guard case .client(.refused(.versionConflict, _)) = error else { throw error }
            }
        }
        throw .guardedThingsLost
    }

    private func addNews(_ entries: [JournalEntry]) async throws(RecoveryClientError) -> GuardedNews? {
        let own = try await post.lookup(post.secrets.handle).lookup.state
        guard let hash = own.recoveryCommitment else { return nil }
        let device = try await ownRecord(in: own)
        let people = try await contacts()
        var (contents, vouched, isThere) = try await guarded(under: hash)
        var record = try guardedRecord(of: hash)
        if !contents.journal.holds(record.head, at: record.count) { record = GuardedRecord(of: hash) }
        // What this device has seen there before a device was removed was there before.
        guard max(vouched, record.count) == contents.journal.count else { throw .guardedByRemovedDevices }
        let news = (entries + people).filter(record.lacks)
        if !news.isEmpty || vouched < contents.journal.count || !isThere {
            contents = try contents.adding(news, by: device.number, at: own.version) { try post.secrets.sign($0) }
            try await store(contents.encoded, under: hash)
        }
        record.add(news, in: contents.journal)
        try files.write(record.encoded, to: files.kept)
        return GuardedNews(people: people.count, isMended: !isThere)
    }

    /// The file that a new device would fetch now, checked as it would. If it cannot be read, the parts of it that
    /// devices of the account signed, or what this device has; `isThere` is false then, and the file has to be stored
    /// again.
    private func guarded(
        under hash: [UInt8]
    ) async throws(RecoveryClientError) -> (contents: RecoveryContents, vouched: Int, isThere: Bool) {
        let states = try await post.ownStates()
        let there = try await post.find(.file, hash)
        if let contents = try? there.map({ try RecoveryContents(decoding: $0) }),
            let vouched = contents.vouchedCount(under: hash, states),
            contents.journal.withoutJunk(states).count == contents.journal.count
        {
            return (contents, vouched, true)
        }
        let own = try files.read(files.nextContents)
        let candidates = [
            there.flatMap { RecoveryContents(savedFrom: $0, under: hash, states) },
            own.flatMap { try? RecoveryContents(decoding: $0) },
        ]
        for contents in candidates.compactMap(\.self) {
            if let vouched = contents.vouchedCount(under: hash, states) { return (contents, vouched, false) }
        }
        let isOlder = [there, own].contains { $0.map(RecoveryContents.isOlder) ?? false }
        throw isOlder ? .anotherVersion : .guardedThingsLost
    }

    /// What the previous guardians were given as well: their parts and the file of that time open it, even if both were
    /// replaced. They cannot open another key in its place.
    ///
    /// - Parameter entries: what there is to guard now.
    /// - Throws: ``RecoveryClientError``.
    public func openedByFormerParts(_ entries: [JournalEntry]) throws(RecoveryClientError) -> [JournalEntry] {
        guard let former = try files.value(in: files.formerKept, { try GuardedRecord(decoding: $0) }) else { return [] }
        return entries.filter { !former.lacks($0) }
    }

    /// Before a set takes the place of another: what that one was given. All sets before are remembered together.
    func rememberFormer(of setup: RecoverySetup) throws(RecoveryClientError) {
        guard let kept = try files.value(in: files.kept, { try GuardedRecord(decoding: $0) }),
            kept.commitment != setup.commitment.hash
        else { return }
        let before = try files.value(in: files.formerKept) { try GuardedRecord(decoding: $0) }
        try files.write(kept.joined(with: before).encoded, to: files.formerKept)
    }

    private func guardedRecord(of hash: [UInt8]) throws(RecoveryClientError) -> GuardedRecord {
        for file in [files.kept, files.nextKept] {
            let record = try files.value(in: file) { try GuardedRecord(decoding: $0) }
            if let record, record.commitment == hash { return record }
        }
        return GuardedRecord(of: hash)
    }

    func store(_ contents: [UInt8], under hash: [UInt8]) async throws(RecoveryClientError) {
        guard contents.count <= RecoveryFile.maximumByteCount else { throw .tooMuchToGuard }
        _ = try await post.call(.storeFile, RecoveryFile(commitment: hash, bytes: contents).encoded)
    }
}

/// What guardians guard by now.
public struct GuardedNews: Hashable, Sendable {
    /// How many people a recovery brings back.
    public let people: Int
    /// Whether the server had no file, or one that a new device could not have read: it has one again.
    public let isMended: Bool
}

extension RecoveryContents {
    /// The parts that devices of the account signed in a file that cannot be read as a whole; nil if its bundle is gone
    /// as well.
    fileprivate init?(savedFrom bytes: [UInt8], under hash: [UInt8], _ states: [AccountState]) {
        guard let parts = RecoveryFile(commitment: hash, bytes: bytes).parts,
            let bundle = try? RecoveryBundle(decoding: parts.bundle, commitment: parts.commitment)
        else { return nil }
        self.init(
            commitment: parts.commitment, bundle: parts.bundle,
            journal: RecoveryJournal(scope: bundle.scope, parts.records).withoutJunk(states))
    }

    fileprivate static func isOlder(_ bytes: [UInt8]) -> Bool {
        do throws(RecoveryFormatError) { _ = try RecoveryContents(decoding: bytes) } catch {
            return error == .anotherVersion
        }
        return false
    }

    /// How many records count; nil when it is not the account's file under this commitment.
    fileprivate func vouchedCount(under hash: [UInt8], _ states: [AccountState]) -> Int? {
        guard commitment.hash == hash, let bundle = try? RecoveryBundle(decoding: bundle, commitment: commitment) else {
            return nil
        }
        return try? journal.verify(against: bundle, states: states)
    }

    fileprivate func adding(
        _ entries: [JournalEntry], by device: UInt16, at version: UInt64, signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(RecoveryClientError) -> RecoveryContents {
        var journal = journal
        do {
            let key = try RecoveryBundle(decoding: bundle, commitment: commitment).journalKey
            try journal.append(entries, to: key, device: device, at: version, signing: sign)
        } catch { throw .tooMuchToGuard }
        return RecoveryContents(commitment: commitment, bundle: bundle, journal: journal)
    }
}
