// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Crypto
import Testing

@testable import CallKeys

/// Devices whose signals reach each other at once, unless a test drops them. Nothing is signed or wrapped here.
final class Room {
    static let call = CallID([UInt8](repeating: 3, count: 16))
    var now: UInt64 = 1_000_000
    var people: [CallParticipant] = []
    var log: [[CallAction]] = []
    /// Signals that were sent, with their senders.
    var sent: [(from: Int, draft: SignalDraft)] = []
    /// Packets beside the signals, with their senders: handed on by a test, or by ``packetsArrive``.
    var packets: [(from: Int, draft: PacketDraft)] = []
    /// Says which packets arrive, at once.
    var packetsArrive: (PacketDraft, Int) -> Bool = { _, _ in false }
    /// Says which signals are lost on the way to a device.
    var isLost: (SignalDraft, Int) -> Bool = { _, _ in false }

    /// The design's times, but for a host that waits two seconds for an ack and no longer, so that tests see what comes then, and
    /// without digests.
    static let impatient: CallTimes = {
        var times = CallTimes()
        times.barrier = 2000
        times.digestInterval = 0
        return times
    }()

    init(_ count: Int, times: CallTimes = Room.impatient) throws {
        for number in 0..<count {
            people.append(
                CallParticipant(
                    callID: try #require(Self.call), device: try Self.device(number),
                    generator: SystemRandomNumberGenerator(), times: times))
            log.append([])
        }
        guard count > 0 else { return }
        step(0, .start)
        for number in 1..<max(count, 1) { join(number) }
        clearLog()
    }

    /// The same devices in the same state, in a room of their own.
    func copy() throws -> Room {
        let room = try Room(0)
        (room.now, room.people, room.log) = (now, people, log)
        return room
    }

    static func device(_ number: Int) throws -> CallDevice {
        try #require(CallDevice([UInt8](repeating: UInt8(number + 1), count: 32)))
    }

    var devices: [CallDevice] { people.map(\.device) }

    func clearLog() {
        log = log.map { _ in [] }
        sent = []
        packets = []
    }

    func join(_ number: Int) { step(number, .join(trusting: Set(devices))) }

    /// Gives a device an event and carries out what it wants.
    func step(_ number: Int, _ event: CallEvent) {
        let actions = people[number].handle(event, at: now)
        log[number] += actions
        for action in actions {
            switch action {
            case .send(let draft): pass(draft, from: number)
            case .sendPacket(let draft): pass(draft, from: number)
            case .admissionNeeded(let device): step(number, .admit(device))
            default: break
            }
        }
    }

    func pass(_ draft: SignalDraft, from number: Int) {
        sent.append((number, draft))
        for other in people.indices
        where other != number && (draft.recipient ?? people[other].device) == people[other].device {
            if !isLost(draft, other) { step(other, .signal(opened(draft, from: number, for: other))) }
        }
    }

    func pass(_ draft: PacketDraft, from number: Int) {
        for recipient in draft.recipients {
            let draft = PacketDraft(recipient: recipient, content: draft.content)
            packets.append((number, draft))
            guard let other = people.firstIndex(where: { $0.device == recipient }), packetsArrive(draft, number)
            else {
                continue
            }
            hand(draft, from: number, to: other)
        }
    }

    /// A packet arrives, now or again.
    func hand(_ draft: PacketDraft, from number: Int, to other: Int) {
        let packet = draft.opened(by: people[other].device, sentBy: people[number].device, in: people[number].callID)
        if let packet {
            step(other, .packet(packet))
        }
    }

    func opened(_ draft: SignalDraft, from number: Int, for other: Int) -> OpenedSignal {
        OpenedSignal(
            sender: people[number].device, sequence: draft.sequence, body: draft.body,
            keys: draft.keys.filter { $0.recipient == people[other].device })
    }

    /// Lets time pass, in steps of 50 ms.
    func wait(_ milliseconds: UInt64, without silent: Set<Int> = []) {
        let end = now + milliseconds
        while now < end {
            now += 50
            for number in people.indices where !silent.contains(number) { step(number, .tick) }
        }
    }

    /// A frame from one device to another; true if it was opened.
    func frame(_ sender: Int, _ receiver: Int, _ context: MediaContext = .audio) throws -> Bool {
        let bytes = try people[sender].seal([1, 2, 3], context)
        return hand(bytes, to: receiver)
    }

    func hand(_ bytes: [UInt8], to receiver: Int) -> Bool {
        let before = played(receiver)
        step(receiver, .frame(bytes))
        return played(receiver) > before
    }

    func played(_ number: Int) -> Int { log[number].count { if case .play = $0 { true } else { false } } }

    func dropped(_ number: Int) -> [FrameDropReason] {
        log[number].compactMap { if case .dropped(let frame) = $0 { frame.reason } else { nil } }
    }

    func refusals(_ number: Int) -> [SignalRefusal] {
        log[number].compactMap { if case .refused(let refusal, _) = $0 { refusal } else { nil } }
    }

    func outside(_ number: Int) -> [OutsideReason] {
        log[number].compactMap { if case .outside(let reason) = $0 { reason } else { nil } }
    }

    func requests() -> [(from: Int, draft: SignalDraft)] {
        sent.filter { if case .request = $0.draft.body { true } else { false } }
    }

    func bodies(_ isWanted: (SignalBody) -> Bool) -> Int { sent.count { isWanted($0.draft.body) } }
}

extension SignalBody {
    var isRotation: Bool { if case .rotation = self { true } else { false } }
    var isCommit: Bool { if case .commit = self { true } else { false } }
    var isLeave: Bool { if case .leave = self { true } else { false } }
    var isReply: Bool { if case .reply = self { true } else { false } }
    var isRoster: Bool { if case .roster = self { true } else { false } }
    var isRequest: Bool { if case .request = self { true } else { false } }
    var isHeartbeat: Bool { if case .heartbeat = self { true } else { false } }
}

extension PacketDraft {
    /// Of a draft for one.
    var recipient: CallDevice? { recipients.first }
}
