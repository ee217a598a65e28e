// SPDX-License-Identifier: Apache-2.0

public import CallSignalling
public import KeyTransparency
import SignetClient

/// Judges the rings that reach a device, before they are reported.
///
/// Security: a ring from a person whom the user has not added or accepted costs a look into the store and is not shown;
/// it causes no lookup. For every other ring, the caller is looked up before it is shown, a few in five minutes for
/// each person.
public actor RingJudge {
    /// Whose rings.
    public nonisolated let handle: Handle
    private let people: RingPeople
    private let clock: CallClock
    private let keep: @Sendable (RingMemory) -> Void
    private var rings: IncomingRings
    private var calls: [ScreenedRing: IncomingCall] = [:]

    /// - Parameters:
    ///   - memory: which rings were heard before, by any process.
    ///   - isBusy: whether this device is in a call.
    ///   - keep: is given each new memory, to be kept for the next process.
    public init(
        for identity: CallIdentity, of handle: Handle, among people: RingPeople, remembering memory: RingMemory,
        isBusy: Bool, clock: CallClock = CallClock(), keep: @escaping @Sendable (RingMemory) -> Void
    ) {
        self.handle = handle
        self.people = people
        self.clock = clock
        self.keep = keep
        rings = IncomingRings(of: identity.device, handle.bytes, remembering: memory, isBusy: isBusy)
    }

    /// What rings, the oldest first.
    public var ringing: [IncomingCall] { rings.ringing.compactMap { calls[$0] } }

    /// Judges a signal.
    ///
    /// - Returns: nil if it is not a ring, and no end of one.
    public func judge(_ signal: Signal) async -> RingEvent? {
        switch signal.content.body {
        case .ring(let ring): await judge(signal, ring)
        case .ringEnd(let end): judge(signal, end)
        default: nil
        }
    }

    private func judge(_ signal: Signal, _ ring: Ring) async -> RingEvent {
        guard let caller = try? Handle(canonical: ring.caller), let others = Self.handles(ring.others) else {
            return .refused(.stranger, nil)
        }
        let accepted = await people.accepted(caller)
        let screened: ScreenedRing
        do throws(RingRefusal) {
            screened = try rings.screen(signal, ring, accepted: accepted, at: clock.now)
            keep(rings.memory)
        } catch {
            keep(rings.memory)
            let isTheirs = accepted?.contains(signal.content.sender) == true
            if case .late = error, isTheirs { return .missed(caller) }
            return .refused(error, accepted == nil ? nil : caller)
        }
        switch await people.find(caller) {
        case .success(let found):
            let others = (others + [caller]).filter { $0 != handle }
            let call = IncomingCall(
                ring: screened, caller: caller, people: others.sorted { $0.description < $1.description },
                hasChanged: found.hasChanged)
            let isForkMet = await isForkMet(signal.content.checkpoint)
            let event = begin(call, found.devices)
            guard isForkMet, case .ringing = event else { return event }
            stop(call)
            return .forkMet(caller)
        case .failure(.unproven(let error)): return .unproven(caller, error)
        case .failure(.contradicted): return .contradicted(caller)
        }
    }

    private func isForkMet(_ checkpoint: [UInt8]) async -> Bool {
        if !checkpoint.isEmpty, case .fork = await people.meet(checkpoint) { true } else { false }
    }

    private func begin(_ call: IncomingCall, _ devices: Set<CallDevice>) -> RingEvent {
        do throws(RingRefusal) { try rings.begin(call.ring, devices: devices) } catch {
            return error == .busy ? .busy(call.caller, call.ring) : .refused(error, call.caller)
        }
        calls[call.ring] = call
        calls = calls.filter { rings.ringing.contains($0.key) }
        return .ringing(call)
    }

    private func judge(_ signal: Signal, _ end: RingEnd) -> RingEvent {
        do throws(RingRefusal) {
            let ring = try rings.end(signal, end)
            guard let call = calls.removeValue(forKey: ring) else { return .refused(.unknownRing, nil) }
            return .stopped(call, end.reason)
        } catch { return .refused(error, nil) }
    }

    /// The user has answered.
    public func stop(_ call: IncomingCall) {
        rings.stop(call.ring)
        calls[call.ring] = nil
    }

    /// Time has passed.
    ///
    /// - Returns: the calls that were missed by it.
    public func tick() -> [IncomingCall] {
        rings.tick(at: clock.now).compactMap { calls.removeValue(forKey: $0) }
    }

    private static func handles(_ bytes: [[UInt8]]) -> [Handle]? {
        let handles = bytes.compactMap { try? Handle(canonical: $0) }
        return handles.count == bytes.count ? handles : nil
    }
}
