// SPDX-License-Identifier: Apache-2.0

import CallKeys
public import CallSignalling

/// The counts of one member's frames.
public struct MemberTally: Sendable {
    /// Frames that were opened.
    public internal(set) var frames = 0
    /// Of these, frames that had to wait for their key.
    public internal(set) var held = 0
    /// Frames meant for this device that could not be opened.
    public internal(set) var undecryptable = 0
    /// Frames in this member's name that the relay received from another member: not opened.
    public internal(set) var forged = 0
    /// Frames that were opened in this member's name and that it did not send, by its own signature.
    public internal(set) var denied = 0
    /// Frames that were opened, and nothing that the member signed in time says whether it sent them.
    public internal(set) var unconfirmed = 0
    /// Frames whose number had come before, or was too far behind to tell: not opened. The network duplicates or delays
    /// them, or another member made one in this member's name that is numbered ahead of its own.
    public internal(set) var replayed = 0
    /// Frames from before this device was let in, or after it was out: not meant for it.
    public internal(set) var notEntitled = 0
    /// The newest generation and step under which the member was heard; nil before.
    public internal(set) var epoch: (generation: UInt32, step: UInt8)?
    private var first: UInt32?
    private var last: UInt32 = 0

    /// Frames that never came, or came and could not be opened: gaps in the numbers.
    public var lost: Int { first.map { max(0, Int(last) - Int($0) + 1 - frames) } ?? 0 }

    mutating func hear(_ number: UInt32, generation: UInt32, step: UInt8, waited: UInt64) {
        if epoch.map({ $0 < (generation, step) }) ?? true { epoch = (generation, step) }
        frames += 1
        if waited > 0 { held += 1 }
        first = min(first ?? number, number)
        last = max(last, number)
    }
}

/// The counts of a call so far.
public struct CallTally: Sendable {
    /// By sender.
    public internal(set) var members: [CallDevice: MemberTally] = [:]
    /// Whether a member of the call was shown another log of the directory.
    public internal(set) var isForked = false
    /// Frames that this device sent.
    public internal(set) var sent = 0
    /// Frames that it had and did not send: it had no key, or an unverified device was in the call.
    public internal(set) var withheld = 0
    /// Frames that could not be opened and name no member.
    public internal(set) var unnamed = 0
    /// How long each missing secret was missing, in milliseconds.
    public internal(set) var recoveries: [UInt64] = []
    /// Generations under which this device sent.
    public internal(set) var generations: Set<UInt32> = []
    /// Signals that were refused or not believed.
    public internal(set) var refusals = 0

    /// Frames of all members that were opened.
    public var frames: Int { members.values.reduce(0) { $0 + $1.frames } }
    /// Frames meant for this device that could not be opened.
    public var undecryptable: Int { members.values.reduce(unnamed) { $0 + $1.undecryptable } }

    /// Counts a frame that was not opened; true if the person is to hear of it.
    mutating func drop(_ reason: FrameDropReason, of device: CallDevice?) -> Bool {
        switch reason {
        case .own, .malformed: return false
        case .replayed:
            if let device { members[device, default: MemberTally()].replayed += 1 }
            return false
        case .outside, .notEntitled:
            if let device { members[device, default: MemberTally()].notEntitled += 1 }
            return false
        case .anotherSender:
            if let device { members[device, default: MemberTally()].forged += 1 }
            return true
        case .notAuthentic, .expired, .keyMissing, .noRoom:
            if let device { members[device, default: MemberTally()].undecryptable += 1 } else { unnamed += 1 }
            return true
        }
    }
}
