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
    /// A tile or bundle does not have the form.
    case tile(Tile, TileError)
    /// The hashes of a tile are not those of the entries.
    case otherHashes(Tile)
    /// All entries together give another root than the one that was signed.
    case otherRoot(computed: TreeHash)
    /// An entry is not in the tree that was signed.
    case inclusion(index: UInt64, InclusionProofError)
    /// The log contradicts what it proved before; the evidence was kept.
    case contradiction(LogContradiction)
    /// The same, and the evidence could not be kept.
    case contradictionNotKept(LogContradiction, StoreError)
    /// More entries than this program replays.
    case tooLarge(UInt64)
}
