// SPDX-License-Identifier: Apache-2.0

import CallKeys
import CallSignalling
import KeyTransparency
import SignetClient
import Synchronization
import Testing
import TransparencyLog

@testable import CallClient

/// Devices in real time, with signals and frames in the same process.
struct CallTests {
    @Test(.timeLimit(.minutes(2))) func threeDevicesHearEachOther_andSeeTheSameDigits() async throws {
        let room = CallRoom()
        let devices = try (0..<3).map { try room.enter($0, knowing: 0..<3) }
        try await room.begin(devices)
        for speaker in devices {
            for listener in devices where listener.identity.device != speaker.identity.device {
                #expect(await room.hears(listener, speaker))
            }
        }
        var codes = Set<[UInt8]>()
        for device in devices { codes.insert(try #require(device.log.lastCode)) }
        #expect(codes.count == 1)
        for device in devices { #expect(await device.call.tally.undecryptable == 0) }
        for device in devices { await device.call.leave() }
    }

    @Test(.timeLimit(.minutes(2))) func aKeyArrivesWithTheFramesWhenSignalsDoNotBringIt() async throws {
        let room = CallRoom()
        let devices = try (0..<3).map { try room.enter($0, knowing: 0..<3) }
        try await room.begin(devices)
        room.withoutKeys.withLock { _ = $0.insert(devices[1].identity.device) }
        await devices[0].call.rotate()
        while await devices[1].call.epoch?.generation != 2 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(await room.hears(devices[1], devices[0]))
        #expect(await room.hears(devices[2], devices[1]))
        for device in devices { #expect(await device.call.tally.undecryptable == 0) }
        for device in devices { await device.call.leave() }
    }

    /// A sender who may not take part, or who sends too much, cannot make this device open more packets than this.
    @Test func packetsOfEachSenderAreOpenedUpToALimit() throws {
        var allowance = PacketAllowance()
        let aliases = (0..<UInt8(PacketAllowance.nameCount + 1)).map { MemberAlias([UInt8](repeating: $0, count: 8)) }
        func takes(_ alias: MemberAlias?, _ now: UInt64) -> Bool { allowance.takes(from: alias, at: now) }
        for _ in 0..<PacketAllowance.packetsPerSecond { #expect(takes(aliases[0], 5000)) }
        #expect(!takes(aliases[0], 5999))
        for alias in aliases[1...].dropLast() { #expect(takes(alias, 5500)) }
        #expect(!takes(aliases.last ?? nil, 5500))
        #expect(takes(aliases[0], 6000))
    }

    /// Otherwise the device would stay in the call alone, and its owner would not know why.
    @Test(.timeLimit(.minutes(1))) func aDeviceThatTheRelayDropsIsTold() async throws {
        let room = CallRoom()
        let devices = try (0..<2).map { try room.enter($0, knowing: 0..<2) }
        try await room.begin(devices)
        room.cutOff(devices[1].identity.device)
        let told = await devices[1].log.first { if case .cutOff = $0 { true } else { nil as Bool? } }
        #expect(told == true)
        for device in devices { await device.call.leave() }
    }

    /// The directory showed the devices different logs; the signals to join and to admit carry each one's checkpoint.
    @Test(.timeLimit(.minutes(2))) func aDeviceThatFindsAForkStopsSending() async throws {
        let room = CallRoom()
        let line = NoteSignature(name: try KeyName("example.org/log".utf8), keyID: KeyID(rawValue: 0), blob: [1])
        let note = try SignedNote(text: Array("example.org/log\n".utf8), signatures: [line])
        let fork = MetCheckpoint.fork(ForkEvidence(first: note, second: note))
        let (hers, his) = (Array("hers".utf8), Array("his".utf8))
        let devices = [
            try room.enter(0, knowing: 0..<2, gossip: CallGossip(own: hers) { $0 == his ? fork : .oneHistory }),
            try room.enter(1, knowing: 0..<2, gossip: CallGossip(own: his) { $0 == hers ? .oneHistory : fork }),
        ]
        try await room.begin(devices)
        for (device, expected) in zip(devices, [fork, .oneHistory]) {
            let met = await device.log.first { if case .met(let found, _) = $0 { found } else { nil } }
            #expect(met == expected)
        }
        #expect(await devices[0].call.tally.isForked)
        #expect(await !devices[1].call.tally.isForked)
        let before = await devices[0].call.tally
        #expect(await devices[0].call.send([1]) == .withheld(.forked))
        let after = await devices[0].call.tally
        #expect(after.sent == before.sent && after.withheld == before.withheld + 1)
        for device in devices { await device.call.leave() }
    }

    /// The host does not know the owner of the third device. The second device does, but is not the host.
    @Test(.timeLimit(.minutes(2))) func aStrangerIsNotAdmitted() async throws {
        let room = CallRoom()
        let devices = [
            try room.enter(0, knowing: 0..<2), try room.enter(1, knowing: 0..<3), try room.enter(2, knowing: 0..<3),
        ]
        try await room.begin([devices[0], devices[1]])
        await devices[2].call.join()
        let knock = await devices[0].log.first { if case .stranger(let device) = $0 { device } else { nil } }
        #expect(knock == devices[2].identity.device)
        #expect(await devices[0].call.members.count == 2)
        for device in devices { await device.call.leave() }
    }

    /// The host admits a device that the second does not know, and the second stops sending.
    @Test(.timeLimit(.minutes(2))) func aMemberThatDoesNotKnowAnotherStopsSending() async throws {
        let room = CallRoom()
        let devices = [
            try room.enter(0, knowing: 0..<3), try room.enter(1, knowing: 0..<2), try room.enter(2, knowing: 0..<3),
        ]
        try await room.begin([devices[0], devices[1]])
        let sent = await devices[1].call.tally.sent
        await devices[2].call.join()
        let strangers = await devices[1].log.first {
            if case .members(_, let strangers) = $0, !strangers.isEmpty { strangers } else { nil }
        }
        #expect(strangers == [devices[2].identity.device])
        #expect(await devices[1].call.send([1]) == .withheld(.stranger))
        let tally = await devices[1].call.tally
        #expect(tally.sent == sent && tally.withheld == 1)
        for device in devices { await device.call.leave() }
    }

    @Test(.timeLimit(.minutes(2))) func sendReportsTheFramesNumber_orWhyItWasWithheld() async throws {
        let room = CallRoom()
        let devices = [try room.enter(0, knowing: 0..<2), try room.enter(1, knowing: 0..<2)]
        #expect(await devices[0].call.send([1]) == .withheld(.noKey), "the call has not begun")
        try await room.begin(devices)
        #expect(await room.hears(devices[1], devices[0]))
        guard case .sent(let number) = await devices[0].call.send([1]) else { throw Missing() }
        #expect(await devices[0].call.send([1]) == .sent(number: number + 1))
        #expect(await devices[0].call.send([UInt8](repeating: 1, count: 2000)) == .withheld(.tooLong))
        for device in devices { await device.call.leave() }
    }

    private struct Missing: Error {}

    /// A notice that an attacker can cause at will must not push warnings out of the notices.
    @Test func aNoticeThatOutsidersCanCauseIsGivenOnceASecond() throws {
        var pace = NoticePace()
        let member = try #require(CallDevice([UInt8](repeating: 1, count: 32)))
        let knocks = [1000, 1999, 2000].map { pace.takes(.stranger, of: nil, at: $0) }
        #expect(knocks == [true, false, true])
        let junk = [
            pace.takes(.dropped(.notAuthentic), of: member, at: 1000),
            pace.takes(.dropped(.expired), of: member, at: 1000),
            pace.takes(.dropped(.notAuthentic), of: member, at: 1500),
            pace.takes(.dropped(.notAuthentic), of: nil, at: 1500),
        ]
        #expect(junk == [true, true, false, true], "each kind, of each member")
    }

    @Test func soundReadsBack() {
        let frame = AudioFrame(number: 0x0102_0304, sound: [5, 6])
        #expect(frame.encoded == [1, 2, 3, 4, 5, 6] && AudioFrame(decoding: frame.encoded) == frame)
        #expect(AudioFrame(decoding: [1, 2, 3]) == nil)
    }

    @Test func gapsInTheNumbersCountAsLosses_inAnyOrder() {
        var tally = MemberTally()
        #expect(tally.lost == 0)
        for number in [7, 5, 9, 8] as [UInt32] {
            tally.hear(number, generation: number < 8 ? 2 : 1, step: 3, waited: number == 8 ? 30 : 0)
        }
        #expect(tally.epoch ?? (0, 0) == (2, 3))
        #expect(tally.frames == 4 && tally.lost == 1 && tally.held == 1)
    }

    /// Every reason, so that a new one has to be sorted.
    @Test(arguments: FrameDropReason.allCases) func onlyFramesMeantForThisDeviceCountAsUndecryptable(
        _ reason: FrameDropReason
    ) throws {
        var tally = CallTally()
        let device = try #require(CallDevice([UInt8](repeating: 1, count: 32)))
        let isMeant = tally.drop(reason, of: device)
        #expect(isMeant == [.notAuthentic, .expired, .keyMissing, .noRoom, .anotherSender].contains(reason))
        #expect(tally.undecryptable == (isMeant && reason != .anotherSender ? 1 : 0))
        #expect(tally.members[device]?.forged ?? 0 == (reason == .anotherSender ? 1 : 0))
        #expect(tally.members[device]?.replayed ?? 0 == (reason == .replayed ? 1 : 0))
        let isFromOutside = reason == .outside || reason == .notEntitled
        #expect(tally.members[device]?.notEntitled ?? 0 == (isFromOutside ? 1 : 0))
    }
}
