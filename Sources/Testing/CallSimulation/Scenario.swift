// SPDX-License-Identifier: Apache-2.0

/// A call to play through in virtual time.
public struct Scenario: Sendable {
    /// Devices in the call when it begins; the first is its host.
    public var participants = 5
    /// How often the host makes fresh randomness.
    public var rotations = 20
    /// Between two rotations, in milliseconds.
    public var rotationInterval: UInt64 = 2000
    /// The chance that a packet is lost, for media and for signalling, where losses are sent again.
    public var loss = 0.05
    /// One way, at least, in milliseconds.
    public var latency: UInt64 = 50
    /// How much more at most, in milliseconds: large enough, it changes the order.
    public var jitter: UInt64 = 200
    /// The chance that a media packet arrives twice.
    public var duplication = 0.01
    /// By how much clocks differ at most, either way, in milliseconds.
    public var skew: UInt64 = 50
    /// Between two frames of one device, in milliseconds.
    public var frameInterval: UInt64 = 20
    /// When the first rotation is due, in milliseconds.
    public var warmUp: UInt64 = 3000
    /// When all members begin to send, in milliseconds; half of ``warmUp`` unless told.
    public var firstFrame: UInt64?
    /// What is played after the last rotation, in milliseconds.
    public var coolDown: UInt64 = 4000
    /// Where all chance comes from.
    public var seed: UInt64 = 1
    /// What goes wrong, and when.
    public var faults: [Fault] = []
    /// Whether every rule is watched, which costs time.
    public var isAudited = false

    /// The outcome of packets beside the signals.
    var packets = PacketWay.open

    /// What may become of packets, beside the loss of frames.
    enum PacketWay: CaseIterable {
        /// They take the way of frames.
        case open
        /// None arrives, as behind a firewall.
        case lost
        /// Each is three seconds late, and signals overtake it.
        case late
    }

    /// The outcome of deliveries of signals, by their number from 0: what ``SignalSearch`` chooses. With it, a device seals a frame
    /// after every signal that it gets, before anything else happens.
    var choices: [Int: SignalChoice]?

    /// The scenario of the defaults.
    public init() {}

    /// The clocks' zero: any time of day does.
    static let epoch: UInt64 = 1_000_000_000_000

    /// How long the call is, in milliseconds.
    public var duration: UInt64 { warmUp + UInt64(rotations) * rotationInterval + coolDown }

    /// The same call with a network that falls apart five seconds after the first rotation: on one side the host and others, so many
    /// together, on the other side the rest.
    ///
    /// - Parameters:
    ///   - withHost: devices on the side of the host, itself included; at least one, and fewer than all.
    ///   - cut: for how long, in milliseconds.
    public func split(withHost: Int, cut: UInt64) -> Scenario {
        var scenario = self
        let start = warmUp + 5000
        scenario.faults.append(.partition(Set(withHost..<max(withHost, participants)), from: start, until: start + cut))
        scenario.coolDown = max(coolDown, 5000 + cut + 25_000)
        return scenario
    }

    /// Something that goes wrong, or that happens in every call.
    public enum Fault: Sendable, Hashable {
        /// A device falls silent for good.
        case crash(Int, at: UInt64)
        /// The host at that time falls silent for good.
        case hostCrash(at: UInt64)
        /// A device leaves.
        case leave(Int, at: UInt64)
        /// A device that was not there joins: the next free number.
        case join(at: UInt64)
        /// These devices and the others do not hear each other.
        case partition(Set<Int>, from: UInt64, until: UInt64)
        /// The server drops every message that carries the new key to one device, another each time.
        case missedRotations
        /// The server sends every signal again later, and changes the order.
        case replayingServer
        /// A member sends frames under keys of others that it does not have, and frames that are junk.
        case junk(from: UInt64)
    }
}
