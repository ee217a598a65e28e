// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Foundation
import STOMP
import SignalBroker
import SignalClient
import SignetAPI
import SignetClient
import SignetServer
import Testing

/// The real `signetd`, with its default limits, under floods by its own members.
@Suite(.serialized) struct FloodProcessTests {
    /// Sixteen calls reach an account's limit at the relay, no matter which account started them.
    @Test(.timeLimit(.minutes(5))) func anAccountIsLimitedToSixteenCallsAtTheRelay() async throws {
        try await Self.serving { _, profile in
            let (eve, eves) = try await TestDevice.member("eve@example.org", at: profile)
            let (mallory, mallorys) = try await TestDevice.member("mallory@example.org", at: profile)
            let bystanders = try await Bystanders(at: profile)
            let (first, second) = (try eve.client(profile), try mallory.client(profile))
            var guests: [FrameGuest] = []
            defer { for guest in guests { guest.close() } }
            var receptions: [FrameGuest.Reception] = []
            for number in 0..<17 {
                let call = TestDevice.call()
                let (starter, joiner, invited) = number < 16 ? (first, second, mallory) : (second, first, eve)
                try await starter.carryOut(.start(call, inviting: [invited.device]))
                try await joiner.carryOut(.join(call))
                let guest = try await FrameGuest(call, eves, as: eve)
                // A device that is silent for 15 s is dropped, and a busy machine may take that long for one after the
                // other.
                try await Self.stay(guests)
                guests.append(guest)
                receptions.append(try await guest.enter())
            }
            #expect(receptions.prefix(16).allSatisfy { $0 != .refused } && receptions.last == .refused)
            // The account cannot start a seventeenth call of its own either.
            await #expect(throws: RelayClientError.refused(.tooManyCalls)) {
                try await first.carryOut(CallAct.start(TestDevice.call(), inviting: []))
            }
            // An account with fewer calls is admitted.
            let call = TestDevice.call()
            try await second.carryOut(.start(call, inviting: []))
            guests.append(try await FrameGuest(call, mallorys, as: mallory))
            #expect(try await guests[17].enter() != .refused)
            try await bystanders.call()
            await first.close()
            await second.close()
        }
    }

    /// Says hello for all of them at once.
    private static func stay(_ guests: [FrameGuest]) async throws {
        try await withThrowingTaskGroup(of: FrameGuest.Reception.self) { group in
            for guest in guests { group.addTask { try await guest.enter() } }
            for try await reception in group { #expect(reception != .refused) }
        }
    }

    /// Its ticket would be valid for two minutes, had it not left.
    @Test(.timeLimit(.minutes(4))) func aDeviceThatLeftACallIsRefusedByTheRelay_andGetsNoOtherTicket() async throws {
        try await Self.serving { _, profile in
            let people = try await TestDevice.members(["alice@example.org", "bob@example.org"], at: profile)
            let (first, second) = (try people[0].0.client(profile), try people[1].0.client(profile))
            let call = TestDevice.call()
            try await first.carryOut(.start(call, inviting: [people[1].0.device]))
            await #expect(throws: FrameGuest.NotAdmitted.self) {
                try await FrameGuest(call, people[1].1, as: people[1].0)
            }
            try await second.carryOut(.join(call))
            let guest = try await FrameGuest(call, people[1].1, as: people[1].0)
            defer { guest.close() }
            #expect(try await guest.enter() != .refused)
            try await second.carryOut(.leave(call))
            // The relay is told a moment after the broker.
            let end = ContinuousClock.now + .seconds(120)
            var reception = try await guest.enter()
            while reception != .refused, ContinuousClock.now < end { reception = try await guest.enter() }
            #expect(reception == .refused)
            await #expect(throws: FrameGuest.NotAdmitted.self) {
                try await FrameGuest(call, people[1].1, as: people[1].0)
            }
            await first.close()
            await second.close()
        }
    }

    /// Four connections that ping as fast as they can and read no answer: each is ended, and no answers pile up.
    @Test(.timeLimit(.minutes(4))) func pingsWithoutReadingTheAnswersEndTheConnection() async throws {
        try await Self.serving { daemon, profile in
            let (eve, _) = try await TestDevice.member("eve@example.org", at: profile)
            let bystanders = try await Bystanders(at: profile)
            let idle = try daemon.memory()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let socket = try await FloodSocket.connected(eve, at: profile)
                        try await socket.stopReading()
                        defer { socket.close() }
                        let end = ContinuousClock.now + .seconds(120)
                        while try ContinuousClock.now < end && daemon.peakMemory() - idle <= Self.bound {
                            guard (try? await socket.ping(1000)) != nil else { return }
                        }
                        Issue.record("not ended")
                    }
                }
                try await bystanders.call()
                try await group.waitForAll()
            }
            let peak = try daemon.peakMemory()
            #expect(peak - idle <= Self.bound)
        }
    }

    /// Long signals, and short ones with long headers, between two devices of an account that read none of them.
    @Test(.timeLimit(.minutes(4))) func inboxesOfAnAccountsDevicesAreLimitedToOneMebibyte() async throws {
        let kept = try await Self.serving { daemon, profile in
            let (eve, eves) = try await TestDevice.member("eve@example.org", at: profile)
            let devices = [eve, try await eve.another(through: eves, at: profile)]
            let bystanders = try await Bystanders(at: profile)
            let idle = try daemon.memory()
            let call = TestDevice.call()
            let first = try await FloodSocket.connected(eve, at: profile)
            try await first.carryOut(.start(call, inviting: devices.map(\.device)))
            #expect(await first.settle())
            for (device, isLong) in zip(devices, [true, false]) {
                let socket = try await FloodSocket.connected(device, at: profile)
                try await socket.carryOut(.join(call))
                for letter in 0..<250 as Range<UInt64> {
                    let recipient = devices[Int(letter % 2)].device
                    try await socket.send(letter: letter, of: device, in: call, to: recipient, isLong: isLong)
                }
                #expect(await socket.settle())
                socket.close()
            }
            try await bystanders.call()
            first.close()
            let peak = try daemon.peakMemory()
            #expect(peak - idle <= Self.bound)
        }
        let byteCount = kept.reduce(0) { $0 + $1.frame.count }
        #expect(byteCount > 900_000 && byteCount <= 1 << 20)
    }

    /// Signals of 64 KiB to 16 connections that read nothing; a second subscription to the call ends its connection.
    @Test(.timeLimit(.minutes(4))) func memoryForConnectionsThatReadNothingIsBounded() async throws {
        try await Self.serving { daemon, profile in
            let names = (0..<8).map { "eve\($0)@example.org" }
            let eves = try await TestDevice.members(names, at: profile).map(\.0)
            let bystanders = try await Bystanders(at: profile)
            let idle = try daemon.memory()
            let call = TestDevice.call()
            let starter = try await FloodSocket.connected(eves[0], at: profile)
            try await starter.carryOut(.start(call, inviting: []))
            #expect(await starter.settle())
            starter.close()
            let greedy = try await FloodSocket.connected(eves[0], at: profile)
            for name in ["a", "b"] { try await greedy.subscribe(to: .topic(call), as: name) }
            #expect(await greedy.hear("repeated-subscription") != nil)
            greedy.close()
            var sockets: [FloodSocket] = []
            for eve in eves {
                for number in 0..<2 {
                    let socket = try await FloodSocket.connected(eve, at: profile)
                    if number == 0 { try await socket.carryOut(.join(call)) }
                    try await socket.subscribe(to: .topic(call), as: "s")
                    #expect(await socket.settle())
                    try await socket.stopReading()
                    sockets.append(socket)
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for eve in eves {
                    group.addTask {
                        let socket = try await FloodSocket.connected(eve, at: profile)
                        for number in 0..<24 as Range<UInt64> where !Task.isCancelled {
                            let signal = try eve.longSignal(number, in: call)
                            let route = StompHeader(.destination, RelayRoute.topic(call).destination)
                            guard (try? await socket.send(.send, [route], body: signal.encoded)) != nil else { break }
                        }
                        // As much as its account may spread, or all.
                        _ = await socket.settle()
                        socket.close()
                    }
                }
                try await group.waitForAll()
            }
            try await bystanders.call()
            for socket in sockets { socket.close() }
            let peak = try daemon.peakMemory()
            #expect(peak - idle <= Self.bound)
        }
    }

    /// How much more memory than idle the server may take, in bytes.
    private static let bound = 64 << 20

    /// - Returns: the signals that are in inboxes in the end.
    @discardableResult private static func serving(
        _ body: (RelayDaemon, DirectoryProfile) async throws -> Void
    ) async throws -> [KeptSignal] {
        try await withFolder { folder in
            let data = try await TestRelay.setUp(in: folder)
            let daemon = try await RelayDaemon(data)
            let profile = TestRelay.profile(try StoredDirectory.readProfile(data), port: daemon.port)
            do { try await body(daemon, profile) } catch {
                await daemon.kill()
                throw error
            }
            await daemon.kill()
            let store = try SignalStore(at: data.signals)
            defer { store.close() }
            return try store.read().kept
        }
    }
}

