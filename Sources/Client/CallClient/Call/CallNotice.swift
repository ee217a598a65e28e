// SPDX-License-Identifier: Apache-2.0

public import CallKeys
public import CallSignalling
public import KeyTransparency
public import SignetClient

/// What a person, or a program, may want to know of a running call.
public enum CallNotice: Sendable {
    /// The call has these members; strangers among them are listed apart.
    case members([CallDevice], strangers: [CallDevice])
    /// All current members of the call see these thirty digits, until a member comes or goes, or another device becomes
    /// host.
    case code([UInt8])
    /// A frame of this member was meant for this device and could not be opened.
    case failed(FrameDropReason, of: CallDevice?)
    /// A frame in the name of one member came from another, as the relay says, and was not opened. Each pair is told once a second at most.
    case forged(inTheNameOf: CallDevice?, by: CallDevice)
    /// This many frames were heard in this member's name, and by its own signature it did not send them. `holders` are the others who have
    /// the keys, as far as this device knows; nil if it cannot know.
    case denied(frames: Int, by: CallDevice, holders: [CallDevice]?)
    /// This many frames more were heard in this member's name, and nothing that it signed in time says whether it sent them.
    case unconfirmed(frames: Int, of: CallDevice)
    /// This many frames more came in this member's name whose number had come before, or was too far behind to tell, and were not opened.
    case replayed(frames: Int, of: CallDevice)
    /// This member signed two different frames with one number: its word about its frames is worth nothing.
    case contradicted(CallDevice)
    /// A missing secret is there, so many milliseconds after it was missed.
    case recovered(milliseconds: UInt64)
    /// A device that belongs to none of this call's people asks to come in, and is not admitted.
    case stranger(CallDevice)
    /// A signal was refused.
    case refused(SignalRefusal, from: CallDevice)
    /// The checkpoint that came from a device was compared with this device's own. After a fork nothing is sent any more.
    case met(MetCheckpoint, from: CallDevice)
    /// These devices may no longer take part: their owners revoked or replaced them, or the directory contradicts itself.
    case revoked([CallDevice])
    /// The result of ringing a person.
    case rung(Handle, RingOutcome)
    /// A person rang this device while it was in the call.
    case rang(RingEvent)
    /// This device is not a member any more.
    case outside(OutsideReason)
    /// No signal can arrive any more: the relay says that this device is not in the call, or cannot be reached again.
    case cutOff
}
