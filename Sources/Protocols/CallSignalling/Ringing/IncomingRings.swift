// SPDX-License-Identifier: Apache-2.0

/// A ring that is the caller's, for this device and person, of now, and heard for the first time. What is left to show is that
/// its device is the caller's still, by a fresh lookup.
public struct ScreenedRing: Hashable, Sendable {
    /// Which call.
    public let callID: CallID
    /// The device that rings.
    public let device: CallDevice
    /// What it says.
    public let ring: Ring
    /// When it stops by itself, in milliseconds since 1970.
    public let endsAt: UInt64
}

/// What rings at a device: which rings are heard, and when they stop.
///
/// Security: a stranger's ring costs nothing but a signature. People whom this person has not accepted get no answer.
public struct IncomingRings: Sendable {
    /// A ring may be of a time so far ahead of this device's clock, in milliseconds.
    public static let clockSkew: UInt64 = 30_000
    /// What the broker keeps no longer than, in milliseconds.
    public static let keptFor: UInt64 = 3_600_000
    /// Rings of one person, and of devices that are not known to be the caller's, that are heard in ``pace`` milliseconds.
    public static let ringsPerPace = 5
    /// In milliseconds.
    public static let pace: UInt64 = 300_000
    /// How many may ring at once.
    public static let capacity = 4

    private let device: CallDevice
    private let handle: [UInt8]
    /// Which rings were heard: the owner of this value keeps it for the next process.
    public private(set) var memory: RingMemory
    /// What rings.
    public private(set) var ringing: [ScreenedRing] = []
    /// Whether this device is in a call.
    public var isBusy: Bool
    private var heardAt: [[UInt8]: [UInt64]] = [:]

    /// - Parameters:
    ///   - device: this device.
    ///   - handle: of its person, canonical.
    ///   - isBusy: whether it is in a call.
    public init(of device: CallDevice, _ handle: [UInt8], remembering memory: RingMemory, isBusy: Bool = false) {
        self.device = device
        self.handle = handle
        self.memory = memory
        self.isBusy = isBusy
    }

    /// Judges a ring.
    ///
    /// - Parameters:
    ///   - accepted: the devices that are pinned for the caller whom the ring names; nil if this person has neither
    ///     added nor accepted the caller.
    ///   - now: this device's clock, in milliseconds since 1970.
    /// - Throws: ``RingRefusal``.
    public mutating func screen(
        _ signal: Signal, _ ring: Ring, accepted: Set<CallDevice>?, at now: UInt64
    ) throws(RingRefusal) -> ScreenedRing {
        let content = signal.content
        guard content.recipient == device else { throw .anotherRecipient }
        guard ring.others.contains(handle) else { throw .anotherPerson }
        guard let accepted else { throw .stranger }
        guard signal.isSignatureValid else { throw .invalidSignature }
        guard content.sentAt <= now + Self.clockSkew else { throw .early }
        guard now <= content.sentAt + Self.keptFor + Self.clockSkew else { throw .outdated }
        try keepPace(accepted.contains(content.sender) ? ring.caller : [], at: now)
        let forgotten = now - min(now, Self.keptFor + 2 * Self.clockSkew)
        guard memory.insert(ring, content, forgettingBefore: forgotten) else { throw .replayed }
        let endsAt = min(content.sentAt, now) + UInt64(ring.duration) * 1000
        guard now < endsAt else { throw .late }
        return ScreenedRing(callID: content.callID, device: content.sender, ring: ring, endsAt: endsAt)
    }

    private mutating func keepPace(_ name: [UInt8], at now: UInt64) throws(RingRefusal) {
        let recent = (heardAt[name] ?? []).filter { $0 + Self.pace > now }
        guard recent.count < Self.ringsPerPace else { throw .tooOften }
        heardAt[name] = recent + [now]
    }

    /// Begins to ring.
    ///
    /// - Parameter devices: the caller's, by a lookup of now.
    /// - Throws: ``RingRefusal/anotherDevice``; ``RingRefusal/busy``: the caller is to be told.
    public mutating func begin(_ ring: ScreenedRing, devices: Set<CallDevice>) throws(RingRefusal) {
        guard devices.contains(ring.device) else { throw .anotherDevice }
        ringing.removeAll { $0.callID == ring.callID && $0.device == ring.device }
        guard !isBusy, ringing.count < Self.capacity else { throw .busy }
        ringing.append(ring)
    }

    /// Records that a ring is over. Only the device that rings can end it.
    ///
    /// - Returns: the ring that stops.
    /// - Throws: ``RingRefusal``.
    public mutating func end(_ signal: Signal, _ end: RingEnd) throws(RingRefusal) -> ScreenedRing {
        guard signal.content.recipient == device else { throw .anotherRecipient }
        guard let ring = ringing.first(where: { $0.ring.id == end.id && $0.callID == signal.content.callID }) else {
            throw .unknownRing
        }
        guard ring.device == signal.content.sender else { throw .anotherSender }
        guard signal.isSignatureValid else { throw .invalidSignature }
        stop(ring)
        return ring
    }

    /// The person has answered, or the call is theirs no more.
    public mutating func stop(_ ring: ScreenedRing) { ringing.removeAll { $0 == ring } }

    /// Time has passed.
    ///
    /// - Returns: the rings that stop by themselves: missed calls.
    public mutating func tick(at now: UInt64) -> [ScreenedRing] {
        let missed = ringing.filter { now >= $0.endsAt }
        ringing.removeAll { now >= $0.endsAt }
        return missed
    }
}
