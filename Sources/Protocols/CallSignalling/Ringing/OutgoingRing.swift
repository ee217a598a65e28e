// SPDX-License-Identifier: Apache-2.0

/// The result of ringing a person.
public enum RingOutcome: Hashable, Sendable {
    /// They come in, on this device.
    case accepted(CallDevice)
    /// They declined, on one of their devices.
    case declined
    /// A device of theirs is in a call, and no other has answered.
    case busy
    /// The person did not answer.
    case missed
}

/// What the caller's device does about its ring.
public enum RingAction: Hashable, Sendable {
    /// Tell this device to stop.
    case end(CallDevice, RingEnd)
    /// Tell the person who calls what came of this one.
    case settled([UInt8], RingOutcome)
}

/// The people who are rung, from the caller's side: the device that answers decides for all of its person's devices.
public struct OutgoingRing: Sendable {
    private struct Person: Sendable {
        /// Those that ring.
        var ringing: Set<CallDevice>
        var outcome: RingOutcome?
        var isBusy = false
    }

    /// Its name.
    public let id: SignalNonce
    /// When it is over, in milliseconds since 1970.
    public let endsAt: UInt64
    private var people: [[UInt8]: Person]
    private let owners: [CallDevice: [UInt8]]

    /// - Parameter people: whom to ring, and on which devices, all of them from verified lookups.
    public init(id: SignalNonce, people: [[UInt8]: Set<CallDevice>], until endsAt: UInt64) {
        self.id = id
        self.endsAt = endsAt
        self.people = people.mapValues { Person(ringing: $0) }
        owners = people.reduce(into: [:]) { owners, person in
            for device in person.value { owners[device] = person.key }
        }
    }

    /// The devices to ring.
    public var devices: Set<CallDevice> { Set(owners.keys) }

    /// Whether every person has answered, or can no longer answer.
    public var isSettled: Bool { people.values.allSatisfy { $0.outcome != nil } }

    /// The result of ringing a person; nil while they are rung, and for a person who is not rung.
    public func outcome(of handle: [UInt8]) -> RingOutcome? { people[handle]?.outcome }

    /// Processes an answer. Each device has one.
    ///
    /// - Parameter signal: of this call and for this device.
    /// - Throws: ``RingRefusal``.
    public mutating func take(_ signal: VerifiedSignal, _ answer: RingAnswer) throws(RingRefusal) -> [RingAction] {
        let sender = signal.content.sender
        guard signal.content.recipient != nil else { throw .anotherRecipient }
        guard answer.id == id else { throw .unknownRing }
        guard let handle = owners[sender], var person = people[handle] else { throw .anotherSender }
        guard person.ringing.remove(sender) != nil else { throw .replayed }
        let before = person.outcome
        var actions: [RingAction] = []
        switch (answer.answer, before) {
        // A device that answers second is told that another one was faster.
        case (.accept, .accepted): actions = [.end(sender, RingEnd(.acceptedElsewhere, of: id))]
        // The call goes on: they come late, and come in.
        case (.accept, _):
            actions = settle(&person, .accepted(sender), .acceptedElsewhere)
        case (.decline, nil): actions = settle(&person, .declined, .declinedElsewhere)
        case (.busy, nil):
            person.isBusy = true
            if person.ringing.isEmpty { person.outcome = .busy }
        case (.decline, _), (.busy, _): break
        }
        people[handle] = person
        if let outcome = person.outcome, outcome != before { actions.append(.settled(handle, outcome)) }
        return actions
    }

    /// Time has passed.
    public mutating func tick(at now: UInt64) -> [RingAction] { now >= endsAt ? cancel() : [] }

    /// The caller stops ringing.
    public mutating func cancel() -> [RingAction] {
        var actions: [RingAction] = []
        for (handle, var person) in people.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) })
        where person.outcome == nil {
            person.outcome = person.isBusy ? .busy : .missed
            actions += person.ringing.sorted().map { .end($0, RingEnd(.over, of: id)) }
            actions.append(.settled(handle, person.isBusy ? .busy : .missed))
            people[handle] = person
        }
        return actions
    }

    /// One device has answered for the person: the others stop. They may still answer, if that crosses on the way.
    private func settle(_ person: inout Person, _ outcome: RingOutcome, _ reason: RingEnd.Reason) -> [RingAction] {
        person.outcome = outcome
        return person.ringing.sorted().map { .end($0, RingEnd(reason, of: id)) }
    }
}
