// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// Something that the log signed and no honest log signs; anyone can check it without asking a server.
public enum Evidence: Hashable, Sendable {
    /// Two checkpoints that cannot be of one history.
    case fork(ForkEvidence)
    /// A checkpoint over entries that break a rule of the index.
    case rule(RuleEvidence)
}

/// Two signed checkpoints of one log that cannot be of one history.
public struct ForkEvidence: Hashable, Sendable {
    /// What shows that the larger tree does not begin with the smaller one.
    public struct Link: Hashable, Sendable {
        /// The root that the larger tree has at the size of the smaller one.
        public let root: TreeHash
        /// The proof from there to the larger tree.
        public let proof: ConsistencyProof

        /// A claimed link.
        public init(root: TreeHash, proof: ConsistencyProof) {
            self.root = root
            self.proof = proof
        }
    }

    /// The checkpoint that is not larger.
    public let first: SignedNote
    /// The checkpoint that is not smaller.
    public let second: SignedNote
    /// Needed when the sizes differ: then two signatures alone prove nothing.
    public let link: Link?

    /// Two claimed notes; nothing is checked yet.
    public init(first: SignedNote, second: SignedNote, link: Link? = nil) {
        self.first = first
        self.second = second
        self.link = link
    }
}

/// A signed checkpoint, the rule that its entries break, and entries that show it where few can.
public struct RuleEvidence: Hashable, Sendable {
    /// An entry with its place in the checkpoint's tree.
    public struct Entry: Hashable, Sendable {
        /// The raw entry, at most ``TransparencyLog/EntryBundle/maximumEntryByteCount`` bytes.
        public let bytes: [UInt8]
        /// Its index and path.
        public let inclusion: InclusionProof

        /// A claimed entry.
        public init(bytes: [UInt8], inclusion: InclusionProof) {
            self.bytes = bytes
            self.inclusion = inclusion
        }
    }

    /// The most entries that any fault needs.
    public static let maximumEntryCount = 3

    /// The rule.
    public let fault: FaultName
    /// The index of the entry at which the rule is broken; for ``FaultName/noEpochRecord`` the log's size.
    public let place: UInt64
    /// The checkpoint.
    public let checkpoint: SignedNote
    /// The entries that show the fault, in the order of the log; none when only the whole log does.
    public let entries: [Entry]

    /// Claimed evidence; nothing is checked yet. At most ``maximumEntryCount`` entries can be printed.
    public init(fault: FaultName, place: UInt64, checkpoint: SignedNote, entries: [Entry] = []) {
        self.fault = fault
        self.place = place
        self.checkpoint = checkpoint
        self.entries = entries
    }
}
