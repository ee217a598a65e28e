// SPDX-License-Identifier: Apache-2.0

/// What a client demands of the servers of one host pattern.
public struct PinRule: Hashable, Sendable {
    /// No rule has more pins.
    public static let maximumPinCount = 64

    /// Its hosts.
    public let pattern: HostPattern
    /// Hosts of the pattern that the rule is not for.
    public let exclusions: [HostPattern]
    /// What happens without a match.
    public let mode: PinMode
    /// The keys, in the order they were written.
    public let pins: [Pin]
    /// When they should have been replaced.
    public let expiry: PinExpiry?

    /// A rule, unless it cannot be right.
    ///
    /// - Throws: ``PinRuleFault``.
    public init(
        for pattern: HostPattern, except exclusions: [HostPattern] = [], mode: PinMode = .enforce, pins: [Pin],
        expiry: PinExpiry? = nil
    ) throws(PinRuleFault) {
        self.pattern = pattern
        self.exclusions = exclusions
        self.mode = mode
        self.pins = pins
        self.expiry = expiry
        if let parent = pattern.parent, PublicSuffix.contains(parent) { throw .publicSuffix(parent) }
        if mode == .trustOnly {
            guard pins.isEmpty else { throw .pinsWithoutEffect }
        } else {
            try checkPins()
        }
    }

    private func checkPins() throws(PinRuleFault) {
        let keys = Set(pins.map(\.key))
        guard keys.count == pins.count else { throw .duplicatePin }
        guard keys.count >= 2 else { throw .tooFewPins(keys.count) }
        guard keys.count <= Self.maximumPinCount else { throw .tooManyPins(keys.count) }
        guard pins.contains(where: \.isBackup) else { throw .noBackup }
        guard pins.contains(where: { !$0.isBackup }) else { throw .onlyBackups }
    }

    /// Whether the rule is for a host.
    public func covers(_ host: ServerName) -> Bool {
        pattern.matches(host) && !exclusions.contains { $0.matches(host) }
    }

    /// Demands that a key is in reserve: pinned, and not in this chain.
    ///
    /// - Parameter chain: the keys of the server's validated chain.
    /// - Throws: ``PinRuleFault/backupInUse(_:)``, ``PinRuleFault/noPinOutside``.
    public func checkReserve(outside chain: [SPKIPin]) throws(PinRuleFault) {
        guard mode != .trustOnly else { return }
        if let used = pins.first(where: { $0.isBackup && chain.contains($0.key) }) { throw .backupInUse(used.key) }
        guard pins.contains(where: { !chain.contains($0.key) }) else { throw .noPinOutside }
    }

    /// The first pinned key of a validated path, from the leaf up; nil if none is.
    ///
    /// Security: the path must come from a verifier. Keys of a chain as the server sent it prove nothing.
    public func match(_ path: [SPKIPin]) -> PinMatch? {
        for (depth, key) in path.enumerated() {
            let tier = PinTier(depth: depth, pathLength: path.count)
            if let pin = pins.first(where: { $0.key == key && ($0.tier ?? tier) == tier }) {
                return PinMatch(pin: pin, tier: tier, depth: depth)
            }
        }
        return nil
    }
}

/// A pinned key on a validated path.
public struct PinMatch: Hashable, Sendable {
    /// The pin.
    public let pin: Pin
    /// Where the key stands.
    public let tier: PinTier
    /// How many certificates are before it.
    public let depth: Int
}

/// Why a rule cannot be right.
public enum PinRuleFault: Error, Hashable, Sendable {
    /// A pattern for hosts of strangers.
    case publicSuffix([UInt8])
    /// Fewer than two keys: losing the only one would lock all clients out.
    case tooFewPins(Int)
    /// More than ``PinRule/maximumPinCount``.
    case tooManyPins(Int)
    /// The same key twice.
    case duplicatePin
    /// No key is in reserve.
    case noBackup
    /// No key is in use.
    case onlyBackups
    /// A rule that pins nothing has pins.
    case pinsWithoutEffect
    /// A key that should be in reserve is in the server's chain.
    case backupInUse(SPKIPin)
    /// Every key is in the server's chain.
    case noPinOutside
}
