// SPDX-License-Identifier: Apache-2.0

/// Why the connection between two devices that meet failed. All are of the environment: both begin again.
public enum MeetingLinkError: Error, Hashable, Sendable {
    /// The port is in use, or the address is not one of this machine.
    case cannotListen
    /// The device has no address at which another one could reach it.
    case noAddress
    /// No device answers at any address of the invitation.
    case unreachable
    /// Nobody came before the invitation ended.
    case nobodyCame
    /// The other device said nothing for too long.
    case timedOut
    /// The other device ended the connection, or it was lost.
    case closed
    /// The other device sent more than the form of a meeting has, or longer messages.
    case tooMuch
}
