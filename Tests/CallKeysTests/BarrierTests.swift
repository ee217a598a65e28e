// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import CallKeys

/// How long a new generation waits before it is used.
struct BarrierTests {
    /// With all packets the acks go beside the signals too.
    @Test func theHostWaitsForTheLastAck_andNoLonger() throws {
        let room = try Room(3, times: CallTimes())
        room.isLost = { draft, to in to == 1 && draft.body.isRotation }
        room.step(0, .suspect)
        room.wait(3000)
        #expect(room.people.map { $0.sending?.generation } == [1, 1, 1])
        room.packetsArrive = { _, _ in true }
        room.wait(200)
        #expect(room.people.map { $0.sending?.generation } == [2, 2, 2])
    }

    /// One is pending that waits for eight seconds, of which half a second is left, when a device comes back that had lost everything.
    @Test func whatReplacesARotationWithoutHasteWaitsForItsOwnTime() throws {
        let room = try Room(3, times: CallTimes())
        room.isLost = { draft, to in
            to == 0
                ? !draft.body.isJoin && !draft.body.isHeartbeat
                : to == 1 && (draft.body.isCommit || draft.body.isHeartbeat)
        }
        room.step(0, .suspect)
        room.wait(7500)
        room.people[2] = CallParticipant(
            callID: room.people[0].callID, device: room.people[2].device, generator: SystemRandomNumberGenerator())
        room.join(2)
        #expect(room.people[1].ring.newest == 3)
        room.wait(1500)
        #expect(room.people[0].sending?.generation == 1 && room.people[1].sending?.generation == 1)
        room.wait(600)
        #expect(room.people[0].sending?.generation == 3 && room.people[1].sending?.generation == 3)
    }
}
