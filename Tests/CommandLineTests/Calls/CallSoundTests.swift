// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import Foundation
import Testing

@testable import SignetCommand

/// Sound from one member's file into another's, through the codec, the call and its keys.
struct CallSoundTests {
    private static let rate = Double(SoundFormat.rate)

    private static func tone(_ frequency: Double, seconds: Int) -> [Int16] {
        (0..<seconds * SoundFormat.rate).map { Int16(sin(2 * Double.pi * frequency * Double($0) / rate) * 10_000) }
    }

    /// How much of the energy is at a frequency: 1 for a sine.
    private static func share(of frequency: Double, in samples: ArraySlice<Int16>) -> Double {
        var (real, imaginary, energy) = (0.0, 0.0, 0.0)
        for (place, sample) in samples.enumerated() {
            let (angle, value) = (2 * Double.pi * frequency * Double(place) / rate, Double(sample))
            (real, imaginary, energy) = (
                real + value * cos(angle), imaginary + value * sin(angle), energy + value * value
            )
        }
        return energy > 0 ? 2 * (real * real + imaginary * imaginary) / (Double(samples.count) * energy) : 0
    }

    /// 200 ms in the middle, when all codecs have settled.
    private static func middle(of samples: [Int16]) throws -> ArraySlice<Int16> {
        let start = samples.count / 2
        try #require(samples.count > 2 * SoundFormat.rate, "\(samples.count)")
        return samples[start..<start + SoundFormat.rate / 5]
    }

    @Test(.timeLimit(.minutes(3))) func aToneFromAFileIsInTheOtherMembersRecording() async throws {
        try await Town.withServer { town, _ in
            let tone = Self.tone(1000, seconds: 2)
            try town.write(WAVFile.header(sampleCount: tone.count) + SoundFormat.bytes(tone), to: "tone.wav")
            let alice = try await CallProcess.start(
                town, "alice", with: ["bob"], "--source", "tone.wav", "--record", "alice.heard")
            let name = try #require(try await alice.first { $0["call"] as? String })
            let bob = try await CallProcess.join(name, town, "bob", with: ["alice"], "--record", "bob.heard")
            defer { for call in [alice, bob] { call.kill() } }
            for call in [alice, bob] { try await call.hears(["alice", "bob"], generations: 3) }
            for call in [bob, alice] { #expect(try await call.leave()["undecryptable"] as? Int == 0) }
            let recording = try town.bytes("bob.heard/alice@example.org-1.wav")
            let heard = try WAVFile(decoding: recording).samples
            // The header counts all samples of the file.
            #expect(recording.count == WAVFile.headerByteCount + 2 * heard.count)
            #expect(Self.share(of: 1000, in: try Self.middle(of: heard)) > 0.9)
            // Bob hums, without a codec.
            let hum = try WAVFile(decoding: try town.bytes("alice.heard/bob@example.org-1.wav")).samples
            #expect(Self.share(of: 440, in: try Self.middle(of: hum)) > 0.9)
        }
    }

    /// As with `arecord | signet call … --source -` and `signet call … --play - | aplay`.
    @Test(.timeLimit(.minutes(3))) func soundIsReadFromAndWrittenToPipes() async throws {
        try await Town.withServer { town, _ in
            try town.write(SoundFormat.bytes(Self.tone(1000, seconds: 180)), to: "tone.raw")
            let alice = try await CallProcess.start(
                town, "alice", with: ["bob"], "--source", "-", typing: town["tone.raw"])
            let name = try #require(try await alice.first { $0["call"] as? String })
            defer { alice.kill() }
            let options = ["--for", "120", "--json", "--home", "bob"]
            async let exit = Exit.of(
                URL(filePath: "/bin/sh"),
                [
                    "-c", "\"$@\" > played.raw", "sh", Program.signet.file.path(), "call", "join", name, "--with",
                    "alice@example.org", "--play", "-",
                ] + options, in: town.folder)
            // A busy machine may leave gaps: he listens until there are 200 ms without one.
            let soundsWhole = { (samples: [Int16]) in
                stride(from: 0, to: samples.count - SoundFormat.rate / 5, by: SoundFormat.rate / 5).contains {
                    Self.share(of: 1000, in: samples[$0..<$0 + SoundFormat.rate / 5]) > 0.9
                }
            }
            _ = try await alice.first { _ -> Bool? in
                guard let bytes = try? town.bytes("played.raw") else { return nil }
                return soundsWhole(SoundFormat.samples(bytes)) ? true : nil
            }
            try await expect(0, town.signet("bob", "call", "leave"))
            let played = try await exit
            expect(0, played)
            // The program's messages are on standard error, beside the sound.
            #expect(played.errors.contains("\"isOver\":true"), "\(played.errors)")
            #expect(soundsWhole(SoundFormat.samples(try town.bytes("played.raw"))))
        }
    }

    @Test func aFileThatIsNoSoundIsRefusedBeforeTheCall() async throws {
        try await Town.with { town in
            let header = WAVFile.header(sampleCount: 4)
            var slow = header + [UInt8](repeating: 0, count: 8)
            slow.replaceSubrange(24..<26, with: [0x44, 0xAC])
            for (bytes, sentence) in [
                (Array("no sound".utf8), "not a WAV file"), (header, "ends before"), (slow, "44100 samples per second"),
            ] {
                try town.write(bytes, to: "bad.wav")
                let exit = try await town.signet(
                    "alice", "call", "start", "--with", "bob@example.org", "--source", "bad.wav", "--record", "heard")
                expect(65, exit)
                #expect(exit.errors.contains(sentence) && exit.errors.contains("sox"), "\(exit.errors)")
                #expect(!town.exists("heard"))
            }
        }
    }

    /// A microphone is already running while people are looked up.
    @Test(.timeLimit(.minutes(1))) func soundThatAPipeHeldBeforeTheCallIsSkipped() async throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data(repeating: 1, count: 20_001))
        let input = SoundInput(pipe.fileHandleForReading)
        #expect(input.next() == nil)
        // The other half of the last sample comes after it.
        try pipe.fileHandleForWriting.write(
            contentsOf: Data([1]) + Data(repeating: 2, count: SoundFormat.byteCount - 2))
        try pipe.fileHandleForWriting.close()
        var piece: [UInt8]?
        while piece == nil {
            piece = input.next()
            await Task.yield()
        }
        #expect(piece == [1, 1] + [UInt8](repeating: 2, count: SoundFormat.byteCount - 2))
        withExtendedLifetime(pipe) {}
    }

    @Test func badUsesOfStandardInputAndOutputAreRefused() async throws {
        try await Town.with { town in
            expect(64, try await town.signet("alice", "call", "wait", "--source", "-"))
            expect(64, try await town.signet("alice", "call", "start", "--with", "bob@example.org", "--play", "x.wav"))
        }
    }
}
