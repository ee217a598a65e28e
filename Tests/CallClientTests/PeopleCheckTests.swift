// SPDX-License-Identifier: Apache-2.0

import CallKeys
import CallSignalling
import SignetClient
import Synchronization
import Testing
import TransparencyLog

@testable import CallClient
@testable import KeyTransparency

/// People are looked up again while a call lasts, and a revoked device is removed.
struct PeopleCheckTests {
    /// Once told to, answers that the directory no longer has the second person.
    private final class Directory: Sendable {
        let isRevoked = Mutex(false)
        let handle: Handle

        init(_ room: CallRoom) { handle = room.people[1].handle }

        var check: PeopleCheck {
            PeopleCheck(pause: 0) { [self] people in
                isRevoked.withLock { $0 } ? people.remaining(of: handle, after: .stranger) : people
            }
        }

        func revoke() { isRevoked.withLock { $0 = true } }
    }

    @Test(.timeLimit(.minutes(2))) func aRevokedDeviceIsRemovedAtTheNextRotation_andNotAdmittedAgain() async throws {
        let room = CallRoom()
        let directory = Directory(room)
        let devices = try (0..<3).map { try room.enter($0, knowing: 0..<3, check: directory.check) }
        try await room.begin(devices)
        directory.revoke()
        await devices[0].call.rotate()
        let reason = await devices[1].log.first { if case .outside(let reason) = $0 { reason } else { nil } }
        #expect(reason == .removed)
        #expect(await devices[0].call.members == [0, 2].map { devices[$0].identity.device })
        await devices[1].call.join()
        let knock = await devices[0].log.first { if case .stranger(let device) = $0 { device } else { nil } }
        #expect(knock == devices[1].identity.device)
        #expect(await devices[0].call.members.count == 2)
        #expect(await room.hears(devices[2], devices[0]))
        for device in devices { await device.call.leave() }
    }

    /// The host has not looked the person up, and the third device does not wait for it.
    @Test(.timeLimit(.minutes(2))) func aMemberStopsSendingToARevokedDevice_evenIfTheHostDoesNot() async throws {
        let room = CallRoom()
        let directory = Directory(room)
        let devices = [
            try room.enter(0, knowing: 0..<3), try room.enter(1, knowing: 0..<3),
            try room.enter(2, knowing: 0..<3, check: directory.check),
        ]
        try await room.begin(devices)
        directory.revoke()
        await devices[0].call.rotate()
        let gone = await devices[2].log.first { if case .revoked(let gone) = $0 { gone } else { nil } }
        #expect(gone == [devices[1].identity.device])
        await devices[2].call.send([1])
        let tally = await devices[2].call.tally
        #expect(tally.sent == 0 && tally.withheld == 1)
        for device in devices { await device.call.leave() }
    }

    // MARK: The devices that a later answer leaves

    private struct Owner {
        let handle: Handle
        let records: [DeviceRecord]
        let people: CallPeople
        let devices: [CallDevice]

        init() throws {
            handle = try Handle(typed: Array("p@example.org".utf8))
            let owner = handle
            records = try ([1, 2] as [UInt16]).map { try Self.record($0, of: owner) }
            let other = try Handle(typed: Array("q@example.org".utf8))
            let third = try Self.record(1, of: other)
            var all: [(handle: Handle, identityKey: [UInt8], record: DeviceRecord)] = records.map { (owner, [1], $0) }
            all.append((other, [1], third))
            people = CallPeople(all, own: nil)
            devices = try all.map { try #require(CallDevice($0.record.keys.signing)) }
        }

        static func record(_ number: UInt16, of handle: Handle) throws -> DeviceRecord {
            let secrets = try DeviceSecrets.generate(for: handle, withIdentity: true)
            return DeviceRecord(number: number, addedAt: 0, keys: secrets.keys)
        }

        /// The change from the accepted devices to those that the log holds now.
        func change(_ now: [DeviceRecord], identityKey: UInt8 = 1) throws -> PeerKeyChange {
            let pinned = PinnedPeer(
                uncheckedHandle: handle, identityKey: [1], version: 1, stateHash: [],
                devices: records.map(PinnedDevice.init),
                history: LabelHead(.empty), pinnedAt: 0)
            let body = AccountStateBody(first: handle, identityKey: [identityKey], devices: now)
            let state = AccountState(body, step: .ordinary, signature: [], encoded: [])
            return try #require(PeerKeyChange(state, pinned, nil, nil))
        }
    }

    @Test func aPersonWhoRevokedOneDeviceKeepsTheOther_andOthersAreUnchanged() throws {
        let owner = try Owner()
        let after = owner.people.remaining(of: owner.handle, after: .changed(try owner.change([owner.records[0]])))
        #expect(after.devices == [owner.devices[0], owner.devices[2]])
    }

    @Test func aNewDeviceIsNotAdded() throws {
        let owner = try Owner()
        let added = try Owner.record(3, of: owner.handle)
        let change = try owner.change(owner.records + [added])
        #expect(owner.people.remaining(of: owner.handle, after: .changed(change)).devices == Set(owner.devices))
    }

    @Test func aPersonWithAnotherIdentityKeyIsRemoved() throws {
        let owner = try Owner()
        let change = try owner.change(owner.records, identityKey: 2)
        #expect(owner.people.remaining(of: owner.handle, after: .changed(change)).devices == [owner.devices[2]])
        #expect(owner.people.remaining(of: owner.handle, after: .stranger).devices == [owner.devices[2]])
    }
}
