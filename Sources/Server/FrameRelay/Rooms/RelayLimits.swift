// SPDX-License-Identifier: Apache-2.0

import CallSignalling

/// What one device, and all of them together, may take of a relay of frames.
public struct RelayLimits: Hashable, Sendable {
    /// Calls at once that have at least one member.
    public var rooms = 1024
    /// Calls at once in which devices of one account are.
    public var roomsPerAccount = 16
    /// Devices in a call.
    public var devicesPerRoom = Roster.maximumPresentCount
    /// Packets of one device in a second, on average.
    public var packetsPerSecond: UInt64 = 250
    /// Packets of one device at once, after a pause.
    public var packetBurst: UInt64 = 500
    /// How long a device may be silent before it is out, in milliseconds.
    public var silence: UInt64 = 15_000
    /// How long a ticket is good, in milliseconds; one from before its device left the call is not good any more.
    public var ticketTime: UInt64 = 120_000

    /// The limits `signetd` starts with.
    public init() {}
}
