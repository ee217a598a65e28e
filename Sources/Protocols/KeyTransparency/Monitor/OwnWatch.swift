// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog

/// A step of the own account that this device made, or that its user accepted.
public struct OwnAct: Hashable, Sendable {
    /// The state's version.
    public let version: UInt64
    /// SHA-256 of the state, 32 bytes.
    public let stateHash: [UInt8]
    /// What the log must hold for it.
    public let commitment: StateCommitment
    /// The keys of its devices, Ed25519, 32 bytes each.
    public let devices: [[UInt8]]

    /// An act.
    public init(version: UInt64, stateHash: [UInt8], commitment: StateCommitment, devices: [[UInt8]]) {
        self.version = version
        self.stateHash = stateHash
        self.commitment = commitment
        self.devices = devices
    }

    /// The act that led to a state.
    public init(_ state: AccountState, _ commitment: StateCommitment) {
        self.init(
            version: state.version, stateHash: state.hash, commitment: commitment,
            devices: state.devices.map(\.keys.signing))
    }
}

/// How far the owner of an account knows its history: every entry up to here was made or accepted by them.
public struct OwnWatch: Hashable, Sendable {
    /// The entries up to here.
    public let history: MerkleFrontier
    /// The version of the last state; 0 before the first.
    public let version: UInt64
    /// SHA-256 of that state, 32 bytes; zeros before the first, and after one that was not shown.
    public let stateHash: [UInt8]
    /// Every device key that the account ever had, Ed25519, 32 bytes each, in order.
    public let devices: [[UInt8]]
    /// The epoch at which the account was checked last; nil before the first check.
    public let milestone: MilestoneMark?

    /// The watch over an account that is about to be made: its history has no entries.
    public static let beginning = OwnWatch(
        history: MerkleFrontier(), version: 0, stateHash: [UInt8](repeating: 0, count: 32), devices: [],
        milestone: nil)

    /// A watch as the client's own store kept it.
    public init(
        history: MerkleFrontier, version: UInt64, stateHash: [UInt8], devices: [[UInt8]], milestone: MilestoneMark?
    ) {
        self.history = history
        self.version = version
        self.stateHash = stateHash
        self.devices = devices
        self.milestone = milestone
    }

    /// The same watch before the first look at a log that goes on where another one ended: what the owner did stays.
    public func movedToNextLog() -> OwnWatch {
        OwnWatch(
            history: MerkleFrontier(), version: version, stateHash: stateHash, devices: devices, milestone: nil)
    }

    /// The same watch after a look at the milestones until this epoch.
    public func checked(at milestone: MilestoneMark) -> OwnWatch {
        OwnWatch(
            history: history, version: version, stateHash: stateHash, devices: devices, milestone: milestone)
    }
}

/// At which epoch a label was checked last. It need not be a milestone: the next walk ends where the milestone after it is
/// shown to be the next one.
public struct MilestoneMark: Hashable, Sendable {
    /// The log index of its epoch record. The log that is shown later extends the one in which the record was proven, so it
    /// has the same record there.
    public let index: UInt64
    /// Its day, counted from 1970, in UTC.
    public let day: UInt64

    /// A mark.
    public init(index: UInt64, day: UInt64) {
        self.index = index
        self.day = day
    }

    /// The epoch that a log ends in.
    public init(_ epoch: VerifiedEpoch) {
        self.init(index: epoch.checkpoint.checkpoint.head.size - 1, day: epoch.record.day)
    }
}
