// SPDX-License-Identifier: Apache-2.0

/// Where on a validated path a key may stand.
public enum PinTier: Hashable, Sendable, CaseIterable {
    /// The trust anchor, at the end.
    case root
    /// Between the server's certificate and the anchor.
    case intermediate
    /// The server's own certificate.
    case leaf

    /// Its word in a policy file.
    public var word: [UInt8] {
        switch self {
        case .root: Array("root".utf8)
        case .intermediate: Array("intermediate".utf8)
        case .leaf: Array("leaf".utf8)
        }
    }

    /// The tier of a place on a path. On a path of one certificate that is the leaf.
    public init(depth: Int, pathLength: Int) {
        self = depth == 0 ? .leaf : depth == pathLength - 1 ? .root : .intermediate
    }
}

/// A key that a rule accepts.
public struct Pin: Hashable, Sendable {
    /// The key.
    public let key: SPKIPin
    /// Where it may stand; nil for anywhere.
    public let tier: PinTier?
    /// Whether it is in reserve: not in the chain that the server presents today.
    public let isBackup: Bool

    /// A pin.
    public init(_ key: SPKIPin, tier: PinTier? = nil, isBackup: Bool = false) {
        self.key = key
        self.tier = tier
        self.isBackup = isBackup
    }

    /// Reads a tier, a space and a pin in the spelling ``PinSpelling/okHTTP``.
    ///
    /// - Throws: ``PinLineFault``.
    package init(_ text: ArraySlice<UInt8>, isBackup: Bool) throws(PinLineFault) {
        guard let space = text.firstIndex(of: UInt8(ascii: " ")) else { throw .malformed }
        let tier = PinTier.allCases.first { $0.word[...] == text[..<space] }
        guard tier != nil || text[..<space] == Self.anyTier[...] else { throw .malformed }
        let key: SPKIPin
        do { key = try SPKIPin(text[(space + 1)...]) } catch { throw .pin(error) }
        self.init(key, tier: tier, isBackup: isBackup)
        guard self.text[...] == text else { throw .malformed }
    }

    /// A tier, a space and the pin.
    package var text: [UInt8] { (tier?.word ?? Self.anyTier) + [UInt8(ascii: " ")] + key.text(.okHTTP) }

    private static let anyTier = Array("any".utf8)
}

/// Why a line of a file is not a pin.
package enum PinLineFault: Error, Hashable, Sendable {
    /// Not a tier, a space and a pin in its only spelling.
    case malformed
    /// The pin is none.
    case pin(PinTextFault)
}

/// What a rule does with a trusted chain in which no key is pinned. A chain that is not trusted is refused in every mode.
public enum PinMode: Hashable, Sendable, CaseIterable {
    /// Refuses it.
    case enforce
    /// Accepts and reports it.
    case reportOnly
    /// Accepts it: the rule has no pins.
    case trustOnly

    /// Its word in a policy file.
    public var word: [UInt8] {
        switch self {
        case .enforce: Array("enforce".utf8)
        case .reportOnly: Array("report-only".utf8)
        case .trustOnly: Array("trust-only".utf8)
        }
    }
}

/// When a rule's pins should have been replaced, and what happens then. It never ends pinning: a wrong clock, or one
/// that an attacker sets, would end it too.
public struct PinExpiry: Hashable, Sendable {
    /// What happens afterwards.
    public enum Action: Hashable, Sendable, CaseIterable {
        /// The rule stays as it is, and every verdict says that it is overdue.
        case keepEnforcing
        /// Nothing is accepted any more.
        case block

        /// Its word in a policy file.
        public var word: [UInt8] {
            switch self {
            case .keepEnforcing: Array("keep".utf8)
            case .block: Array("block".utf8)
            }
        }
    }

    /// Seconds since 1970.
    public let time: UInt64
    /// What happens afterwards.
    public let action: Action

    /// An expiry.
    public init(time: UInt64, action: Action = .keepEnforcing) {
        self.time = time
        self.action = action
    }
}
