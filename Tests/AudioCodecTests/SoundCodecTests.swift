// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import SeededRandomness
import Testing

@Suite(.enabled(if: needsCodec)) struct SoundCodecTests {
    private static func packets(_ pieces: [[Int16]]) throws -> [[UInt8]] {
        let encoder = try SoundEncoder()
        return try pieces.map { try encoder.encode($0) }
    }

    @Test(arguments: [440.0, 1000, 3000]) func aToneKeepsItsFrequencyAndLoudness(_ frequency: Double) throws {
        let decoder = try SoundDecoder()
        let pieces = Tone.pieces(frequency, count: 50)
        let heard = try Self.packets(pieces).flatMap { try decoder.decode($0) }
        #expect(heard.count == 50 * SoundFormat.sampleCount)
        // The codec needs some pieces to settle.
        let settled = Array(heard[(10 * SoundFormat.sampleCount)...])
        #expect(Tone.share(of: frequency, in: settled) > 0.8)
        #expect(Tone.share(of: frequency * 1.5, in: settled) < 0.01)
        let ratio = Tone.energy(settled) / Tone.energy(Array(pieces[10...].joined()))
        #expect((0.5...2).contains(ratio), "\(ratio)")
    }

    /// Silence, speech and noise cannot be told apart by their length.
    @Test func everyPacketHasTheSameLength() throws {
        var generator = SeededGenerator(seed: 7)
        let count = SoundFormat.sampleCount
        let noise = (0..<20).map { _ in (0..<count).map { _ in Int16.random(in: .min ... .max, using: &generator) } }
        let silence = [[Int16]](repeating: [Int16](repeating: 0, count: count), count: 20)
        let packets = try Self.packets(silence + Tone.pieces(440, count: 20) + noise + silence)
        #expect(Set(packets.map(\.count)) == [80])
    }

    @Test func encoder_refusesAPieceThatIsNot20MillisecondsLong() throws {
        let encoder = try SoundEncoder()
        for count in [0, 1, 480, 959, 961, 1920] {
            #expect(throws: SoundCodecError.wrongSampleCount(count)) {
                try encoder.encode([Int16](repeating: 0, count: count))
            }
        }
    }

    /// 0xF9 begins two frames of 20 ms and one length: libopus would take each of these.
    @Test func decoder_refusesAnEmptyPacketAndOneLongerThanOpusAllows() throws {
        let decoder = try SoundDecoder()
        _ = try decoder.decode([0xF9] + [UInt8](repeating: 0, count: 1274))
        #expect(throws: SoundCodecError.wrongByteCount(1277)) {
            try decoder.decode([0xF9] + [UInt8](repeating: 0, count: 1276))
        }
        #expect(throws: SoundCodecError.wrongByteCount(0)) { try decoder.decode([]) }
    }

    /// 0xFB 0x06 begins six frames of 20 ms, 0xFB 0x07 seven.
    @Test func decoder_refusesMoreThan120Milliseconds() throws {
        let decoder = try SoundDecoder()
        let samples = try decoder.decode([0xFB, 6] + [UInt8](repeating: 0, count: 60))
        #expect(samples.count == SoundFormat.maximumPacketSampleCount)
        #expect(throws: SoundCodecError.malformed) {
            try decoder.decode([0xFB, 7] + [UInt8](repeating: 0, count: 70))
        }
    }

    @Test func aDamagedPacketDecodesOrThrows() throws {
        var generator = SeededGenerator(seed: 1)
        let (decoder, packets) = (try SoundDecoder(), try Self.packets(Tone.pieces(440, count: 20)))
        var refused = 0
        for round in 0..<20_000 {
            let packet = round.isMultiple(of: 4) ? generator.bytes(Int(generator.next() % 200)) : packets[round % 20]
            do {
                let samples = try decoder.decode(generator.mutant(of: packet))
                #expect((1...SoundFormat.maximumPacketSampleCount).contains(samples.count))
            } catch { refused += 1 }
        }
        #expect(refused > 100)
        #expect(try decoder.decode(packets[0]).count == SoundFormat.sampleCount)
    }

    @Test func aPieceIsReadAsItWasWritten() {
        let pieces: [SoundPiece] = [
            .hum([UInt8](repeating: 3, count: 320)), .opus([9]), .opus([UInt8](repeating: 1, count: 1275)),
        ]
        for piece in pieces { #expect(SoundPiece(decoding: piece.encoded) == piece) }
        let others: [[UInt8]] = [
            [], [0], [1], [6, 6, 6], [0] + [UInt8](repeating: 0, count: 319), [0] + [UInt8](repeating: 0, count: 321),
            [1] + [UInt8](repeating: 0, count: 1276), [2] + [UInt8](repeating: 0, count: 320),
        ]
        for bytes in others { #expect(SoundPiece(decoding: bytes) == nil) }
    }
}
