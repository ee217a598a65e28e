// SPDX-License-Identifier: Apache-2.0

/// What a person's device remembers of a peer: the keys it last verified and the user last accepted.
public struct PinnedPeer: Hashable, Sendable {
    /// The peer.
    public let handle: Handle
    /// P-256, 33 bytes, compressed.
    public let identityKey: [UInt8]
    /// Version of the account state that was pinned.
    public let version: UInt64
    /// SHA-256 of that state, 32 bytes.
    public let stateHash: [UInt8]
    /// The devices at that version.
    public let devices: [PinnedDevice]
    /// The label's whole history up to that version: every later answer must extend it.
    public let history: LabelHead
    /// When they were pinned, in seconds since 1970.
    public let pinnedAt: UInt64

    /// Pins what a lookup proved. Call it for a new friend, or when the user accepted a change.
    ///
    /// A note about a recovery changes nothing of the person's: the state that it is about is pinned.
    public init(_ lookup: VerifiedLookup, at now: UInt64) {
        let state = lookup.state.authored
        self.init(
            uncheckedHandle: lookup.handle, identityKey: state.identityKey, version: state.version,
            stateHash: state.hash, devices: state.devices.map(PinnedDevice.init), history: lookup.history,
            pinnedAt: now)
    }

    /// Takes what the client's own store kept.
    ///
    /// Security: nothing is verified here; the store must be as trustworthy as the program.
    public init(
        uncheckedHandle handle: Handle, identityKey: [UInt8], version: UInt64, stateHash: [UInt8],
        devices: [PinnedDevice], history: LabelHead, pinnedAt: UInt64
    ) {
        self.handle = handle
        self.identityKey = identityKey
        self.version = version
        self.stateHash = stateHash
        self.devices = devices
        self.history = history
        self.pinnedAt = pinnedAt
    }

    /// The same peer with more of its history known.
    ///
    /// - Parameter history: proved to extend ``history``, by ``LookupVerifier``.
    package func extended(to history: LabelHead) -> PinnedPeer {
        PinnedPeer(
            uncheckedHandle: handle, identityKey: identityKey, version: version, stateHash: stateHash,
            devices: devices, history: history, pinnedAt: pinnedAt)
    }
}

/// A device as it was when its owner's keys were pinned.
public struct PinnedDevice: Hashable, Sendable {
    /// The owner's number for it.
    public let number: UInt16
    /// Ed25519, 32 bytes: what the device is known by.
    public let signingKey: [UInt8]
    /// SHA-256 over all of its public keys, 32 bytes (``DeviceKeys/hash``).
    ///
    /// Security: the log's device leaf holds the signing key alone. Without this check, a holder of the identity key
    /// could put other agreement keys under a device that the user accepted.
    public let keysHash: [UInt8]

    /// A device of a pinned peer.
    public init(number: UInt16, signingKey: [UInt8], keysHash: [UInt8]) {
        self.number = number
        self.signingKey = signingKey
        self.keysHash = keysHash
    }

    /// What to remember of a device.
    public init(_ device: DeviceRecord) {
        self.init(number: device.number, signingKey: device.keys.signing, keysHash: device.keys.hash)
    }
}

/// The last decision before keys are used: does what the log proves agree with what was accepted?
///
/// Spec: eCall Key Transparency guide, "Call Initiation (Trust Overrides)".
public enum PeerTrustDecision: Hashable, Sendable {
    /// The same devices and identity as pinned. Go on.
    case match
    /// Nothing was pinned. The first verified answer may be pinned.
    case noCache
    /// Properly logged, but not what was accepted. Stop until the user accepts.
    case mismatch(PeerKeyChange)
    /// The directory contradicts what it proved before. Stop; accepting is not offered.
    case contradiction(PeerContradiction)

