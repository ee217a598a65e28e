// SPDX-License-Identifier: Apache-2.0

import CallSignalling
public import KeyTransparency

extension GroupCall {
    /// Rings every device of all people in the call, for this long. To be called once, after ``start()``.
    ///
    /// - Parameters:
    ///   - caller: the handle of this device's user.
    ///   - seconds: within ``CallSignalling/Ring/seconds``; with another number, no one is rung.
    public func ring(as caller: Handle, for seconds: UInt16) {
        var generator = SystemRandomNumberGenerator()
        let id = SignalNonce(using: &generator)
        var rung: [[UInt8]: Set<CallDevice>] = [:]
        for device in people.devices {
            guard let person = people[device], person.handle != caller else { continue }
            rung[person.handle.bytes, default: []].insert(device)
        }
        let others = rung.keys.sorted { $0.lexicographicallyPrecedes($1) }
        guard ringing == nil,
            let ring = try? Ring(id: id, duration: seconds, caller: caller.bytes, others: others)
        else { return }
        let out = OutgoingRing(id: id, people: rung, until: now + UInt64(seconds) * 1000)
        ringing = out
        for device in out.devices.sorted() { tell(.ring(ring), to: device) }
    }

    /// Whether all people were rung, none of them came, and none can come any more.
    public var isUnanswered: Bool {
        guard let ringing, ringing.isSettled, members.count <= 1 else { return false }
        return people.handles.allSatisfy {
            if case .accepted = ringing.outcome(of: $0.bytes) { false } else { true }
        }
    }

    func take(_ answer: RingAnswer, _ signal: VerifiedSignal) {
        do throws(RingRefusal) { carryOut(try ringing?.take(signal, answer) ?? []) } catch {
            noteRefusedAnswer()
        }
    }

    func tickRing() { carryOut(ringing?.tick(at: now) ?? []) }

    func stopRinging() { carryOut(ringing?.cancel() ?? []) }

    private func carryOut(_ actions: [RingAction]) {
        for action in actions {
            switch action {
            case .end(let device, let end): tell(.ringEnd(end), to: device)
            case .settled(let handle, let outcome):
                if let handle = try? Handle(canonical: handle) { tell(.rung(handle, outcome)) }
            }
        }
    }
}
