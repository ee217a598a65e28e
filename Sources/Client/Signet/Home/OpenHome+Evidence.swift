// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import SignetClient
public import TransparencyLog

extension OpenHome {
    /// Compares a contact's card of the log with the newest checkpoint that this device has verified. The evidence of a fork is
    /// stored before this returns. A change of the directory's keys is followed during the comparison.
    ///
    /// - Returns: nil if this device has not looked at the log yet; and the home that is now in force.
    /// - Throws: ``SignetError``, as ``run(_:)`` does.
    public func compare(_ theirs: CheckpointCard) async throws(SignetError) -> (check: CardCheck?, home: OpenHome) {
        let (check, home) = try await run { client throws(ClientError) -> CardCheck? in
            guard let own = try await client.card() else { return nil }
            return try await client.check(theirs, against: own)
        }
        guard case .fork(let fork) = check else { return (check, home) }
        do throws(StoreError) { try await home.client.store.keep(fork, at: surroundings.now()) } catch {
            throw .store(error, path: storePath)
        }
        return (check, home)
    }
}

/// The evidence against one directory in a home folder.
public struct KeptEvidence: Sendable {
    /// What the directory showed this device and signed, and what contradicts it.
    public let contradictions: [LogContradiction]
    /// Forks that a contact's checkpoint showed.
    public let forks: [ForkEvidence]
    /// What distinguishes the directory's files from those of others; nil for the home's own directory.
    public let name: String?
    /// The policy by which the evidence was judged; nil if the directory file is gone.
    public let policy: Policy?
}

extension HomeFolder {
    /// The evidence against every directory that was ever looked at from this folder. No account is needed.
    ///
    /// - Returns: nil if there is neither an account nor a record of a lookup in the folder.
    /// - Throws: ``SignetError/store(_:path:)``.
    public func keptEvidence() async throws(SignetError) -> [KeptEvidence]? {
        let stores = stores
        guard !stores.isEmpty || directory.exists else { return nil }
        var all: [KeptEvidence] = []
        for (path, profile, name) in stores {
            let policy = try? HomeFolder.profile(in: profile).trust.policy
            do throws(StoreError) {
                let store = try SQLiteStore.open(at: path)
                all.append(
                    KeptEvidence(
                        contradictions: try await store.evidence(), forks: try await store.metForks(), name: name,
                        policy: policy))
            } catch { throw .store(error, path: path) }
        }
        return all
    }
}

extension LogContradiction {
    /// Both notes as one piece of evidence, for anyone to check; nil if one of them cannot be read. If their sizes differ, it
    /// still lacks what links them, which is in the log's tiles.
    public var evidence: Evidence? {
        guard let known = try? SignedNote(decoding: known.note), let received = try? SignedNote(decoding: received.note)
        else { return nil }
        let isGrowth = self.known.head.size <= self.received.head.size
        return .fork(.init(first: isGrowth ? known : received, second: isGrowth ? received : known))
    }
}
