// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetAPI
import TransparencyLog

extension Client {
    /// Asks whether the directory has changed its keys since this client's profile was made, and follows the changes.
    ///
    /// None of the changes is stored: the caller stores them with ``remember(_:)``, then stores
    /// ``SignetAPI/DirectoryProfile/following(_:)``, and makes a new client from it, after asking the user if the quorum is
    /// weakened.
    ///
    /// - Returns: nil if nothing has changed.
    /// - Throws: ``ClientError``; ``ClientError/succession(_:)`` if a change does not verify under the trust that preceded it;
    ///   ``ClientError/log(_:)`` if a log that is said to have ended was larger, or a different one; that is kept as evidence.
    public func succession() async throws(ClientError) -> VerifiedSuccession? {
        guard let bytes = try await calls.succession() else { return nil }
        let succession: VerifiedSuccession?
        do {
            succession = try SuccessionVerifier(trust: profile.trust).follow(SuccessionChain(decoding: bytes))
        } catch { throw .succession(error) }
        if let succession { try await checkHandover(succession) }
        return succession
    }

    /// Verifies that the published checkpoint is of the log that is trusted, so that nothing is registered in a log whose answer
    /// could not be verified.
    ///
    /// A checkpoint that is not there, or cannot be fetched now, is no reason to refuse: the first registration makes the first.
    ///
    /// - Parameter trust: the trust of a directory file for the same server; nil for that of this client's profile.
    /// - Throws: ``ClientError``, of which ``ClientError/mayBeSuccession`` is true.
    package func checkTrust(_ trust: DirectoryTrust? = nil) async throws(ClientError) {
        let trust = trust ?? profile.trust
        do throws(ClientError) {
            _ = try await LogFiles(calls: calls).checkpoint(trust, knowing: nil, at: surroundings.now())
        } catch {
            guard error.mayBeSuccession else { return }
            throw error
        }
    }

    /// Whether the directory's changes of keys lead from a trust of before to this client's.
    ///
    /// - Throws: ``ClientError``.
    package func hasFollowed(from trust: DirectoryTrust) async throws(ClientError) -> Bool {
        guard let bytes = try await calls.succession(), let chain = try? SuccessionChain(decoding: bytes),
            let found = try? SuccessionVerifier(trust: trust).follow(chain)
        else { return false }
        return found.trust.policy == profile.trust.policy && found.trust.vrfKey == profile.trust.vrfKey
    }

    /// Whether there is stored evidence that the log has two histories. If so, the user should be asked about what it says of
    /// its next keys.
    ///
    /// - Throws: ``ClientError/store(_:)``.
    public func holdsEvidence() async throws(ClientError) -> Bool {
        let kept = try await stored { () throws(StoreError) in try await store.evidence() }
        let forks = try await stored { () throws(StoreError) in try await store.metForks() }
        return kept.contains { $0.known.origin == origin }
            || forks.contains { (try? Checkpoint(decoding: $0.first.text))?.origin == origin }
    }

    /// A log must have grown from what this client saw of it to its end, and the continuing log must itself name that end, in
    /// its first entry, and begin no earlier.
    private func checkHandover(_ succession: VerifiedSuccession) async throws(ClientError) {
        guard let ended = succession.formerLogs.first, let last = succession.formerLogs.last else { return }
        try await checkGrowth(to: ended)
        let (first, epoch) = try await beginning(under: succession.trust)
        do { try last.checkSuccessor(beginningWith: first, epoch) } catch { throw .succession(error) }
    }

    /// The first entry of the log that a trust names, empty if the log is empty, and the first epoch record, nil if it is not
    /// among the first 256 entries; both are proven to be in the log. In a log that continues another one, the epoch record is
    /// right behind the first entry.
    private func beginning(
        under trust: DirectoryTrust
    ) async throws(ClientError) -> (first: [UInt8], epoch: EpochRecord?) {
        let files = LogFiles(calls: calls)
        let head = try await files.checkpoint(trust, knowing: nil, at: surroundings.now()).checkpoint.checkpoint.head
        guard head.size > 0 else { return ([], nil) }
        var reader = files.tiles.reader(size: head.size)
        let entries = try await files.entries(bundle: 0, size: head.size)
        let epochs = entries.map { try? EpochRecord(decoding: $0) }
        let place = epochs.firstIndex { $0 != nil }
        for index in Set([0, place ?? 0]).sorted() where index < entries.count {
            let proof = try await reader.inclusionProof(index: UInt64(index))
            do { try proof.verify(leaf: .leaf(entries[index]), in: head) } catch {
                throw .log(.inclusion(index: UInt64(index), error))
            }
        }
        return (entries.first ?? [], place.flatMap { epochs[$0] })
    }
}

extension ClientError {
    /// Whether this error is one that a client meets after its directory has changed its keys.
    public var mayBeSuccession: Bool {
        if case .log(.checkpoint) = self { return true }
        guard case .lookup(let refusal) = self else { return false }
        switch refusal.error.check {
        case .vrf, .origin, .logSignature, .cosignatures: return true
        default: return false
        }
    }
}
