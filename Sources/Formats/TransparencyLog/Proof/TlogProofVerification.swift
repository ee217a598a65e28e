// SPDX-License-Identifier: Apache-2.0

/// Why a tlog-proof does not show an entry in a log to believe. None is worth a retry with the same proof.
public enum TlogProofVerificationError: Error, Hashable, Sendable {
    /// The policy does not accept the checkpoint.
    case checkpoint(CheckpointVerificationError)
    /// The entry is not where the proof says it is.
    case inclusion(InclusionProofError)
}

extension TlogProof {
    /// Checks that `entry` is in the log that the policy accepts, in the specification's order: log signature,
    /// cosignatures, inclusion.
    ///
    /// - Returns: the checkpoint that holds the entry. Its age is the caller's to judge.
    /// - Throws: ``TlogProofVerificationError``.
    ///
    /// Security: the entry was in the log when the witnesses cosigned. Whether a newer entry replaces it is a
    /// question that no inclusion proof answers.
    ///
    /// Spec: C2SP tlog-proof, "Verifying a tlog proof".
    public func verify(
        entry: [UInt8], policy: Policy
    ) throws(TlogProofVerificationError) -> VerifiedCheckpoint {
        let verified = try verifyCheckpoint(policy)
        do throws(InclusionProofError) {
            try inclusion.verify(leaf: .leaf(entry), in: verified.checkpoint.head)
        } catch {
            throw .inclusion(error)
        }
        return verified
    }

    private func verifyCheckpoint(_ policy: Policy) throws(TlogProofVerificationError) -> VerifiedCheckpoint {
        do throws(CheckpointVerificationError) {
            return try policy.verify(note)
        } catch {
            throw .checkpoint(error)
        }
    }
}
