// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import STOMP
import SignalBroker
import Testing

/// Heart-beats, and the other times of a connection.
@Suite struct HeartBeatTests {
    @Test func aBeatIsSentBeforeTheTimeThatTheClientAskedFor() throws {
        var scene = try Scene()
        let session = try scene.connect(scene.alice, heartBeat: HeartBeat(canSend: 0, wants: 3000))
        scene.wait(1900)
        #expect(scene.bytes[session] == [])
        scene.wait(250)
        #expect(scene.bytes[session] == [UInt8(ascii: "\n")])
        scene.wait(1900)
        #expect(scene.bytes[session] == [UInt8(ascii: "\n")])
    }

    @Test func noBeatIsSentToAClientThatAskedForNone() throws {
        var scene = try Scene()
        let session = try scene.connect(scene.alice, heartBeat: HeartBeat(canSend: 1000, wants: 0))
        scene.wait(1900)
        #expect(scene.bytes[session] == [])
    }

    @Test func aClientSilentForTwiceItsPromisedTimeIsEnded() throws {
        var scene = try Scene()
        let session = try scene.connect(scene.alice, heartBeat: HeartBeat(canSend: 3000, wants: 0))
        scene.wait(6000)
        #expect(scene.fault(session) == nil)
        scene.wait(1)
        #expect(scene.fault(session) == .silent)
    }

    /// Twice 2^63 is zero in 64 bits: such a promise used to end the connection at once.
    @Test func aLongerPromiseCountsAsTenMinutes() throws {
        for promise in [HeartBeat.longest + 1, 1 << 63, .max] as [UInt64] {
            var scene = try Scene()
            let session = try scene.connect(scene.alice, heartBeat: HeartBeat(canSend: promise, wants: 0))
            scene.wait(2 * HeartBeat.longest)
            #expect(scene.fault(session) == nil)
            scene.wait(1)
            #expect(scene.fault(session) == .silent)
        }
    }

    @Test func aBeatOfTheClientKeepsTheConnection() throws {
        var scene = try Scene()
        let session = try scene.connect(scene.alice, heartBeat: HeartBeat(canSend: 3000, wants: 0))
        scene.wait(5000)
        scene.receive([UInt8(ascii: "\n")], on: session)
        scene.wait(5000)
        #expect(scene.fault(session) == nil)
    }

    @Test func aClientThatPromisedNoBeatMayBeSilent() throws {
        var scene = try Scene()
        let session = try scene.connect(scene.alice)
        scene.wait(scene.broker.limits.sessionTime - 1)
        #expect(scene.fault(session) == nil)
    }

    @Test func aConnectionWithoutACONNECTFrameIsEnded() throws {
        var scene = try Scene()
        let session = scene.open(scene.alice)
        scene.wait(scene.broker.limits.connectTime - 1)
        #expect(scene.fault(session) == nil)
        scene.wait(1)
        #expect(scene.fault(session) == .notConnected)
    }

    @Test func aConnectionEndsAtTheMaximumAge() throws {
        var scene = try Scene()
        let session = try scene.connect(scene.alice)
        scene.wait(scene.broker.limits.sessionTime)
        #expect(scene.fault(session) == .tooOld)
    }
}
