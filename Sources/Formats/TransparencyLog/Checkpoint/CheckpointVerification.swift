// SPDX-License-Identifier: Apache-2.0

/// Why a policy does not accept a note as a checkpoint. None is worth a retry with the same note.
public enum CheckpointVerificationError: Error, Hashable, Sendable {
    /// The signed text is not a checkpoint.
    case checkpoint(CheckpointError)
    /// No listed log has this origin for its key name.
    case originNotListed
    /// No line is of a key that is listed for this origin.
    case logSignatureMissing
    /// A line of this listed log key does not verify.
    case logSignatureInvalid(VerifierKey)
    /// A line of this listed witness key does not verify.
    case cosignatureInvalid(VerifierKey)
    /// Every cosignature of a listed witness verifies, and they are not enough.
    case quorumNotMet
}

/// The chain from a note to a checkpoint to rely on, whole and step by step.
///
/// Spec: C2SP tlog-proof, "Verifying a tlog proof", steps 2 and 3; tlog-policy, "What is a policy?";
/// signed-note, "Signatures".
extension Policy {
    /// Accepts the note as a checkpoint of a listed log with enough cosignatures, or says why not.
    ///
    /// - Throws: ``CheckpointVerificationError``.
    public func verify(_ note: SignedNote) throws(CheckpointVerificationError) -> VerifiedCheckpoint {
        try verifyCosignatures(on: try verifyLogSignature(on: note))
    }

    /// The listed keys of the log that the checkpoint names as its origin.
    ///
    /// - Throws: ``CheckpointVerificationError/originNotListed``.
    public func logs(for checkpoint: Checkpoint) throws(CheckpointVerificationError) -> [VerifierKey] {
        let keys = logs.filter { $0.name == checkpoint.origin }
        guard !keys.isEmpty else { throw .originNotListed }
        return keys
    }

    /// Reads the checkpoint, finds its log and checks the log's signature. Any one listed key suffices, and
    /// no line of a listed log key may fail.
    ///
    /// - Throws: ``CheckpointVerificationError``, except the cases that concern witnesses.
    public func verifyLogSignature(
        on note: SignedNote
    ) throws(CheckpointVerificationError) -> LogSignedCheckpoint {
        let checkpoint = try Self.checkpoint(in: note)
        let keys = try logs(for: checkpoint)
        var signer: VerifierKey?
        for signature in note.signatures {
            guard let key = logs.first(where: signature.isClaimed(by:)) else { continue }
            guard (try? key.verifyLogSignature(signature, of: note.text)) != nil else {
                throw .logSignatureInvalid(key)
            }
            if signer == nil && keys.contains(key) { signer = key }
        }
        guard let signer else { throw .logSignatureMissing }
        return LogSignedCheckpoint(checkpoint: checkpoint, log: signer, note: note)
    }

    /// Checks every cosignature of a listed witness and asks whether they are enough. Lines of unknown keys
    /// are ignored, no line of a listed witness may fail, and a witness counts once. One with a kind of
    /// key that we do not verify never cosigns.
    ///
    /// - Throws: ``CheckpointVerificationError/cosignatureInvalid(_:)``,
    ///   ``CheckpointVerificationError/quorumNotMet``, and ``CheckpointVerificationError/originNotListed`` when
    ///   another policy accepted the log's signature.
    public func verifyCosignatures(
        on signed: LogSignedCheckpoint
    ) throws(CheckpointVerificationError) -> VerifiedCheckpoint {
        guard logs.contains(signed.log) else { throw .originNotListed }
        var times: [Name: UInt64] = [:]
        let witnesses = verifiableWitnesses
        for signature in signed.note.signatures {
            guard let witness = witnesses.first(where: { signature.isClaimed(by: $0.key) }) else { continue }
            guard let time = try? witness.key.verifyCosignature(signature, of: signed.note.text) else {
                throw .cosignatureInvalid(witness.key)
            }
            times[witness.name] = max(time, times[witness.name] ?? 0)
        }
        let quorumTime = try quorumTime(of: times)
        return VerifiedCheckpoint(signed, cosignatures: cosignatures(at: times), quorumTime: quorumTime)
    }

    private static func checkpoint(
        in note: SignedNote
    ) throws(CheckpointVerificationError) -> Checkpoint {
        do throws(CheckpointError) {
            return try Checkpoint(decoding: note.text)
        } catch {
            throw .checkpoint(error)
        }
    }

    private func cosignatures(at times: [Name: UInt64]) -> [VerifiedCosignature] {
        witnesses.compactMap { witness in
            times[witness.name].map {
                VerifiedCosignature(name: witness.name, verifierKey: witness.key, time: $0)
            }
        }
    }
}
