public import TransparencyLog
public import VRF

/// Keys that the directory's log provably holds for a handle. Only ``LookupVerifier`` makes one.
///
/// Security: the server, or whoever holds the account's identity key, may still have logged a key the
/// person does not know of; comparing with what was pinned is the next decision, ``PeerTrust``.
public struct VerifiedLookup: Hashable, Sendable {
    /// Whose keys.
    public let handle: Handle
    /// The hidden label the handle stands under.
    public let label: VRFHash
    /// The account as it describes itself.
    public let state: AccountState
    /// Kind of the step that led to this state.
    public let kind: StateKind
    /// The checkpoint that covers it, with the signatures that counted.
    public let checkpoint: VerifiedCheckpoint
    /// Seconds since the quorum vouched for the checkpoint.
    public let age: UInt64
    /// The largest checkpoint known now; store it before using the keys.
    public let view: LogView
    /// The log entries that were checked: the state record first, then the devices' leaves.
    public let leaves: [LookupLeaf]
    private let vrfProof: VRFProof

    init(
        handle: Handle, label: VRFHash, state: AccountState, kind: StateKind,
        checkpoint: VerifiedCheckpoint, age: UInt64, view: LogView, leaves: [LookupLeaf],
        response: LookupResponse
    ) {
        self.handle = handle
        self.label = label
        self.state = state
        self.kind = kind
        self.checkpoint = checkpoint
        self.age = age
        self.view = view
        self.leaves = leaves
        vrfProof = response.vrfProof
    }

    /// An offline proof of one of the entries, in the form of C2SP tlog-proof, with the VRF proof in
    /// its `extra` line.
    ///
    /// - Throws: `TlogProofError`: the parts do not make a proof, which is a bug of ours.
    public func tlogProof(of leaf: LookupLeaf) throws(TlogProofError) -> TlogProof {
        try TlogProof(extra: vrfProof.bytes, inclusion: leaf.inclusion, note: checkpoint.note)
    }
}

/// A log entry that an answer rests on, rebuilt by the client, with its proof.
public struct LookupLeaf: Hashable, Sendable {
    /// What the entry says.
    public enum Content: Hashable, Sendable {
        /// The latest step of the account's state.
        case state(StateRecord)
        /// One device's key.
        case device(DeviceLeaf)
    }

    /// What the entry says.
    public let content: Content
    /// The path to the root.
    public let inclusion: InclusionProof

    /// The raw entry whose hash is the leaf.
    public var entry: [UInt8] {
        switch content {
        case .state(let record): record.entry
        case .device(let leaf): leaf.entry
        }
    }
}
