// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import Testing

struct SoundMixerTests {
    private static func piece(_ value: Int16) -> [Int16] { [Int16](repeating: value, count: SoundFormat.sampleCount) }

    @Test func piecesOfAllSpeakersAreAdded_andClippedAtTheLargestSample() {
        var mixer = SoundMixer<String>()
        for _ in 0..<3 {
            mixer.add(Self.piece(1000), of: "alice")
            mixer.add(Self.piece(-300), of: "bob")
        }
        #expect(mixer.next() == Self.piece(700))
        for _ in 0..<3 {
            mixer.add(Self.piece(.max), of: "carol")
            mixer.add(Self.piece(.max), of: "dave")
        }
        #expect(mixer.next() == Self.piece(.max))
    }

    @Test func playbackStartsAtThreeQueuedPieces_andPausesWhenTheQueueIsEmpty() {
        var mixer = SoundMixer<Int>()
        for value: Int16 in [1, 2] {
            mixer.add(Self.piece(value), of: 1)
            #expect(mixer.next() == Self.piece(0))
        }
        mixer.add(Self.piece(3), of: 1)
        for value: Int16 in [1, 2, 3, 0] { #expect(mixer.next() == Self.piece(value)) }
        mixer.add(Self.piece(4), of: 1)
        #expect(mixer.next() == Self.piece(0))
    }

    @Test func theOldestPiecesAreDroppedWhenASpeakerSendsTooFast() {
        var mixer = SoundMixer<Int>()
        for value: Int16 in 1...25 { mixer.add(Self.piece(value), of: 1) }
        #expect(mixer.next() == Self.piece(16))
    }
}
