// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// Checks evidence against a log, with nothing but the keys that are trusted to be the log's.
///
/// Security: the result convicts the holder of the log's key, whether that is the log itself or a thief. Cosignatures
/// are not required: a log answers for what it signed, even if no witness saw it.
public struct EvidenceVerifier: Sendable {
    /// Whose keys are the log's; its quorum is not asked for.
    public let policy: Policy

    /// A verifier of evidence against the logs of a policy.
    public init(policy: Policy) { self.policy = policy }

    /// What the evidence proves.
    ///
    /// - Throws: ``EvidenceVerificationError``. Only after ``EvidenceVerificationError/logNeeded(size:)`` is there more to
    ///   try: ``verify(_:entries:)``.
    public func verify(_ evidence: Evidence) throws(EvidenceVerificationError) -> ProvenFault {
        switch evidence {
        case .fork(let fork): try verify(fork)
        case .rule(let rule): try verify(rule)
        }
    }

    /// Two signatures of the log, one origin, two trees, and one history ruled out.
    private func verify(_ fork: ForkEvidence) throws(EvidenceVerificationError) -> ProvenFault {
        let (first, second) = (try signed(fork.first), try signed(fork.second))
        guard first.checkpoint.origin == second.checkpoint.origin else { throw .otherOrigin }
        let (smaller, larger) = (first.checkpoint.head, second.checkpoint.head)
        guard smaller != larger else { throw .sameTree }
        guard smaller.size <= larger.size else { throw .wrongOrder }
        if smaller.size == larger.size {
            guard fork.link == nil else { throw .linkNotNeeded }
        } else {
            guard let link = fork.link else { throw .linkMissing(from: smaller.size, to: larger.size) }
            try check(link, from: smaller, to: larger)
        }
        return ProvenFault(
            log: second.log, deed: .fork(smaller, larger, witnesses: witnesses(of: fork.first, and: fork.second)))
    }

    /// The larger tree provably begins with another tree of the smaller one's size.
    private func check(
        _ link: ForkEvidence.Link, from smaller: TreeHead, to larger: TreeHead
    ) throws(EvidenceVerificationError) {
        guard link.root != smaller.root else { throw .linkShowsOneHistory }
        if smaller.size == 0 {
            // Every tree begins with the empty one, whose root the log does not choose.
            guard link.root == .emptyTree, link.proof.hashes.isEmpty else { throw .link(.fromEmptyTree) }
            return
        }
        let begin = TreeHead(size: smaller.size, root: link.root)
        do throws(ConsistencyProofError) { try link.proof.verify(from: begin, to: larger) } catch {
            throw .link(error)
        }
    }

    /// The witnesses of the policy whose cosignatures on both notes verify.
    private func witnesses(of first: SignedNote, and second: SignedNote) -> [VerifierKey] {
        policy.witnesses.map(\.key).filter { $0.cosigned(first) && $0.cosigned(second) }
    }

    private func verify(_ rule: RuleEvidence) throws(EvidenceVerificationError) -> ProvenFault {
        let signed = try signed(rule.checkpoint)
        let head = signed.checkpoint.head
        for entry in rule.entries {
            do throws(InclusionProofError) {
                try entry.inclusion.verify(leaf: .leaf(entry.bytes), in: head)
            } catch {
                throw .inclusion(index: entry.inclusion.index, error)
            }
        }
        guard !rule.entries.isEmpty else { throw .logNeeded(size: head.size) }
        guard let deed = rule.deed(in: head) else { throw .entriesShowNoFault }
        return ProvenFault(log: signed.log, deed: deed)
    }

    func signed(_ note: SignedNote) throws(EvidenceVerificationError) -> LogSignedCheckpoint {
        do throws(CheckpointVerificationError) { return try policy.verifyLogSignature(on: note) } catch {
            throw .checkpoint(error)
        }
    }
}

extension EvidenceVerifier {
    /// What evidence of a broken rule proves together with all entries of its checkpoint, wherever they come from.
    ///
    /// - Parameter audit: what has read exactly the entries of the checkpoint.
    /// - Throws: ``EvidenceVerificationError``. With another copy of the log, ``EvidenceVerificationError/otherEntries(computed:)``
    ///   may be another.
    public func verify(
        _ rule: RuleEvidence, entries audit: borrowing CheckpointAudit
    ) throws(EvidenceVerificationError) -> ProvenFault {
        let signed = try signed(rule.checkpoint)
        let finding = audit.finding(at: signed.checkpoint.head)
        switch finding {
        case .otherEntries(let computed): throw .otherEntries(computed: computed)
        case .fault(let fault, let place):
            guard FaultName(fault) == rule.fault, place == rule.place else { throw .replayShowsOtherwise(finding) }
            return ProvenFault(log: signed.log, deed: .replayed(fault, at: place))
        case .sound, .tooLarge: throw .replayShowsOtherwise(finding)
        }
    }
}

extension VerifierKey {
    fileprivate func cosigned(_ note: SignedNote) -> Bool {
        note.signatures.contains { (try? verifyCosignature($0, of: note.text)) != nil }
    }
}
