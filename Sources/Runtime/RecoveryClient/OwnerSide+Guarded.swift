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
    /// - Returns: how many people a recovery brings back; nil when the account has no guardians in force.
    /// - Throws: ``RecoveryClientError``.
    public func guardNews(_ entries: [JournalEntry]) async throws(RecoveryClientError) -> Int? {
        let own = try await post.lookup(post.secrets.handle).lookup.state
        guard let hash = own.recoveryCommitment else { return nil }
        guard let device = own.devices.first(where: { $0.keys.signing == post.secrets.keys.signing }) else {
            throw .client(.misuse(.deviceNotAddedYet))
        }
        let people = try await contacts()
        var contents = try await guarded(under: hash, of: own.handle)
        var record = try guardedRecord(of: hash)
        if !contents.journal.holds(record.head, at: record.count) { record = GuardedRecord(of: hash) }
        let news = (entries + people).filter(record.lacks)
        if !news.isEmpty {
            contents = try contents.adding(news, by: device.number) { try post.secrets.sign($0) }
            try await store(contents.encoded, under: hash)
        }
        record.add(news, in: contents.journal)
        try files.write(record.encoded, to: files.kept)
        return people.count
    }

    /// The file that a new device would fetch now, checked as it would; what this device has of it if the server has none.
    private func guarded(
        under hash: [UInt8], of handle: Handle
    ) async throws(RecoveryClientError) -> RecoveryContents {
        let states = try await post.ownStates()
        for file in [try await post.find(.file, hash + handle.bytes), try files.read(files.nextContents)] {
            if let file, let contents = RecoveryContents(decoding: file, under: hash, states) { return contents }
        }
        throw .guardedThingsLost
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

extension RecoveryContents {
    fileprivate init?(decoding file: [UInt8], under hash: [UInt8], _ states: [AccountState]) {
        guard let contents = try? RecoveryContents(decoding: file), contents.commitment.hash == hash,
            let bundle = try? RecoveryBundle(decoding: contents.bundle, commitment: contents.commitment),
            (try? contents.journal.verify(against: bundle, states: states)) != nil
        else { return nil }
        self = contents
    }

    fileprivate func adding(
        _ entries: [JournalEntry], by device: UInt16, signing sign: ([UInt8]) throws -> [UInt8]
    ) throws(RecoveryClientError) -> RecoveryContents {
        var journal = journal
        do {
            let key = try RecoveryBundle(decoding: bundle, commitment: commitment).commitments.publicKey
            for entry in entries { try journal.append(entry, to: key, device: device, signing: sign) }
        } catch { throw .tooMuchToGuard }
        return RecoveryContents(commitment: commitment, bundle: bundle, journal: journal)
    }
}