extension TestDevice {
    /// A signal that is nearly as long as one may be.
    fileprivate func longSignal(_ number: UInt64, in call: CallID, to recipient: CallDevice? = nil) throws -> Signal {
        let epoch = Epoch(term: 1, generation: 1, step: 0)
        let roster = try Roster(
            callID: call, term: 1, number: 1, previous: [UInt8](repeating: 0, count: 32), host: device,
            members: [RosterMember(index: 0, device: device)])
        let wrap = KeyWrap(
            recipient: device, epoch: epoch, form: .hpkeP256,
            bytes: [UInt8](repeating: 1, count: KeyWrap.maximumByteCount))
        let rotation = KeyRotation(
            epoch: epoch, reason: .timer, commitment: [UInt8](repeating: 0, count: 32), notBefore: 0, roster: roster,
            wraps: [KeyWrap](repeating: wrap, count: 115))
        return try signal(.rotation(rotation), number, in: call, to: recipient)
    }
}

extension FloodSocket {
    /// Sends a letter.
    ///
    /// - Parameter isLong: with a long body; otherwise with long headers.
    fileprivate func send(
        letter number: UInt64, of person: TestDevice, in call: CallID, to recipient: CallDevice, isLong: Bool
    ) async throws {
        let signal =
            isLong
            ? try person.longSignal(number, in: call, to: recipient)
            : try person.signal(number, in: call, to: recipient)
        let headers = isLong ? [] : [StompHeader("note", [UInt8](repeating: 120, count: 7000))]
        try await send(
            .send, [StompHeader(.destination, RelayRoute.inbox(recipient).destination)] + headers, body: signal.encoded)
    }
}
