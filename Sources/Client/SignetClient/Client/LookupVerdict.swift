// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import TransparencyLog

/// A lookup that passed every check, and what it means for this user.
public struct LookupVerdict: Hashable, Sendable {
    /// The handle that was looked up.
    public let handle: Handle
    /// What the user may do with the answer.
    public let outcome: TrustOutcome
    /// SHA-256 of the account state that the log holds, 32 bytes; ``Client/trust(_:accepting:)`` takes it.
    public let stateHash: [UInt8]
    /// The version of that state.
    public let version: UInt64
    /// Whether this is the user's own account.
    public let isOwn: Bool
    /// Seconds since the directory's cosigners vouched for the answer.
    public let age: UInt64
    /// Whether that is longer ago than usual.
    public let isOld: Bool
    /// Everything that was verified. Not public: keys come from ``outcome`` only.
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

    /// Whether nothing was known about this person before, so that there was nothing to compare the answer with.
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

/// What a verified lookup means in relation to what was pinned. Only the first three cases carry keys.
public enum TrustOutcome: Hashable, Sendable {
    /// The same devices and identity as pinned.
    case matched(PeerKeys)
    /// A person whom the user chose, seen for the first time: pinned now.
    case firstPinned(PeerKeys)
    /// The user has just accepted the change: pinned now.
    case accepted(PeerKeys)
    /// Properly logged, but not a person whom the user chose; nothing was pinned.
    case stranger
    /// Properly logged, but different from what was accepted. Blocked until the user accepts.
    case changed(PeerKeyChange)
    /// The answer contradicts what the directory proved before. Blocked; accepting is not offered.
    case contradicted(PeerContradiction)

    /// Whether nothing is sent to this person before the user has decided.
    public var isBlocked: Bool {
        switch self {
        case .changed, .contradicted: true
        case .matched, .firstPinned, .accepted, .stranger: false
        }
    }
}

/// A peer's keys, verified and accepted. Only ``Client`` makes one.
public struct PeerKeys: Hashable, Sendable {
    /// The handle to which the keys belong.
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
    /// names. If there are none, no one outside the directory has seen the log.
    ///
    /// Security: a name is a claim. That a witness is operated by someone else is the claim of the policy's author.
    public func outsideWitnesses(by policy: Policy) -> [Policy.Name] { epoch.checkpoint.outsideWitnesses(by: policy) }
}
