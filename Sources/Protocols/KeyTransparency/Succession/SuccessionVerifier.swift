// SPDX-License-Identifier: Apache-2.0

import TransparencyLog
import VRF

/// What a directory is to be trusted by after its changes of keys. Only ``SuccessionVerifier`` makes one.
public struct VerifiedSuccession: Hashable, Sendable {
    /// The trust after the last change.
    public let trust: DirectoryTrust
    /// The changes that were new, oldest first.
    public let changes: [SuccessionRecord]
    /// Each log that ended with one of them, oldest first; empty if the log is the same.
    public let formerLogs: [FormerLog]
    /// Whether a checkpoint may now be accepted that the quorum of before would have refused: fewer or other witnesses.
    /// Then the user must agree.
    public let weakensQuorum: Bool
}

/// Follows a directory's changes of keys: each must be in the log that the trust before it accepts.
///
/// How old a checkpoint is does not matter here: a client may have slept for years.
public struct SuccessionVerifier: Sendable {
    /// What is trusted before the first change that is to be followed.
    public let trust: DirectoryTrust

    /// A verifier that starts from here.
    public init(trust: DirectoryTrust) { self.trust = trust }

    /// Follows the changes after the last one that led to ``trust``, or all of them if none did.
    ///
    /// - Returns: nil when the chain has nothing new.
    /// - Throws: ``SuccessionError``: which link does not hold, counted from 0.
    ///
    /// Security: proves that a party that could sign for the directory made the change, seen by the quorum, publicly
    /// and permanently; it does not prove that the operator wanted it.
    public func follow(_ chain: SuccessionChain) throws(SuccessionError) -> VerifiedSuccession? {
        var trust = trust
        let known = chain.links.lastIndex { $0.record.policy == trust.policy && $0.record.vrfKey == trust.vrfKey }
        var number = known.map { chain.links[$0].record.number } ?? 0
        var (changes, ended): ([SuccessionRecord], [FormerLog]) = ([], [])
        for (place, link) in chain.links.enumerated().dropFirst((known ?? -1) + 1) {
            try checkNumber(link.record, after: number, place)
            let checkpoint = try checkCheckpoint(link, trust, place)
            try checkInclusion(link, checkpoint, place)
            try checkKind(link.record, checkpoint, trust, place)
            if link.record.kind == .log { ended.append(FormerLog(trust: trust, end: checkpoint)) }
            trust = DirectoryTrust(policy: link.record.policy, vrfKey: link.record.vrfKey, freshness: trust.freshness)
            number = link.record.number
            changes.append(link.record)
        }
        guard !changes.isEmpty else { return nil }
        return VerifiedSuccession(
            trust: trust, changes: changes, formerLogs: ended,
            weakensQuorum: !trust.policy.quorumImplies(self.trust.policy))
    }

    private func checkNumber(_ record: SuccessionRecord, after number: UInt64, _ place: Int) throws(SuccessionError) {
        guard record.number == number + 1 else {
            throw .number(link: place, expected: number + 1, found: record.number)
        }
    }

    private func checkCheckpoint(
        _ link: SuccessionLink, _ trust: DirectoryTrust, _ place: Int
    ) throws(SuccessionError) -> VerifiedCheckpoint {
        do { return try trust.policy.verify(link.note) } catch { throw .checkpoint(link: place, error) }
    }

    private func checkInclusion(
        _ link: SuccessionLink, _ checkpoint: VerifiedCheckpoint, _ place: Int
    ) throws(SuccessionError) {
        do { try link.inclusion.verify(leaf: .leaf(link.record.entry), in: checkpoint.checkpoint.head) } catch {
            throw .inclusion(link: place, error)
        }
    }

    private func checkKind(
        _ record: SuccessionRecord, _ checkpoint: VerifiedCheckpoint, _ trust: DirectoryTrust, _ place: Int
    ) throws(SuccessionError) {
        let goesOn = record.policy.logs.contains { $0.name == checkpoint.checkpoint.origin }
        switch record.kind {
        case .keys:
            guard goesOn else { throw .otherLog(link: place) }
            guard record.vrfKey == trust.vrfKey else { throw .otherVRFKey(link: place) }
        case .log: if goesOn { throw .sameLog(link: place) }
        }
    }
}
