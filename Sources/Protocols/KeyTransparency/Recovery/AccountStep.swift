// SPDX-License-Identifier: Apache-2.0

/// By what right a state follows the one before it.
public indirect enum AccountStep: Hashable, Sendable {
    /// The identity key signed it.
    case ordinary
    /// A new device asks for the identity. Nothing else differs from `base`, the last state that the owner signed.
    /// `superseded` is the request before, which expired.
    case started(RecoveryStart, superseded: RecoveryStart?, base: AccountState)
    /// One of the owner's devices objects. Nothing else differs from `base`.
    case stopped(RecoveryStop, base: AccountState)
    /// The committed recovery key hands the account to the identity key that asked.
    case recovered(RecoverySuccession)
}

/// An objection: "this was not me".
public struct RecoveryStop: Hashable, Sendable {
    /// For how long after an objection no recovery may start, in seconds: a day. The directory refuses it, and a new device does
    /// not ask for it.
    public static let freeze: UInt64 = 86_400

    /// Number of the device that objects and signs.
    public let device: UInt16
    /// In seconds since 1970.
    public let time: UInt64

    /// An objection of a device.
    public init(device: UInt16, time: UInt64) {
        self.device = device
        self.time = time
    }
}

/// What lets another identity key follow: guardians gave the recovery key together, after a delay without objection.
public struct RecoverySuccession: Hashable, Sendable {
    /// What was logged when it began.
    public let start: RecoveryStart
    /// When it ended, in seconds since 1970.
    public let time: UInt64
    /// The recovery key, P-256, 33 bytes: told to the world now, for the first time.
    public let recoveryKey: [UInt8]
    /// ECDSA by the recovery key over the state up to here, r || s, 64 bytes.
    public let authority: [UInt8]
}

extension AccountState {
    /// The last state that the owner signed: this one, or the one that this one notes something about.
    ///
    /// Security: identity key and devices are always its; compare versions and hashes of these.
    public var authored: AccountState {
        switch step {
        case .started(_, _, let base), .stopped(_, let base): base
        case .ordinary, .recovered: self
        }
    }
}
