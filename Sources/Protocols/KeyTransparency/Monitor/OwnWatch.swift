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
    /// The newest milestone at which the account was checked; nil before the first check.
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

    /// The same watch after a look at the milestones.
    public func checked(at milestone: MilestoneMark) -> OwnWatch {
        OwnWatch(
            history: history, version: version, stateHash: stateHash, devices: devices, milestone: milestone)
    }
}

/// Which milestone was checked last.
public struct MilestoneMark: Hashable, Sendable {
    /// The log index of its epoch record.
    public let index: UInt64
    /// Its day, counted from 1970, in UTC.
    public let day: UInt64

    /// A mark.
    public init(index: UInt64, day: UInt64) {
        self.index = index
        self.day = day
    }

    /// The newest milestone of a log that ends in this epoch, if `last` is the one that its record names.
    ///
    /// - Parameters:
    ///   - record: the log's last entry.
    ///   - size: the log's size.
    ///   - last: the milestone that the record names; nil when the epoch is the first.
    public init(endingIn record: EpochRecord, size: UInt64, after last: MilestoneMark?) {
        if let last, last.day >= record.day {
            self = last
        } else {
            self.init(index: size - 1, day: record.day)
        }
    }
}
