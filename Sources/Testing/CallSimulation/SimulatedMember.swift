// SPDX-License-Identifier: Apache-2.0

/// A device of a simulated call, under any set of rules.
protocol SimulatedMember {
    associatedtype Message

    init(number: Int, scenario: Scenario, policy: KeyChangePolicy)

    /// Whether it can send.
    var isMember: Bool { get }
    /// Whether it makes the keys.
    var isHost: Bool { get }
    /// Which roster it takes for the one in force, a number of the only host of a term; nil if it is in no call, or if its rules know no
    /// such thing.
    var view: [UInt32]? { get }
    /// Whether it sends so that this device can read.
    func knows(_ number: Int) -> Bool

    mutating func start(at now: UInt64) -> [SimulatedAction<Message>]
    mutating func join(at now: UInt64) -> [SimulatedAction<Message>]
    mutating func leave(at now: UInt64) -> [SimulatedAction<Message>]
    mutating func rotate(at now: UInt64) -> [SimulatedAction<Message>]
    mutating func receive(_ message: Message, at now: UInt64) -> [SimulatedAction<Message>]
    mutating func tick(at now: UInt64) -> [SimulatedAction<Message>]
    mutating func frame(_ id: UInt64, at now: UInt64) -> SimulatedFrame?
    mutating func receive(_ frame: SimulatedFrame, at now: UInt64) -> [SimulatedAction<Message>]
}

/// A frame on its way.
struct SimulatedFrame {
    let id: UInt64
    let bytes: [UInt8]
    /// Key and counter, if the rules have them: never twice the same.
    let nonce: [UInt64]
}

/// What a device did.
enum SimulatedAction<Message> {
    /// Sends a message; to all members if no recipient is named.
    case send(Message, to: Int?, carriesKey: Bool)
    /// Sends a message to a device as a datagram, which takes the way of frames: it may be lost, and overtake others.
    case sendPacket(Message, to: Int, carriesKey: Bool)
    /// Opened a frame.
    case played(UInt64)
    /// Had a missing key again after so many milliseconds.
    case recovered(UInt64)
    /// Sends under this generation and step from now on.
    case epoch(generation: UInt64, step: UInt64)
    /// Takes this device for the host of this term.
    case tenure(term: UInt64, host: Int)
    /// Asked for a key; the same name when it asks another member.
    case asked(id: UInt64)
    /// Is no longer a member.
    case outside
    /// Refused a message.
    case refused
}
