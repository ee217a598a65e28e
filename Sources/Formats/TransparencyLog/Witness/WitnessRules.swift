// SPDX-License-Identifier: Apache-2.0

/// A checkpoint that a witness cosigned: its log signed it, and it extends the one cosigned before.
///
/// Only ``WitnessRules/judge(_:latest:at:)`` makes one.
///
/// Security: before one of ``cosignatures`` leaves the witness, ``head`` must be its durable record of this origin, put
/// there in one step with the comparison that the record was still ``predecessor``. Otherwise two requests at once,
/// or a crash, let one witness vouch for two histories.
public struct CosignedCheckpoint: Hashable, Sendable {
    /// The log's identity.
    public let origin: [UInt8]
    /// The head on which the judgment rests: what was cosigned last, nil for nothing.
    public let predecessor: TreeHead?
    /// The size and root that are cosigned.
    public let head: TreeHead
    /// The witness's lines, one for each of its keys.
    public let cosignatures: [NoteSignature]
    /// The checkpoint with the lines of the log's known keys and the witness's: what the witness shows to monitors.
    public let note: SignedNote

    init(
        _ checkpoint: SubmittedCheckpoint, after predecessor: TreeHead?, cosignatures: [NoteSignature], note: SignedNote
    ) {
        origin = checkpoint.origin
        head = checkpoint.head
        self.predecessor = predecessor
        self.cosignatures = cosignatures
        self.note = note
    }
}

/// When a witness cosigns: the page of checks, in the order of the specification.
///
/// Spec: C2SP tlog-witness v1.0.0, "add-checkpoint".
public struct WitnessRules: Sendable {
    /// The logs it serves.
    public let logs: WitnessedLogs
    /// Its key, of algorithm ``VerifierKey/Algorithm/cosignatureV1``.
    public let signer: NoteSigner
    /// A second key of the same witness, of algorithm ``VerifierKey/Algorithm/mlDSA44``; nil for none.
    public let postQuantumSigner: NoteSigner?

    /// The rules of a witness.
    ///
    /// - Parameter postQuantumSigner: cosigns the same checkpoints at the same times, but for those of logs whose name or its own has
    ///   more than 255 bytes, of which ML-DSA-44 cannot speak.
    public init(logs: WitnessedLogs, signer: NoteSigner, postQuantumSigner: NoteSigner? = nil) {
        self.logs = logs
        self.signer = signer
        self.postQuantumSigner = postQuantumSigner
    }

    /// Cosigns the checkpoint, or says why not. Nothing is remembered: see ``CosignedCheckpoint``.
    ///
    /// - Parameters:
    ///   - latest: what this witness cosigned last for the request's origin; nil for nothing.
    ///   - now: seconds since 1970, above zero.
    /// - Throws: ``WitnessRefusal``. After ``WitnessRefusal/otherSize(latest:)`` another proof may help, after
    ///   ``WitnessRefusal/cannotSign(_:)`` a retry; otherwise neither.
    public func judge(
        _ request: AddCheckpointRequest, latest: TreeHead?, at now: UInt64
    ) throws(WitnessRefusal) -> CosignedCheckpoint {
        let keys = try knownKeys(for: request)
        let signatures = try logSignatures(on: request.note, by: keys)
        try checkOldSize(of: request)
        try checkLatest(latest ?? .empty, against: request)
        try checkEmptyTree(request.checkpoint.head)
        try checkConsistency(of: request, with: latest ?? .empty)
        return try cosign(request, after: latest, signatures, at: now)
    }

    private func knownKeys(for request: AddCheckpointRequest) throws(WitnessRefusal) -> [VerifierKey] {
        guard let keys = logs.keys(ofOrigin: request.checkpoint.origin) else { throw .unknownOrigin }
        return keys
    }

    /// The lines of known keys. At least one must be there, and all must verify; others are ignored.
    private func logSignatures(
        on note: SignedNote, by keys: [VerifierKey]
    ) throws(WitnessRefusal) -> [NoteSignature] {
        var known: [NoteSignature] = []
        for signature in note.signatures {
            guard let key = keys.first(where: signature.isClaimed(by:)) else { continue }
            guard (try? key.verifyLogSignature(signature, of: note.text)) != nil else {
                throw .logSignatureInvalid(key)
            }
            known.append(signature)
        }
        guard !known.isEmpty else { throw .logSignatureMissing }
        return known
    }

    private func checkOldSize(of request: AddCheckpointRequest) throws(WitnessRefusal) {
        let size = request.checkpoint.head.size
        guard request.oldSize <= size else {
            throw .oldSizeAboveCheckpoint(oldSize: request.oldSize, size: size)
        }
    }

    private func checkLatest(_ latest: TreeHead, against request: AddCheckpointRequest) throws(WitnessRefusal) {
        guard latest.size == request.oldSize else { throw .otherSize(latest: latest.size) }
    }

    private func checkEmptyTree(_ head: TreeHead) throws(WitnessRefusal) {
        guard head.size > 0 || head.root == .emptyTree else { throw .emptyTreeRoot }
    }

    private func checkConsistency(
        of request: AddCheckpointRequest, with latest: TreeHead
    ) throws(WitnessRefusal) {
        guard request.oldSize > 0 else {
            guard request.consistency.hashes.isEmpty else { throw .proofFromEmptyTree }
            return
        }
        do throws(ConsistencyProofError) {
            try request.consistency.verify(from: latest, to: request.checkpoint.head)
        } catch {
            throw .inconsistent(error)
        }
    }

    private func cosign(
        _ request: AddCheckpointRequest, after latest: TreeHead?, _ signatures: [NoteSignature], at now: UInt64
    ) throws(WitnessRefusal) -> CosignedCheckpoint {
        guard now > 0 else { throw .cannotSign(.timeOutOfRange) }
        let cosignatures = try lines(over: request.note.text, at: now)
        let note: SignedNote
        do throws(NoteError) {
            note = try SignedNote(text: request.note.text, signatures: signatures + cosignatures)
        } catch {
            throw .malformed(.note(error))
        }
        return CosignedCheckpoint(request.checkpoint, after: latest, cosignatures: cosignatures, note: note)
    }

    /// The lines of both keys, at one time.
    private func lines(over text: [UInt8], at now: UInt64) throws(WitnessRefusal) -> [NoteSignature] {
        var lines: [NoteSignature] = []
        do throws(NoteSignerError) {
            lines.append(try signer.cosign(text, time: now))
            if let postQuantumSigner { lines.append(try postQuantumSigner.cosign(text, time: now)) }
        } catch {
            guard !lines.isEmpty, error == .cannotCosign else { throw .cannotSign(error) }
        }
        return lines
    }
}
