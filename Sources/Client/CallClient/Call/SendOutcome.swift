// SPDX-License-Identifier: Apache-2.0

public import CallSignalling

/// The outcome of a frame that was to be sent.
public enum SendOutcome: Hashable, Sendable {
    /// It left this device, with this number. Whether it arrives is the network's.
    case sent(number: UInt32)
    /// It did not leave this device.
    case withheld(WithheldReason)
}

/// Why a frame was not sent.
public enum WithheldReason: Error, Hashable, Sendable {
    /// An unverified device is in the call.
    case stranger
    /// A member of the call was shown another log of the directory.
    case forked
    /// There is no key to seal it with: the call has not begun for this device, or is over.
    case noKey
    /// It would be longer than the relay carries.
    case tooLong
}

/// A piece of sound that was heard.
public struct HeardFrame: Hashable, Sendable {
    /// The sound, with its number.
    public let frame: AudioFrame
    /// Whose device it comes from.
    public let sender: CallDevice

    init(_ frame: AudioFrame, from sender: CallDevice) { (self.frame, self.sender) = (frame, sender) }
}