    /// Compares a verified answer with what was pinned.
    ///
    /// - Parameters:
    ///   - pinned: the record of the same handle, or nil.
    ///   - history: what the log holds of the handle from before the pinned state on, verified; nil when it was not
    ///     asked for. Only with it another identity key can turn out to be a recovery.
    ///   - former: what the logs held that ended before that one, as far back as it is shown.
    ///   - look: the last time that the person was seen without a recovery under way; nil if that is not known.
    ///   - now: this device's clock, in seconds since 1970; nil compares nothing with it.
    ///   - met: what was compared with the same person. If they met and nothing is pinned, the key that they proved then is the one to
    ///     compare with.
    public init(
        _ lookup: VerifiedLookup, comparedWith pinned: PinnedPeer?, by history: VerifiedHistory? = nil,
        after former: FormerHistories = FormerHistories(), lookedAt look: PeerLook? = nil, at now: UInt64? = nil,
        met: Comparison? = nil
    ) {
        guard let pinned, pinned.handle == lookup.handle else {
            let met = met?.handle == lookup.handle ? met : nil
            self = PeerKeyChange(lookup.state, otherThanMet: met).map { .mismatch($0) } ?? .noCache
            return
        }
        let joined = history.flatMap { JoinedHistory($0, after: former) }
        if let contradiction = PeerContradiction(lookup.state.authored, pinned) {
            self = .contradiction(contradiction)
        } else if let change = PeerKeyChange(lookup.state, pinned, joined, look, now) {
            self = .mismatch(change)
        } else {
            self = .match
        }
    }
}

/// What differs between pinned and proved keys. At least one part says so.
public struct PeerKeyChange: Hashable, Sendable {
    /// Devices that were not there.
    public let added: [DeviceRecord]
    /// Devices that are gone.
    public let removed: [PinnedDevice]
    /// Devices that are known and have other agreement keys: nothing a device does by itself.
    public let rekeyed: [DeviceRecord]
    /// How the identity key compares.
    public let identity: IdentityChange
    /// Whether the identity key is another one.
    public var identityKeyChanged: Bool { identity != .none }

    init?(
        _ state: AccountState, _ pinned: PinnedPeer, _ history: JoinedHistory?, _ look: PeerLook?,
        _ clock: UInt64? = nil
    ) {
        let before = pinned.devices.reduce(into: [:]) { $0[$1.signingKey] = $1.keysHash }
        let now = Set(state.devices.map(\.keys.signing))
        added = state.devices.filter { before[$0.keys.signing] == nil }
        removed = pinned.devices.filter { !now.contains($0.signingKey) }
        rekeyed = state.devices.filter { device in
            before[device.keys.signing].map { $0 != device.keys.hash } ?? false
        }
        identity = IdentityChange(from: pinned, to: state, by: history, lookedAt: look, at: clock)
        if added.isEmpty && removed.isEmpty && rekeyed.isEmpty && identity == .none { return nil }
    }

    /// The change of a person of whom nothing is pinned and who proved another identity key when the two met: every device is one that
    /// was not there, and no log explains it. Nil if they did not meet, or if it is the same key.
    init?(_ state: AccountState, otherThanMet comparison: Comparison?) {
        guard let comparison, comparison.kind == .meeting, comparison.identityKey != state.identityKey else {
            return nil
        }
        (added, removed, rekeyed, identity) = (state.devices, [], [], .unexplained)
    }
}

/// Two account states that cannot both be honest answers.
public enum PeerContradiction: Hashable, Sendable {
    /// An older version than was proved before.
    case olderVersion(pinned: UInt64, received: UInt64)
    /// Another state under the version that was proved before.
    case anotherStateAtSameVersion(UInt64)
    /// The very next version, which does not name the proved one as its predecessor.
    case doesNotFollow(pinned: UInt64)

    init?(_ state: AccountState, _ pinned: PinnedPeer) {
        if state.version < pinned.version {
            self = .olderVersion(pinned: pinned.version, received: state.version)
        } else if state.version == pinned.version && state.hash != pinned.stateHash {
            self = .anotherStateAtSameVersion(state.version)
        } else if state.version == pinned.version &+ 1 && state.previous != pinned.stateHash {
            self = .doesNotFollow(pinned: pinned.version)
        } else {
            return nil
        }
    }
}
