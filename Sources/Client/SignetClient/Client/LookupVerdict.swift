public import KeyTransparency
public import TransparencyLog

/// A lookup whose every check held, and what it means for this user.
public struct LookupVerdict: Hashable, Sendable {
    /// Whom it is about.
    public let handle: Handle
    /// What the user may do with it.
    public let outcome: TrustOutcome
    /// SHA-256 of the account state that the log holds, 32 bytes: what ``Client/trust(_:accepting:)`` takes.
    public let stateHash: [UInt8]
    /// Version of that state.
    public let version: UInt64
    /// Whether this is the user's own account.
    public let isOwn: Bool
    /// Seconds since the directory's cosigners vouched for it.
    public let age: UInt64
    /// Whether that is longer ago than usual.
    public let isOld: Bool
    /// All that was verified. Not public: keys come from ``outcome`` only.
    package let lookup: VerifiedLookup
    /// The view of the log before this lookup; nil on the first visit.
    package let known: LogView?

    init(_ found: StoredLookup, outcome: TrustOutcome, isOwn: Bool, warningAge: UInt64) {
        let lookup = found.lookup
        known = found.known
        handle = lookup.handle
        self.outcome = outcome
        stateHash = lookup.state.hash
        version = lookup.state.version
        self.isOwn = isOwn
        age = lookup.age
        isOld = lookup.age >= warningAge
        self.lookup = lookup
    }

    /// Whether nothing was known of this person before: there was nothing to compare the answer with.
    public var isFirstContact: Bool {
        switch outcome {
        case .firstPinned, .stranger: true
        case .matched, .accepted, .changed, .contradicted: false
        }
    }

    /// The keys to use, if they may be used.
    public var keys: PeerKeys? {
        switch outcome {
        case .matched(let keys), .firstPinned(let keys), .accepted(let keys): keys
        case .stranger, .changed, .contradicted: nil
        }
    }
}

/// What a verified lookup means next to what was pinned. Only the first three cases carry keys.
public enum TrustOutcome: Hashable, Sendable {
    /// The same devices and identity as pinned.
    case matched(PeerKeys)
    /// Somebody the user chose, seen for the first time: pinned now.
    case firstPinned(PeerKeys)
    /// The user has just accepted the change: pinned now.
    case accepted(PeerKeys)
    /// Properly logged, but nobody the user chose; nothing was pinned.
    case stranger
    /// Properly logged, but not what was accepted. Blocked until the user accepts.
    case changed(PeerKeyChange)
    /// It contradicts what the directory proved before. Blocked; accepting is not offered.
    case contradicted(PeerContradiction)
}

/// A peer's keys, verified and accepted. Only ``Client`` makes one.
public struct PeerKeys: Hashable, Sendable {
    /// Whose keys.
    public let handle: Handle
    /// P-256, 33 bytes, compressed.
    public let identityKey: [UInt8]
    /// Every device with its keys, in rising order of number.
    public let devices: [DeviceRecord]

    init(_ lookup: VerifiedLookup) {
        handle = lookup.handle
        identityKey = lookup.state.identityKey
        devices = lookup.state.devices
    }
}

extension LookupAnswer {
    /// The witnesses that vouched for it, count towards the policy's quorum, and are not the directory's own by their keys'
    /// names. None: nobody outside the directory has seen the log.
    ///
    /// Security: a name is a claim. That a witness is run by somebody else is what whoever wrote the policy says.
    public func outsideWitnesses(by policy: Policy) -> [Policy.Name] {
        let (checkpoint, counting) = (epoch.checkpoint, policy.quorumStrength.counting)
        return checkpoint.cosignatures.filter { cosignature in
            counting.contains(cosignature.name)
                && !cosignature.verifierKey.name.bytes.starts(with: checkpoint.checkpoint.origin.bytes)
        }.map(\.name)
    }
}
