// SPDX-License-Identifier: Apache-2.0

import AudioCodec
import Foundation

/// Where sound comes from, 20 ms at a time.
actor SoundSource {
    static let pause = Duration.milliseconds(20)

    private enum Origin {
        /// A hum of 440 Hz, which needs no codec.
        case hum
        case recording([Int16], SoundEncoder)
        case input(SoundInput, SoundEncoder)
    }

    private let origin: Origin
    private var place = 0

    /// - Throws: `CommandFailure`: the file cannot be read, or is not sound that a call takes.
    init(_ name: String) throws {
        switch name {
        case "tone": origin = .hum
        case "-": origin = .input(.standard, try Self.encoder())
        default: origin = .recording(try Self.recording(name), try Self.encoder())
        }
    }

    /// From a pipe; silence once it has ended.
    init(from input: SoundInput) throws { origin = .input(input, try Self.encoder()) }

    /// 20 ms of silence; nil if it cannot be encoded.
    func silence() -> SoundPiece? {
        switch origin {
        case .hum: .hum([UInt8](repeating: 0, count: SoundPiece.humByteCount))
        case .recording(_, let encoder), .input(_, let encoder): Self.encode([], encoder)
        }
    }

    private static func recording(_ name: String) throws -> [Int16] {
        let bytes = try InputFile.read(name, maximumByteCount: 64 << 20)
        do { return try WAVFile(decoding: bytes).samples } catch { throw CommandFailure(error, path: name) }
    }

    private static func encoder() throws -> SoundEncoder {
        do { return try SoundEncoder() } catch { throw CommandFailure(error) }
    }

    /// The next piece: from the beginning again when a file is over, and silence when standard input is. Nil if nothing has come yet.
    func next() -> SoundPiece? {
        defer { place += 1 }
        switch origin {
        case .hum: return .hum(Self.hum(place))
        case .recording(let samples, let encoder):
            let start = place * SoundFormat.sampleCount % samples.count
            let piece = Array(samples[start..<min(samples.count, start + SoundFormat.sampleCount)])
            return Self.encode(piece, encoder)
        case .input(let input, let encoder):
            return input.next().flatMap { Self.encode(SoundFormat.samples($0), encoder) }
        }
    }

    private static func encode(_ samples: [Int16], _ encoder: SoundEncoder) -> SoundPiece? {
        let missing = [Int16](repeating: 0, count: SoundFormat.sampleCount - samples.count)
        return (try? encoder.encode(samples + missing)).map { .opus($0) }
    }

    private static func hum(_ place: Int) -> [UInt8] {
        let count = SoundPiece.humByteCount / 2
        return SoundFormat.bytes(
            (0..<count).map { sample in
                Int16(sin(2 * Double.pi * 440 * Double(place * count + sample) / 8000) * 8000)
            })
    }
}
