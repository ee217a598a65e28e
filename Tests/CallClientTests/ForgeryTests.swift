// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Synchronization
import Testing

@testable import CallClient

/// A member sends frames in the name of another, with real signatures and boxes.
@Suite(.timeLimit(.minutes(5))) struct ForgeryTests {
    private struct Named: Equatable {
        let sender: CallDevice
        let holders: [CallDevice]?
    }

    /// Three in a call, of whom the third forges what the second hears of the first.
    private func forging(_ room: CallRoom) async throws -> [RoomDevice] {
        let devices = try (0..<3).map { try room.enter($0, knowing: 0..<3) }
        try await room.begin(devices)
        #expect(await room.hears(devices[1], devices[0]))
        #expect(await room.hears(devices[1], devices[2]))
        return devices
    }

    /// Forges until it is noticed: on a busy machine a frame may wait for too long and be lost, as on any bad network.
    private func repeating<Found>(
        _ forge: @escaping @Sendable (UInt64) async -> Void, until notice: () async -> Found?
    ) async -> Found? {
        let forging = Task {
            var number: UInt64 = 0
            while !Task.isCancelled {
                await forge(number)
                number += 1
                try? await Task.sleep(for: .seconds(1))
            }
        }
        defer { forging.cancel() }
        return await notice()
    }

    @Test(.timeLimit(.minutes(10))) func theHoldersOfTheForgedKeyAreNamed_ifTheRelayHelps() async throws {
        let room = CallRoom()
        let devices = try await forging(room)
        let victim = devices[0].identity.device
        room.connives.withLock { $0 = true }
        let named = await repeating {
            #expect(await devices[2].call.forge([6, 6, 6], as: victim, number: 500 + $0))
        } until: {
            await devices[1].log.first {
                if case .denied(1, let sender, let holders) = $0 {
                    Named(sender: sender, holders: holders)
                } else {
                    nil
                }
            }
        }
        #expect(named == Named(sender: victim, holders: [devices[2].identity.device]))
        #expect(await devices[1].log.sound(of: victim) { $0 == [6, 6, 6] } != nil)
        let tallies = [await devices[1].call.tally, await devices[2].call.tally]
        #expect(tallies[0].members[victim]?.denied ?? 0 >= 1 && tallies[1].members[victim]?.denied ?? 0 == 0)
        for device in devices { await device.call.leave() }
    }

    /// A forged frame whose number is ahead, but not too far to be accepted, makes the victim's frames look replayed.
    @Test(.timeLimit(.minutes(10))) func aMemberWhoseFramesAreMadeToLookReplayedIsNamed() async throws {
        let room = CallRoom()
        let devices = try await forging(room)
        let victim = devices[0].identity.device
        room.connives.withLock { $0 = true }
        let count = await repeating {
            #expect(await devices[2].call.forge([6, 6, 6], as: victim, number: 60_000 + $0))
            for _ in 0..<70 { await devices[0].call.send([4]) }
        } until: {
            await devices[1].log.first {
                if case .replayed(let count, victim) = $0 { count } else { nil }
            }
        }
        #expect(count == 50)
        for device in devices { await device.call.leave() }
    }

    @Test func aCountIsReportedFromFiftyOn_andEveryTenSeconds() throws {
        var count = PacedCount()
        let (one, other) = (
            try #require(CallDevice([UInt8](repeating: 1, count: 32))),
            try #require(CallDevice([UInt8](repeating: 2, count: 32)))
        )
        #expect(count.due(49, of: one, at: 1000) == nil && count.due(51, of: one, at: 1000) == 51)
        #expect(count.due(50, of: other, at: 1000) == 50)
        #expect(count.due(1051, of: one, at: 10_999) == nil && count.due(1051, of: one, at: 11_000) == 1000)
        #expect(count.due(1100, of: one, at: 60_000) == nil && count.due(1101, of: one, at: 60_000) == 50)
    }

    /// Without the relay's help, the forged frame is not delivered.
    @Test(.timeLimit(.minutes(10))) func anHonestRelayForwardsNoFrameInAnothersName() async throws {
        let room = CallRoom()
        let devices = try await forging(room)
        let victim = devices[0].identity.device
        #expect(await devices[2].call.forge([6, 6, 6], as: victim, number: 500))
        await devices[0].call.send([4])
        let sound = await devices[1].log.sound(of: victim) { $0 != [1, 2, 3] }
        #expect(sound == [4])
        for device in devices { await device.call.leave() }
    }
}
