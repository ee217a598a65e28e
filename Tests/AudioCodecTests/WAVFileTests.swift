// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import SeededRandomness
import Testing

struct WAVFileTests {
    private static let samples: [Int16] = [1, -2, 300, .min, .max, 6]
    private static let file = WAVFile.header(sampleCount: 6) + SoundFormat.bytes(samples)

    private static func with(_ place: Int, _ bytes: UInt8...) -> [UInt8] {
        var file = file
        file.replaceSubrange(place..<place + bytes.count, with: bytes)
        return file
    }

    /// As the `wave` module of Python begins a file of six samples.
    @Test func theHeaderIsThatOfPythonsWaveModule() {
        let header: [UInt8] = [
            0x52, 0x49, 0x46, 0x46, 0x30, 0, 0, 0, 0x57, 0x41, 0x56, 0x45, 0x66, 0x6D, 0x74, 0x20, 16, 0, 0, 0, 1, 0, 1,
            0,
            0x80, 0xBB, 0, 0, 0, 0x77, 1, 0, 2, 0, 16, 0, 0x64, 0x61, 0x74, 0x61, 12, 0, 0, 0,
        ]
        #expect(WAVFile.header(sampleCount: 6) == header)
    }

    @Test func aWrittenFileReadsBack() throws {
        #expect(try WAVFile(decoding: Self.file).samples == Self.samples)
    }

    @Test func twoChannelsAreAveragedIntoOne() throws {
        var file = Self.with(22, 2)
        file[32] = 4
        #expect(try WAVFile(decoding: file).samples == [0, -16234, 16386])
    }

    @Test func otherChunksAreSkipped() throws {
        let list = Array("LIST".utf8) + [3, 0, 0, 0, 1, 2, 3, 0]
        #expect(try WAVFile(decoding: Array(Self.file[..<36]) + list + Self.file[36...]).samples == Self.samples)
    }

    @Test func anExtensibleFormatIsReadByItsSubformat() throws {
        let format = Self.file[20..<36].dropFirst(2)
        func file(_ kind: UInt8) -> [UInt8] {
            Array(Self.file[..<16]) + [40, 0, 0, 0, 0xFE, 0xFF] + format + [22, 0, 16, 0, 4, 0, 0, 0, kind, 0]
                + [UInt8](repeating: 0, count: 14) + Self.file[36...]
        }
        #expect(try WAVFile(decoding: file(1)).samples == Self.samples)
        #expect(throws: WAVError.wrongKind) { try WAVFile(decoding: file(3)) }
    }

    @Test func unsupportedAndMalformedFilesAreRefusedWithTheirReason() {
        let refused: [(WAVError, [UInt8])] = [
            (.malformed, []), (.malformed, Array("sound".utf8)), (.malformed, Self.with(0, 0x58)),
            (.malformed, Self.with(8, 0x58)), (.cutShort, Self.file.dropLast()), (.cutShort, Array(Self.file[..<36])),
            (.cutShort, Self.with(40, 0xFF, 0xFF, 0xFF, 0xFF)), (.empty, WAVFile.header(sampleCount: 0)),
            (.wrongKind, Self.with(20, 3)), (.wrongKind, Self.with(34, 24)), (.wrongChannelCount(0), Self.with(22, 0)),
            (.wrongChannelCount(6), Self.with(22, 6)), (.wrongRate(44_100), Self.with(24, 0x44, 0xAC)),
            (.malformed, Self.with(32, 4)), (.malformed, Self.with(40, 11)),
            (.malformed, Array(Self.file[..<12] + Self.file[36...])),
            (.malformed, Array(Self.file[..<36] + Self.file[12...])),
        ]
        for (error, bytes) in refused { #expect(throws: error) { try WAVFile(decoding: bytes) } }
    }

    @Test func aDamagedFileDecodesOrThrows() {
        var generator = SeededGenerator(seed: 3)
        var read = 0
        for _ in 0..<20_000 {
            guard let file = try? WAVFile(decoding: generator.mutant(of: Self.file)) else { continue }
            read += 1
            #expect((1...60).contains(file.samples.count))
        }
        #expect(read > 100)
    }
}
