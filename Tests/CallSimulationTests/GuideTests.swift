// SPDX-License-Identifier: Apache-2.0

import CallKeys
import CallSignalling
import CanonicalCoding
import Testing

@testable import CallSimulation

/// The call guide ("Key Rotation & Emergency Key Redistribution") line by line, with its own messages on the wire.
struct GuideTests {
    private enum Path { case media, audio }

    /// Five devices in a call at second 1000; the last has an RSA key only.
    private struct Call {
        var members = (0..<5).map { GuideMember(number: $0, scenario: Scenario(), policy: .seed) }
        var now: UInt64 = 1_000_000
        private var id: UInt64 = 0

        init() throws {
            _ = members[0].start(at: now)
            for number in 1..<5 { try join(number) }
        }

        mutating func join(_ number: Int) throws {
            let acts = members[number].join(at: now)
            let messages = try acts.map { try #require($0.message) }
            for answer in members[0].receive(messages[0].0, at: now) {
                let message = try #require(answer.message).0
                _ = members[number].receive(message, at: now)
            }
        }

        /// A frame; true if it was opened, and what was asked for.
        mutating func frame(_ from: Int, _ to: Int, _ path: Path) -> (isPlayed: Bool, asked: [GuideMember.Message]) {
            id += 2
            guard let frame = members[from].frame(path == .audio ? id + 1 : id, at: now) else { return (false, []) }
            let actions = members[to].receive(frame, at: now)
            let isPlayed = actions.contains { if case .played(frame.id) = $0 { true } else { false } }
            return (isPlayed, actions.compactMap { $0.message?.0 })
        }

        mutating func tick() { for number in members.indices { _ = members[number].tick(at: now) } }
    }

    private func expectFrame(
        _ from: Int, _ to: Int, _ path: Path, isPlayed: Bool = true, in call: inout Call, _ comment: Comment? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let frame = call.frame(from, to, path)
        #expect(frame.isPlayed == isPlayed, comment, sourceLocation: location)
    }

    private func expectRefusal(
        of message: GuideMember.Message, by number: Int, in call: inout Call, _ comment: Comment? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let actions = call.members[number].receive(message, at: call.now)
        #expect(actions.map(\.isRefusal) == [true], comment, sourceLocation: location)
    }

