// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import TransparencyLog

/// What is wrong with the files of a log.
public enum LogReadError: Error, Hashable, Sendable {
    /// A file that the checkpoint implies is missing.
    case missing(Tile?)
    /// The checkpoint is not a signed note.
    case note(NoteError)
    /// The policy does not accept the checkpoint.
    case checkpoint(CheckpointVerificationError)
    /// The checkpoint is not recent.
    case freshness(FreshnessError)
    /// A tile or bundle is malformed.
    case tile(Tile, TileError)
    /// The hashes of a tile do not match the entries.
    case otherHashes(Tile)
    /// All entries together give a different root from the signed one.
    case otherRoot(computed: TreeHash)
    /// An entry is not in the signed tree.
    case inclusion(index: UInt64, InclusionProofError)
    /// The log contradicts what it proved before; the evidence was stored.
    case contradiction(LogContradiction)
    /// The same, but the evidence could not be stored.
    case contradictionNotKept(LogContradiction, StoreError)
    /// More entries than this program replays.
    case tooLarge(UInt64)
}
