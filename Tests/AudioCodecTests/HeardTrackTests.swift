// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import Testing

@Suite(.enabled(if: needsCodec)) struct HeardTrackTests {
    private static func tone(_ count: Int) throws -> [SoundPiece] {
        let encoder = try SoundEncoder()
        return try Tone.pieces(440, count: count).map { .opus(try encoder.encode($0)) }
    }

    /// The places that the track gives to pieces whose numbers arrive in this order.
    private static func places(_ numbers: [UInt32]) throws -> [Int] {
        let (track, tone) = (try HeardTrack(), try tone(1))
        return numbers.flatMap { track.take($0, tone[0]) }.map(\.place) + track.finish().map(\.place)
    }

    @Test func aPieceThatArrivesEarlyWaitsForTheOnesBeforeIt() throws {
        let (track, tone) = (try HeardTrack(), try Self.tone(1))
        let heard = [10, 11, 13, 12, 14, 16, 17, 15].map { track.take($0, tone[0]).map(\.place) }
        #expect(heard == [[0], [1], [], [2, 3], [4], [], [], [5, 6, 7]])
    }

    @Test func aPieceThatComesTooLateOrTwiceIsNotHeard() throws {
        #expect(try Self.places([10, 12, 13, 14, 15, 16, 11, 12, 17]) == Array(0...7))
    }

    @Test func aLostPieceIsConcealed() throws {
        let (track, tone) = (try HeardTrack(), try Self.tone(30))
        let heard = tone.indices.filter { $0 != 20 }.flatMap { track.take(UInt32($0), tone[$0]) } + track.finish()
        #expect(heard.map(\.place) == Array(0..<30))
        #expect(heard.allSatisfy { $0.samples.count == SoundFormat.sampleCount })
        let ratio = Tone.energy(heard[20].samples) / Tone.energy(heard[19].samples)
        #expect(ratio > 0.2, "\(ratio)")
        #expect(Tone.share(of: 440, in: heard[20].samples) > 0.5)
    }

    /// The first pieces of a long gap are concealed, and silence fills the rest.
    @Test func aLongGapKeepsItsLength() throws {
        let places = try Self.places([0, 1, 10_000] + (10_001...10_005))
        #expect(places == Array(0...6) + (10_000...10_005))
    }

    /// A program that restarts numbers its pieces from zero again.
    @Test func aSenderThatCountsFromZeroAgainIsHeard() throws {
        #expect(try Self.places([1000, 1001, 0, 1, 2]) == Array(0...4))
        #expect(try Self.places([1000, 1001, 700]) == [0, 1])
    }

    @Test func theHighestNumberDoesNotTrap() throws {
        #expect(try Self.places([.max - 1, .max, .max, 0, 1]) == Array(0...4))
    }

    /// Three frames of 20 ms in one packet, and bytes that are no packet: either would shift this track against others.
    @Test func aPacketThatIsNot20MillisecondsLongIsConcealed() throws {
        let (track, tone) = (try HeardTrack(), try Self.tone(1))
        let sounds: [SoundPiece] = [
            tone[0], .opus([0xFB, 3] + [UInt8](repeating: 0, count: 30)), .opus([0xFF, 0xFF]),
        ]
        for (number, sound) in sounds.enumerated() {
            let heard = track.take(UInt32(number), sound)
            #expect(heard.map(\.place) == [number] && heard[0].samples.count == SoundFormat.sampleCount)
        }
    }

    @Test func aHumIsResampled() throws {
        let hum = SoundPiece.hum(SoundFormat.bytes((0..<160).map { Int16($0) }))
        let heard = try HeardTrack().take(0, hum)
        #expect(heard.map(\.samples) == [(0..<960).map { Int16($0 / 6) }])
    }
}
