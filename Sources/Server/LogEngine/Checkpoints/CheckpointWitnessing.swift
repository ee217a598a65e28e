// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// Who must see a checkpoint before it is published.
public protocol CheckpointWitnessing: Sendable {
    /// Gathers the cosignatures without which a checkpoint is not published.
    ///
    /// - Parameters:
    ///   - note: the checkpoint with the log's signature and the local cosignatures.
    ///   - consistency: the proof that the checkpoint extends a smaller one; nil for a size that the log never had.
    /// - Returns: cosignatures that were verified and that, with those of the note, are a quorum.
    /// - Throws: ``WitnessShortfall``: too few witnesses answered as they should. Asking again later may help.
    func cosignatures(
        on note: SignedNote, head: TreeHead, consistency: @escaping @Sendable (UInt64) -> ConsistencyProof?
    ) async throws(WitnessShortfall) -> [NoteSignature]
}

/// A round of witnessing that did not reach the quorum.
public struct WitnessShortfall: Error, Hashable, Sendable {
    /// The witnesses whose cosignatures were not had, by the names of their keys.
    public let missing: [KeyName]
    /// Whether asking again cannot help: a witness has cosigned what the log does not extend. The log fails then, for good.
    public let isContradicted: Bool

    /// A round without these witnesses.
    public init(missing: [KeyName], isContradicted: Bool = false) {
        self.missing = missing
        self.isContradicted = isContradicted
    }
}
