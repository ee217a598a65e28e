// SPDX-License-Identifier: Apache-2.0

/// Why a ring, an answer to one, or its end is refused.
public enum RingRefusal: Error, Hashable, Sendable {
    /// It is for another device, or for all members.
    case anotherRecipient
    /// It does not name the person who is rung.
    case anotherPerson
    /// This person has neither added nor accepted the caller. Nothing is shown.
    case stranger
    /// The device that rings is none of the caller's.
    case anotherDevice
    /// The device that it names did not sign it.
    case invalidSignature
    /// It is of a time that is still to come.
    case early
    /// It came when it was to ring no more, an hour late at most: a missed call.
    case late
    /// It is older than anything that the broker keeps.
    case outdated
    /// It was heard before.
    case replayed
    /// This person, or the unknown devices together, ring too often.
    case tooOften
    /// This device is in a call, or rings for as many as it may: the caller is told.
    case busy
    /// There is no such ring, or it is over.
    case unknownRing
    /// It does not come from the device that rings, or not from one that was rung.
    case anotherSender
}
