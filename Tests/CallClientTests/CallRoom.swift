// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import KeyTransparency
import SignetClient
import Synchronization
import Testing

@testable import CallClient

/// Carries signals and frames between devices in one process.
final class CallRoom: Sendable {
    private struct Places {
        var signals: [CallDevice: AsyncStream<[UInt8]>.Continuation] = [:]
        var frames: [CallDevice: AsyncStream<ArrivedFrame>.Continuation] = [:]
    }

    let callID = CallRoom.fresh()
    let people: [DeviceSecrets]
    /// Devices that get no key by the signals.
    let withoutKeys = Mutex<Set<CallDevice>>([])
    /// Every signal that went through.
    let passed = Mutex<[Signal]>([])
    /// Whether the relay of frames helps a forger.
    let connives = Mutex(false)
    private let places = Mutex(Places())

    private static func fresh() -> CallID {
        var generator = SystemRandomNumberGenerator()
        return CallID(using: &generator)
    }

    init() {
        people = (0..<4).compactMap { number in
            guard let handle = try? Handle(typed: Array("p\(number)@example.org".utf8)) else { return nil }
            return try? DeviceSecrets.generate(for: handle, withIdentity: true)
        }
    }

    /// A device of one person that knows some of the others.
    func enter(
        _ number: Int, knowing known: Range<Int>, gossip: CallGossip? = nil, check: PeopleCheck? = nil
    ) throws -> RoomDevice {
        let identity = try #require(CallIdentity(people[number]))
        let others = known.filter { $0 != number }.map { people[$0] }
        let call = GroupCall(
            callID, as: identity,
            with: CallPeople(
                others.map { ($0.handle, $0.identityKey ?? [], DeviceRecord(number: 1, addedAt: 0, keys: $0.keys)) },
                own: (identity.device, people[number].identityKey ?? [])),
            signals: RoomSignals(room: self, device: identity.device, incoming: stream(\.signals, identity.device)),
            frames: RoomFrames(room: self, device: identity.device, incoming: stream(\.frames, identity.device)),
            gossip: gossip, check: check)
        return RoomDevice(call: call, identity: identity, log: NoticeLog(call.notices, call.sound))
    }

    /// The first starts and the others join; returns when each device has all the members.
    func begin(_ devices: [RoomDevice]) async throws {
        await devices[0].call.start()
        for device in devices.dropFirst() { await device.call.join() }
        for device in devices {
            _ = await device.log.first {
                if case .members(let members, _) = $0, members.count == devices.count { true } else { nil }
            }
        }
    }

    /// A signal arrives that this device made beside its call.
    func bring(_ signal: Signal, from device: CallDevice) { pass(signal, from: device) }

    /// No signal reaches this device any more, and it can know that.
    func cutOff(_ device: CallDevice) { places.withLock { $0.signals.removeValue(forKey: device) }?.finish() }

    /// Lets one device send until another hears it.
    func hears(_ listener: RoomDevice, _ speaker: RoomDevice) async -> Bool {
        // On a busy machine a frame may wait for too long and be lost, as on any bad network.
        let speech = Task {
            while !Task.isCancelled {
                await speaker.call.send([1, 2, 3])
                try? await Task.sleep(for: .seconds(1))
            }
        }
        defer { speech.cancel() }
        return await listener.log.sound(of: speaker.identity.device) == [1, 2, 3]
    }

    private func stream<Element: Sendable>(
        _ place: any WritableKeyPath<Places, [CallDevice: AsyncStream<Element>.Continuation]> & Sendable,
        _ device: CallDevice
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
        places.withLock { $0[keyPath: place][device] = continuation }
        return stream
    }

    fileprivate func pass(_ signal: Signal, from device: CallDevice) {
        passed.withLock { $0.append(signal) }
        let isKey =
            switch signal.content.body {
            case .rotation, .reply, .commit: true
            default: false
            }
        let deaf = isKey ? withoutKeys.withLock { $0 } : []
        places.withLock { places in
            for (other, place) in places.signals
            where !deaf.contains(other) && other != device && signal.content.recipient ?? other == other {
                place.yield(signal.encoded)
            }
        }
    }

    fileprivate func pass(_ packet: [UInt8], to alias: MemberAlias, from device: CallDevice) {
        let forged = ArrivedFrame(Array(packet.dropFirst()), carriedFor: alias)
        if connives.withLock({ $0 }), packet.first == RelayPacket.forgeryMark {
            return places.withLock { places in
                for (other, place) in places.frames
                where other != device && MemberAlias(of: other, in: callID) != alias {
                    place.yield(forged)
                }
            }
        }
        let arrived = ArrivedFrame(packet, carriedFor: MemberAlias(of: device, in: callID), isSealed: true)
        places.withLock { places in
            for (other, place) in places.frames where MemberAlias(of: other, in: callID) == alias {
                place.yield(arrived)
            }
        }
    }

    fileprivate func pass(_ frame: [UInt8], from device: CallDevice) {
        places.withLock { places in
            let arrived = ArrivedFrame(frame, carriedFor: MemberAlias(of: device, in: callID))
            for (other, place) in places.frames where other != device { place.yield(arrived) }
        }
    }
}

struct RoomDevice {
    let call: GroupCall
    let identity: CallIdentity
    let log: NoticeLog
}

/// All that a call reports, so that a test can wait for one report.
final class NoticeLog: Sendable {
    private let notices = Mutex<[CallNotice]>([])
    private let sounds = Mutex<[HeardFrame]>([])
    private let readers: Mutex<[Task<Void, Never>]> = Mutex([])

    init(_ stream: AsyncStream<CallNotice>, _ sound: AsyncStream<HeardFrame>) {
        let tasks = [
            Task { [weak self] in for await notice in stream { self?.notices.withLock { $0.append(notice) } } },
            Task { [weak self] in for await frame in sound { self?.sounds.withLock { $0.append(frame) } } },
        ]
        readers.withLock { $0 = tasks }
    }

    var lastCode: [UInt8]? {
        notices.withLock { $0.compactMap { if case .code(let code) = $0 { code } else { nil } }.last }
    }

    /// Waits for the first notice of which `read` makes a value.
    func first<Value: Sendable>(_ read: @Sendable (CallNotice) -> Value?) async -> Value? {
        await first { notices.withLock { $0.lazy.compactMap(read).first } }
    }

    /// Waits for the first sound of a device that `isMeant` accepts.
    func sound(of device: CallDevice, where isMeant: @Sendable ([UInt8]) -> Bool = { _ in true }) async -> [UInt8]? {
        await first {
            sounds.withLock { $0.first { $0.sender == device && isMeant($0.frame.sound) }?.frame.sound }
        }
    }

    private func first<Value: Sendable>(_ find: () -> Value?) async -> Value? {
        while !Task.isCancelled {
            let found = find()
            if let found { return found }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return nil
    }
}

private struct RoomSignals: CallSignals {
    let room: CallRoom
    let device: CallDevice
    let incoming: AsyncStream<[UInt8]>
    func send(_ signal: Signal) { room.pass(signal, from: device) }
    func invite(_ devices: [CallDevice]) async {}
    func remove(_ devices: [CallDevice]) async {}
    func close() async {}
}

private struct RoomFrames: CallFrames {
    let room: CallRoom
    let device: CallDevice
    let incoming: AsyncStream<ArrivedFrame>
    func send(_ frame: [UInt8]) { room.pass(frame, from: device) }
    func send(_ packet: [UInt8], to alias: MemberAlias) { room.pass(packet, to: alias, from: device) }
    func close() async {}
}
