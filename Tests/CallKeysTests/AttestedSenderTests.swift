// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import CallKeys

/// Frames of which the relay says who sent them.
struct AttestedSenderTests {
    private func alias(_ number: Int, in room: Room) -> MemberAlias {
        MemberAlias(of: room.people[number].device, in: room.people[number].callID)
    }

    /// A member has every secret it takes to seal a frame in the name of another.
    @Test func aMembersFrameInTheNameOfAnotherIsNotOpened_andMovesNothing() throws {
        let room = try Room(3)
        var forger = room.people[0]
        let forged = try forger.seal([6, 6, 6], .audio)
        room.step(1, .relayedFrame(forged, of: alias(2, in: room)))
        #expect(room.dropped(1) == [.anotherSender] && room.played(1) == 0)
        // The same bytes from their owner are opened: the window of numbers has not moved.
        room.step(1, .relayedFrame(forged, of: alias(0, in: room)))
        #expect(room.played(1) == 1)
    }

    @Test func aFrameThatWaitsForItsKeyKeepsWhoBroughtIt() throws {
        let room = try Room(3)
        room.isLost = { draft, to in to == 1 && !draft.body.isRequest }
        room.step(0, .suspect)
        room.wait(2100, without: [1])
        let early = try room.people[0].seal([1], .audio)
        room.step(1, .relayedFrame(early, of: alias(2, in: room)))
        #expect(room.dropped(1).isEmpty)
        room.isLost = { _, _ in false }
        room.wait(900)
        #expect(room.dropped(1) == [.anotherSender] && room.played(1) == 0)
    }

    @Test func anAliasIsOfOneCall() throws {
        let device = try Room.device(1)
        let one = try #require(CallID([UInt8](repeating: 1, count: 16)))
        let other = try #require(CallID([UInt8](repeating: 2, count: 16)))
        #expect(MemberAlias(of: device, in: one) != MemberAlias(of: device, in: other))
        // printf 'signet-call-alias/v1' and the bytes, through sha256sum.
        #expect(MemberAlias(of: device, in: one).bytes == [0xF4, 0x9D, 0xE6, 0xB8, 0x8D, 0x0B, 0x95, 0xE6])
    }
}
