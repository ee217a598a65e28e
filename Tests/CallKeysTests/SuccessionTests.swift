// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import Testing

@testable import CallKeys

/// Who takes over when the host is silent, and who does not.
struct SuccessionTests {
    private let host = 0
    private let successor = 1
    private let other = 2

    /// Only the successor's time goes by, and it hears those alone whom a test names.
    private func pass(_ room: Room, _ milliseconds: UInt64, hearing heard: [Int] = []) throws {
        let end = room.now + milliseconds
        while room.now < end {
            room.now += 100
            for sender in heard { room.step(successor, .frame(try room.people[sender].seal([1], .audio))) }
            room.step(successor, .tick)
        }
    }

    private func isHost(_ room: Room, _ number: Int) -> Bool {
        room.people[number].roster?.host == room.people[number].device
    }

    /// The host is silent, and the other is heard all the time.
    @Test func theFirstSuccessorTakesOverWhenOnlyTheHostIsSilent() throws {
        let room = try Room(3)
        try pass(room, 1000, hearing: [host, other])
        try pass(room, 5400, hearing: [other])
        #expect(!isHost(room, successor))
        try pass(room, 100, hearing: [other])
        #expect(isHost(room, successor))
    }

    /// The host's signals stop, and its frames go on: somebody else sends them, or its signals alone are cut off.
    @Test func framesOfTheHostStandForItsSignals_forFifteenSeconds() throws {
        let room = try Room(3)
        try pass(room, 20_000, hearing: [host, other])
        #expect(!isHost(room, successor))
        try pass(room, 1000, hearing: [host, other])
        #expect(isHost(room, successor))
    }

    @Test func framesOfAMemberKeepItInTheCall() throws {
        let room = try Room(3)
        room.isLost = { _, to in to == host }
        for _ in 0..<250 {
            room.wait(100, without: [successor, other])
            room.step(host, .frame(try room.people[other].seal([1], .audio)))
        }
        #expect(room.people[host].roster?.contains(room.people[other].device) == true)
        #expect(room.people[host].roster?.contains(room.people[successor].device) == false)
    }

    /// Its own connection breaks. The last frame of the other may come well after that of the host.
    @Test(arguments: stride(from: 0, through: 2900, by: 100).map(UInt64.init))
    func aDeviceThatIsCutOffDoesNotTakeOver(later: UInt64) throws {
        let room = try Room(3)
        try pass(room, 1000, hearing: [host, other])
        try pass(room, later, hearing: [other])
        try pass(room, 19_900 - later)
        #expect(!isHost(room, successor))
        try pass(room, 200)
        #expect(isHost(room, successor), "it takes the others for gone in the end")
    }

    /// When the connection is back, the frames of the other come first.
    @Test(arguments: stride(from: 5500, through: 13_500, by: 2000).map(UInt64.init))
    func aDeviceThatComesBackWaitsForTheHostBeforeItTakesOver(outage: UInt64) throws {
        for wait in stride(from: 0, through: 2900, by: 200).map(UInt64.init) {
            let room = try Room(3)
            try pass(room, 1000, hearing: [host, other])
            try pass(room, outage)
            try pass(room, wait, hearing: [other])
            room.step(host, .tick)  // it beats
            try pass(room, 500, hearing: [other, host])
            #expect(!isHost(room, successor), "\(wait) ms")
        }
    }

    @Test func aDeviceThatComesBackTakesOverWhenTheHostIsGone() throws {
        let room = try Room(3)
        try pass(room, 1000, hearing: [host, other])
        try pass(room, 8000)
        try pass(room, 3200, hearing: [other])
        #expect(isHost(room, successor))
    }

    /// The first successor's word takes a while.
    @Test func whenTheHostLeavesTheFirstSuccessorAloneTakesOver() throws {
        let room = try Room(5)
        room.isLost = { draft, _ in draft.body.isRotation }
        room.step(host, .leave)
        #expect(isHost(room, 1))
        room.wait(2400, without: [host, 1])
        #expect((2..<5).allSatisfy { !isHost(room, $0) })
        room.wait(200, without: [host, 1])
        #expect(isHost(room, 2) && !isHost(room, 3) && !isHost(room, 4), "the first is silent, so the second follows")
    }

    /// Frames that were on the way when the host left are no sign of its life.
    @Test func aLateFrameOfADepartedHostDelaysNoMember() throws {
        let room = try Room(3)
        let late = try room.people[host].seal([1], .audio)
        room.isLost = { draft, _ in !draft.body.isLeave }
        room.step(host, .leave)
        #expect(room.hand(late, to: other))
        let word = try #require(room.sent.first { $0.from == successor && $0.draft.body.isRotation })
        room.step(other, .signal(room.opened(word.draft, from: successor, for: other)))
        #expect(room.people[other].roster?.host == room.people[successor].device)
    }
}
