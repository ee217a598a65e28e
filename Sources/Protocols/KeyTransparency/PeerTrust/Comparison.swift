// SPDX-License-Identifier: Apache-2.0

/// A record that the user and another person compared the person's identity key, by a channel other than the directory.
public struct Comparison: Hashable, Sendable {
    /// How it was compared.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// The sixty digits of ``SafetyNumber``.
        case number = 1
        /// The ``IdentityCode`` on their screen.
        case code = 2
        /// A ``ContactCard`` that they gave.
        case card = 3
        /// A meeting in which their device proved the key to this one, and each typed the words on the other's screen.
        case meeting = 4
    }

    /// With whom.
    public let handle: Handle
    /// The key that was compared: P-256, 33 bytes, compressed. It says nothing of another one.
    public let identityKey: [UInt8]
    /// How.
    public let kind: Kind
    /// When, in seconds since 1970.
    public let time: UInt64
    /// The day on which the two met and compared, counted from 1970-01-01: by this device's clock for a ``Kind/meeting``, as the user
    /// gave it for any other kind; nil if they did not say that they met.
    public let metOn: UInt64?

    /// A comparison. Nothing is verified here.
    public init(handle: Handle, identityKey: [UInt8], kind: Kind, time: UInt64, metOn: UInt64?) {
        self.handle = handle
        self.identityKey = identityKey
        self.kind = kind
        self.time = time
        self.metOn = metOn
    }
}

/// Whether the identity key that a client goes by is one that its user compared.
public enum ComparisonState: Hashable, Sendable {
    /// Nothing was compared.
    case none
    /// This very key was compared.
    case compared(Comparison)
    /// Another key of theirs was compared: since then they have another identity.
    case outdated(Comparison)

    /// What a comparison says of an identity key of 33 bytes.
    public init(_ comparison: Comparison?, of identityKey: [UInt8]) {
        guard let comparison else {
            self = .none
            return
        }
        self = comparison.identityKey == identityKey ? .compared(comparison) : .outdated(comparison)
    }

    /// What a comparison says of a person of whom nothing is pinned: the key that was proved in a meeting is the one to go by.
    public init(ofUnpinned comparison: Comparison?) {
        guard let comparison, comparison.kind == .meeting else {
            self = .none
            return
        }
        self = .compared(comparison)
    }

    /// The comparison, if it is of the key that is in use.
    public var comparison: Comparison? { if case .compared(let comparison) = self { comparison } else { nil } }
}
