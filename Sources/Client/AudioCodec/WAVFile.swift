// SPDX-License-Identifier: Apache-2.0

/// Why a file is not sound that a call takes.
public enum WAVError: Error, Hashable, Sendable {
    /// Not a WAV file, or its header contradicts itself.
    case malformed
    /// Less is there than its header says.
    case cutShort
    /// No sample is in it.
    case empty
    /// Samples of another kind than 16-bit PCM.
    case wrongKind
    /// This many samples a second, not 48,000.
    case wrongRate(UInt32)
    /// This many channels, not one or two.
    case wrongChannelCount(UInt16)
}

/// A WAV file of 16-bit PCM, 48,000 samples a second; two channels become one.
///
/// Spec: Multimedia Programming Interface and Data Specifications 1.0 (IBM and Microsoft, 1991), "Waveform Audio File Format".
public struct WAVFile: Hashable, Sendable {
    /// Bytes before the samples in a file that ``header(sampleCount:)`` begins.
    public static let headerByteCount = 44

    /// The sound.
    public let samples: [Int16]

    /// Reads a file.
    ///
    /// - Throws: ``WAVError``.
    public init(decoding bytes: [UInt8]) throws(WAVError) {
        guard bytes.count >= 12, bytes[..<4].elementsEqual("RIFF".utf8), bytes[8..<12].elementsEqual("WAVE".utf8) else {
            throw .malformed
        }
        var (rest, channels): (ArraySlice<UInt8>, Int?) = (bytes[12...], nil)
        while rest.count >= 8 {
            let (name, count) = (rest.prefix(4), Int(Self.number(rest.dropFirst(4).prefix(4))))
            let body = rest.dropFirst(8).prefix(count)
            guard body.count == count else { throw .cutShort }
            if name.elementsEqual("fmt ".utf8) {
                guard channels == nil else { throw .malformed }
                channels = try Self.channelCount(Array(body))
            } else if name.elementsEqual("data".utf8) {
                guard let channels else { throw .malformed }
                samples = try Self.samples(body, channels)
                return
            }
            // Chunks begin at even places.
            rest = rest.dropFirst(8 + count + count % 2)
        }
        throw .cutShort
    }

    private static func samples(_ body: ArraySlice<UInt8>, _ channels: Int) throws(WAVError) -> [Int16] {
        guard body.count % (2 * channels) == 0 else { throw .malformed }
        guard !body.isEmpty else { throw .empty }
        let samples = SoundFormat.samples(body)
        guard channels == 2 else { return samples }
        return stride(from: 0, to: samples.count, by: 2).map {
            Int16(clamping: (Int32(samples[$0]) + Int32(samples[$0 + 1])) / 2)
        }
    }

    /// - Throws: a kind of samples that a call does not take.
    private static func channelCount(_ format: [UInt8]) throws(WAVError) -> Int {
        guard format.count >= 16 else { throw .malformed }
        var kind = number(format[..<2])
        // The kind of an "extensible" format stands further behind.
        if kind == 0xFFFE, format.count >= 40 { kind = number(format[24..<26]) }
        guard kind == 1, number(format[14..<16]) == 16 else { throw .wrongKind }
        let (channels, rate) = (number(format[2..<4]), number(format[4..<8]))
        guard (1...2).contains(channels) else { throw .wrongChannelCount(UInt16(channels)) }
        guard rate == SoundFormat.rate else { throw .wrongRate(rate) }
        guard number(format[12..<14]) == 2 * channels else { throw .malformed }
        return Int(channels)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// What stands before so many samples of one channel.
    public static func header(sampleCount: Int) -> [UInt8] {
        func little(_ number: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
        }
        let (rate, byteCount) = (SoundFormat.rate, 2 * sampleCount)
        let format = [(1, 2), (1, 2), (rate, 4), (2 * rate, 4), (2, 2), (16, 2)].flatMap(little)
        return Array("RIFF".utf8) + little(36 + byteCount, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + format
            + Array("data".utf8) + little(byteCount, 4)
    }
}
