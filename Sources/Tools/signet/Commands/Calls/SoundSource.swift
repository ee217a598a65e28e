import Foundation

/// Where sound comes from, 20 ms at a time: 16-bit samples, 8,000 a second, one channel, as a microphone gives them.
struct SoundSource {
    static let byteCount = 320
    static let pause = Duration.milliseconds(20)

    /// What a file holds; nil for a hum.
    private let recording: [UInt8]?
    private var place = 0

    /// - Throws: `CommandFailure`: the file cannot be read, or is empty.
    init(_ name: String) throws {
        recording = name == "tone" ? nil : try InputFile.read(name, maximumByteCount: 64 << 20)
        guard recording?.isEmpty != true else {
            throw CommandFailure(.badFile, "\(JSONValue.printable(name)) is empty.", "Name a file with sound in it.")
        }
    }

    /// The next piece; from the beginning again when a file is over.
    mutating func next() -> [UInt8] {
        defer { place += 1 }
        guard let recording else { return Self.tone(place) }
        let start = place * Self.byteCount % recording.count
        return Array(recording[start..<min(recording.count, start + Self.byteCount)])
    }

    /// 440 Hz.
    private static func tone(_ place: Int) -> [UInt8] {
        (0..<byteCount / 2).flatMap { sample in
            let angle = 2 * Double.pi * 440 * Double(place * byteCount / 2 + sample) / 8000
            let value = UInt16(bitPattern: Int16(sin(angle) * 8000))
            return [UInt8(truncatingIfNeeded: value), UInt8(value >> 8)]
        }
    }
}
