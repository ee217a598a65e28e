// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency

/// Whom a share is sealed to: a person, by a device key that the log proves to be theirs.
public struct GuardianKey: Hashable, Sendable {
    /// The person.
    public let handle: Handle
    /// X-Wing key of their device, 1216 bytes.
    public let sealingKey: [UInt8]
    /// Their identity key, 33 bytes: signs what they release.
    public let identityKey: [UInt8]

    /// The key of one of a person's devices, from a verified lookup.
    ///
    /// - Parameter device: its number; nil takes the first.
    /// - Returns: nil when they have no such device, or the lookup did not bring its X-Wing key.
    public init?(_ lookup: VerifiedLookup, device: UInt16? = nil) {
        guard let record = lookup.state.devices.first(where: { $0.number == device ?? $0.number }),
            let sealingKey = record.keys.kem
        else { return nil }
        self.init(unchecked: lookup.handle, sealingKey: sealingKey, identityKey: lookup.state.identityKey)
    }

    /// Security: nothing is verified. For what a store kept, and for tests.
    package init(unchecked handle: Handle, sealingKey: [UInt8], identityKey: [UInt8]) {
        self.handle = handle
        self.sealingKey = sealingKey
        self.identityKey = identityKey
    }
}

/// How sure the owner is that the guardian's keys are the guardian's, and since when. The guardian's screen says it.
public struct MeetingEvidence: Hashable, Sendable {
    /// How.
    public enum Kind: UInt8, Hashable, Sendable, CaseIterable {
        /// Never compared.
        case none = 0
        /// Compared a short code over another channel.
        case code = 1
        /// Met, and compared in person.
        case person = 2
    }
    /// How.
    public let kind: Kind
    /// When, in seconds since 1970; 0 for never.
    public let date: UInt64

    /// Evidence of a kind and date.
    public init(kind: Kind, date: UInt64) {
        self.kind = kind
        self.date = date
    }
}
