// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import KeyTransparency
import SignetClient
import Synchronization
import Testing
import TransparencyLog

@testable import CallClient

/// A directory shows the caller and the called person different logs. Rings and answers carry each one's checkpoint.
struct RingGossipTests {
    private let room = CallRoom()
    private let callID: CallID
    private let fork: MetCheckpoint

    init() throws {
        callID = room.callID
        let line = NoteSignature(name: try KeyName("example.org/log".utf8), keyID: KeyID(rawValue: 0), blob: [1])
        let note = try SignedNote(text: Array("example.org/log\n".utf8), signatures: [line])
        fork = MetCheckpoint.fork(ForkEvidence(first: note, second: note))
    }

    private func signal(_ body: SignalBody, _ checkpoint: [UInt8], from number: Int, to other: Int) throws -> Signal {
        let (sender, recipient) = (room.people[number], room.people[other])
        let now = CallClock().now
        let content = Signal.Content(
            callID: callID, sender: try #require(CallDevice(sender.keys.signing)),
            recipient: CallDevice(recipient.keys.signing), term: 0, sequence: now, sentAt: now, checkpoint: checkpoint,
            body: body)
        return try Signal(signing: content, with: sender.sign)
    }

    private func ring() throws -> Ring {
        try Ring(
            id: try #require(SignalNonce([UInt8](repeating: 6, count: 16))), duration: 45,
            caller: room.people[0].handle.bytes, others: [room.people[1].handle.bytes])
    }

    /// Judges a ring from the first person at the second; `meet` is the result of comparing its checkpoint.
    private func judge(
        _ signal: Signal, _ meet: MetCheckpoint
    ) async throws -> (RingEvent?, asked: [[UInt8]], ringing: Int) {
        let devices: Set<CallDevice> = [try #require(CallDevice(room.people[0].keys.signing))]
        let asked = Mutex<[[UInt8]]>([])
        let people = RingPeople { _ in
            devices
        } find: { _ in
            .success(RingPeople.Found(devices: devices, hasChanged: false))
        } meet: { bytes in
            asked.withLock { $0.append(bytes) }
            return meet
        }
        let judge = RingJudge(
            for: try #require(CallIdentity(room.people[1])), of: room.people[1].handle, among: people,
            remembering: RingMemory(), isBusy: false
        ) { _ in }
        let event = await judge.judge(signal)
        return (event, asked.withLock { $0 }, await judge.ringing.count)
    }

    @Test func aRingWithACheckpointOfAnotherLogDoesNotRing() async throws {
        let caller = room.people[0].handle
        let theirs = try signal(.ring(ring()), [1, 2, 3], from: 0, to: 1)
        let met = try await judge(theirs, fork)
        #expect(met.0 == .forkMet(caller))
        #expect(met.asked == [[1, 2, 3]] && met.ringing == 0)
        let same = try await judge(theirs, .oneHistory)
        guard case .ringing = same.0 else { return #expect(Bool(false), "\(String(describing: same.0))") }
        #expect(same.ringing == 1)
        let silent = try await judge(signal(.ring(ring()), [], from: 0, to: 1), fork)
        guard case .ringing = silent.0 else { return #expect(Bool(false), "\(String(describing: silent.0))") }
        #expect(silent.asked.isEmpty)
    }

    @Test(.timeLimit(.minutes(1))) func anAnswerWithACheckpointOfAnotherLogStopsSending() async throws {
        let fork = fork
        let caller = try room.enter(0, knowing: 0..<2, gossip: CallGossip(own: []) { $0 == [9] ? fork : .oneHistory })
        await caller.call.start()
        let nonce = try #require(SignalNonce([UInt8](repeating: 6, count: 16)))
        let answer = try signal(.ringAnswer(RingAnswer(.busy, to: nonce)), [9], from: 1, to: 0)
        room.bring(answer, from: try #require(CallDevice(room.people[1].keys.signing)))
        let met = await caller.log.first { notice in
            if case .met(.fork, _) = notice { true } else { nil as Bool? }
        }
        #expect(met == true)
        #expect(await caller.call.tally.isForked)
        await caller.call.leave()
    }

    /// A ring of another call, while this one lasts.
    @Test(.timeLimit(.minutes(1))) func aForkFoundInARingOfAnotherCallStopsSendingInThisCall() async throws {
        let device = try room.enter(0, knowing: 0..<2)
        await device.call.start()
        await device.call.hear(.forkMet(room.people[1].handle))
        #expect(await device.call.tally.isForked)
        await device.call.leave()
    }

    /// In both directions: the signal to join, and the ring.
    @Test(.timeLimit(.minutes(1))) func ringsAndJoinsCarryTheSendersCheckpoint() async throws {
        let caller = try room.enter(0, knowing: 0..<2, gossip: CallGossip(own: [8]) { _ in .oneHistory })
        let called = try room.enter(1, knowing: 0..<2, gossip: CallGossip(own: [9]) { _ in .oneHistory })
        await caller.call.start()
        await caller.call.ring(as: room.people[0].handle, for: 45)
        await called.call.join()
        let said = room.passed.withLock { $0 }.map(\.content)
        let rings = said.filter { if case .ring = $0.body { true } else { false } }
        #expect(rings.map(\.checkpoint) == [[8]])
        let joins = said.filter { if case .join = $0.body { true } else { false } }
        #expect(!joins.isEmpty && joins.allSatisfy { $0.checkpoint == [9] })
        for device in [caller, called] { await device.call.leave() }
    }

    /// A device answers with its own checkpoint.
    @Test func anAnswerCarriesTheCheckpoint() throws {
        var rings = IncomingRings(
            of: try #require(CallDevice(room.people[1].keys.signing)), room.people[1].handle.bytes,
            remembering: RingMemory())
        let ring = try ring()
        let screened = try rings.screen(
            signal(.ring(ring), [], from: 0, to: 1), ring,
            accepted: [try #require(CallDevice(room.people[0].keys.signing))], at: CallClock().now)
        let answer = try #require(CallIdentity(room.people[1])?.answer(.busy, to: screened, telling: [7]))
        #expect(answer.content.checkpoint == [7])
    }
}
