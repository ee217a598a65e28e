// SPDX-License-Identifier: Apache-2.0

public import CallSignalling

/// What happens to a participant.
public enum CallEvent: Sendable {
    /// The call begins, with this device as its host.
    case start
    /// This device wants to be a member of the call of one of these: devices of people whose keys were verified.
    case join(trusting: Set<CallDevice>)
    /// This device leaves.
    case leave
    /// The person, or a rule of theirs, lets this device in; only a host acts on it.
    case admit(CallDevice)
    /// The transport says that a member is gone; only a host acts on it.
    case lost(CallDevice)
    /// The person, or a rule of theirs, removes this device; only a host acts on it.
    case exclude(CallDevice)
    /// The person lets a removed device come back; only a host acts on it.
    case readmit(CallDevice)
    /// The key may be known to others; only a host acts on it.
    case suspect
    /// A signal arrived.
    case signal(OpenedSignal)
    /// A packet arrived beside the signals.
    case packet(OpenedPacket)
    /// A frame arrived.
    case frame([UInt8])
    /// A frame arrived, and the relay says from whom.
    case relayedFrame([UInt8], of: MemberAlias)
    /// Time passed. Due every 50 ms while the call lasts.
    case tick
}

/// A verified signal, with the secrets in it that this device could open.
public struct OpenedSignal: Sendable {
    /// Who signed it.
    public let sender: CallDevice
    /// The sender's number for it.
    public let sequence: UInt64
    /// What it says.
    public let body: SignalBody
    /// The secrets for this device.
    public let keys: [OfferedKey]

    var newestGeneration: UInt32? { keys.map(\.epoch.generation).max() }

    package init(sender: CallDevice, sequence: UInt64, body: SignalBody, keys: [OfferedKey]) {
        self.sender = sender
        self.sequence = sequence
        self.body = body
        self.keys = keys
    }
}

/// The secret of an epoch, for a device.
public struct OfferedKey: Sendable {
    /// For whom.
    public let recipient: CallDevice
    /// Of which epoch.
    public let epoch: Epoch
    /// The secret.
    public let secret: GroupSecret

    package init(recipient: CallDevice, epoch: Epoch, secret: GroupSecret) {
        self.recipient = recipient
        self.epoch = epoch
        self.secret = secret
    }
}

/// A signal to wrap, sign and send.
public struct SignalDraft: Sendable {
    /// The recipient; nil for all members.
    public let recipient: CallDevice?
    /// In which tenure.
    public let term: UInt32
    /// This device's number for it.
    public let sequence: UInt64
    /// When, in milliseconds since 1970.
    public let sentAt: UInt64
    /// What it says, its wraps still missing.
    public let body: SignalBody
    /// The secrets to wrap.
    public let keys: [OfferedKey]
}

/// What a participant wants done.
public enum CallAction: Sendable {
    /// Wrap, sign and send this.
    case send(SignalDraft)
    /// Sign, seal and send this beside the signals, through the relay of frames. Its arrival is not checked.
    case sendPacket(PacketDraft)
    /// A frame was opened: hand it to the decoder.
    case play(PlayedFrame)
    /// A frame was not opened.
    case dropped(DroppedFrame)
    /// This many frames were opened in this member's name that it did not send, by its own signature. `holders` are the others who have the
    /// keys, as far as this device knows; nil if it cannot know.
    case forged(frames: Int, as: CallDevice, holders: [CallDevice]?)
    /// This many frames were opened in this member's name, and no digest of it spoke of them in time.
    case unconfirmed(frames: Int, of: CallDevice)
    /// This member signed two different frames with one number: what it signs of its frames proves nothing.
    case contradicted(CallDevice)
    /// Ask this member for a frame that needs no other.
    case keyFrameNeeded(CallDevice, MediaContext)
    /// A device wants in; answer with ``CallEvent/admit(_:)`` or not at all.
    case admissionNeeded(CallDevice)
    /// From now on this device sends under this epoch.
    case sendingUnder(Epoch)
    /// The call has these members.
    case roster(Roster)
    /// A missing secret is there; so many milliseconds after it was missed.
    case recovered(milliseconds: UInt64)
    /// A signal was refused.
    case refused(SignalRefusal, from: CallDevice)
    /// This device is not a member any more, and has no key.
    case outside(OutsideReason)
}

/// A frame that was opened.
public struct PlayedFrame: Sendable {
    /// The claimed sender; any member with the same secret could have sent it.
    public let sender: CallDevice
    /// What it is part of.
    public let context: MediaContext
    /// Under which generation.
    public let generation: UInt32
    /// Under which step of it.
    public let step: UInt8
    /// Its number under its key.
    public let counter: UInt64
    /// The plaintext.
    public let plaintext: [UInt8]
    /// How long it waited for its key, in milliseconds.
    public let waited: UInt64
}

/// A frame that was not opened.
public struct DroppedFrame: Sendable, Hashable {
    /// Why.
    public let reason: FrameDropReason
    /// Who says to have sent it; nil if the header cannot be read.
    public let keyID: CallKeyID?
    /// Whom the relay had it from; nil where it does not say.
    public var carriedFor: MemberAlias?
}

/// Why a frame was not opened.
public enum FrameDropReason: Hashable, Sendable, CaseIterable {
    /// It begins with no header, or with one that is not of a call.
    case malformed
    /// This device is not a member, or not yet.
    case outside
    /// It is this device's own, sent back.
    case own
    /// It was sent before this device was let in: never meant for it.
    case notEntitled
    /// It was opened before.
    case replayed
    /// It is in the name of one member, and the relay had it from another.
    case anotherSender
    /// It does not authenticate under its key.
    case notAuthentic
    /// Its key was wiped, as it must.
    case expired
    /// Its key did not come in time.
    case keyMissing
    /// There was no room to hold it.
    case noRoom
}

/// Why a signal was refused.
public enum SignalRefusal: Hashable, Sendable {
    /// It was processed before.
    case replayed
    /// Only the host may say this, or only to a host.
    case notTheHost
    /// It is of an epoch that is over, or of a tenure that is not on.
    case stale
    /// Its roster does not follow ours.
    case brokenChain
    /// The host is alive, so no other device may take over.
    case hostAlive
    /// The secret is not the one that was committed to.
    case wrongCommitment
    /// It was not requested.
    case notRequested
    /// This host was not named as trusted.
    case hostNotTrusted
    /// The device was removed and not readmitted; or such a device is in the call that another host leads.
    case excluded
    /// The call has as many members as a call may have.
    case callFull
    /// The device is not of the epoch that it asks for.
    case notEntitled
    /// The same was answered just now.
    case tooOften
}

/// Why this device is outside.
public enum OutsideReason: Hashable, Sendable {
    /// It left.
    case left
    /// The host removed it.
    case removed
    /// It lost touch with the host, and joins again.
    case rejoining
}