    private func text(_ message: GuideMember.Message) -> String {
        switch message {
        case .act(let destination, _): String(decoding: destination, as: UTF8.self)
        case .signal(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }

    private func signal(_ message: GuideMember.Message) -> LegacySignal? {
        if case .signal(let bytes) = message { try? LegacySignal(decoding: bytes) } else { nil }
    }

    @Test func aDeviceJoinsAtThePathOfTheGuide_andGetsTheKey() throws {
        var host = GuideMember(number: 0, scenario: Scenario(), policy: .seed)
        var guest = GuideMember(number: 1, scenario: Scenario(), policy: .seed)
        _ = host.start(at: 0)
        let acts = guest.join(at: 0)
        let join = try #require(acts.first?.message?.0)
        let call = String(decoding: Hex.encode(CallID.simulated.bytes), as: UTF8.self)
        #expect(text(join) == "/app/api/call/\(call)/join")
        let answers = host.receive(join, at: 0)
        let answer = try #require(answers.first?.message)
        #expect(answer.1 == 1 && !guest.isMember)
        let json = text(answer.0)
        #expect(json.hasPrefix(#"{"callId":"\#(call)","encryptedAESKey":""#))
        #expect(
            json.hasSuffix(#"","participantDeviceId":"device-1","participantId":"person-1","type":"send_aes_key"}"#))
        _ = guest.receive(answer.0, at: 0)
        #expect(guest.isMember)
    }

    @Test func aRotationIsWrappedForEachMember_andUsedFromItsTimestamp() throws {
        var call = try Call()
        let rotation = call.members[0].rotate(at: call.now).compactMap(\.message)
        #expect(rotation.map(\.1) == [1, 2, 3, 4])
        for (message, addressee) in rotation {
            let to = try #require(addressee)
            #expect(text(message).hasSuffix(#"","keyRotationTimestamp":1001000,"type":"key_rotation"}"#))
            guard case .keyRotation(_, let wrap, 1_001_000)? = signal(message) else {
                Issue.record("no rotation")
                return
            }
            // 65-byte key, 12-byte nonce, 32-byte key, 16-byte tag; or RSA-2048.
            #expect(wrap.count == (to == 4 ? 256 : 65 + 12 + 32 + 16))
            if to != 3 { _ = call.members[to].receive(message, at: call.now) }
        }
        call.now += 999
        call.tick()
        expectFrame(0, 3, .audio, in: &call, "the old key is in use until then")
        // Device 1's clock is ahead: its key is the others' future one.
        _ = call.members[1].tick(at: call.now + 1)
        expectFrame(1, 2, .audio, in: &call)
        expectFrame(1, 2, .media, in: &call)
        expectFrame(2, 1, .audio, in: &call, "and the others' key is its backup")
        call.now += 1
        call.tick()
        expectFrame(0, 4, .media, in: &call)
        expectFrame(0, 3, .audio, isPlayed: false, in: &call, "the device that did not get the rotation")
        call.now += 30_000
        expectFrame(3, 2, .audio, isPlayed: false, in: &call, "the backup of audio opens for 30 s")
        expectFrame(3, 2, .media, in: &call, "that of media for 120 s")
        call.now += 90_000
        expectFrame(3, 2, .media, isPlayed: false, in: &call)
    }

    @Test func aMemberWithoutTheKeyAsksTheHostOnce_andUsesTheAnswerAtOnce() throws {
        var call = try Call()
        _ = call.members[0].rotate(at: call.now)
        call.now += 1000
        call.tick()
        let asked = call.frame(0, 1, .media).asked + call.frame(0, 1, .audio).asked
        #expect(asked.count == 1)
        let request = try #require(asked.first)
        let name = String(decoding: Hex.encode(CallID.simulated.bytes), as: UTF8.self)
        #expect(
            text(request) == #"{"callId":"\#(name)","participantDeviceId":"device-0","participantId":"person-0","#
                + #""senderDeviceId":"device-1","senderId":"person-1","type":"request_aes_key"}"#)
        expectRefusal(of: request, by: 2, in: &call, "not the host")
        let answers = call.members[0].receive(request, at: call.now)
        let (answer, to) = try #require(answers.first?.message)
        #expect(to == 1)
        expectRefusal(of: answer, by: 2, in: &call, "not for this device")
        expectRefusal(of: answer, by: 0, in: &call, "no member sends the host a key")
        let actions = call.members[1].receive(answer, at: call.now + 300)
        #expect(actions.contains { if case .recovered(300) = $0 { true } else { false } })
        expectFrame(0, 1, .media, in: &call)
        expectFrame(1, 0, .audio, in: &call)
    }

    @Test func theHostNeverAsksForAKey_andMalformedMessagesAreRefused() throws {
        var (call, other) = (try Call(), try Call())
        _ = other.members[0].rotate(at: other.now)
        other.now += 1000
        other.tick()
        let sealed = other.members[0].frame(2, at: other.now)
        let frame = try #require(sealed)
        let actions = call.members[0].receive(frame, at: call.now)
        #expect(actions.isEmpty)
        for junk in ["", "{}", #"{"type":"send_aes_key"}"#] {
            expectRefusal(of: .signal(Array(junk.utf8)), by: 1, in: &call)
        }
        expectRefusal(of: .act(Array("/app/api/call/x/join".utf8), from: 1), by: 0, in: &call)
    }

    /// `signet call simulate --legacy`
    @Test func aWholeCallByTheGuideRecovers() throws {
        var scenario = Scenario()
        (scenario.rotations, scenario.loss) = (3, 0)
        let steady = scenario.run(.seed)
        #expect(steady.frames > 5000 && steady.undecryptable == 0 && steady.switches.count == 3)
        let missed = scenario.withMissedRotations.run(.seed)
        #expect(missed.recoveries.count >= 2 && missed.refusals == 0)
        #expect(try #require(missed.recoveries.max()) < 1000)
    }
}

extension SimulatedAction {
    fileprivate var message: (Message, Int?)? {
        if case .send(let message, let to, _) = self { (message, to) } else { nil }
    }

    fileprivate var isRefusal: Bool { if case .refused = self { true } else { false } }
}
