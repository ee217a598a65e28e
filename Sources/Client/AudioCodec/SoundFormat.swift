// SPDX-License-Identifier: Apache-2.0

/// What sound is here: 48,000 samples a second of 16 bits, one channel, in pieces of 20 ms.
public enum SoundFormat {
    /// Samples a second.
    public static let rate = 48_000
    /// Samples of a piece.
    public static let sampleCount = 960
    /// Bytes of a piece, before it is encoded.
    public static let byteCount = 2 * sampleCount
    /// Bits a second of encoded sound: 80 bytes a piece.
    public static let bitRate: Int32 = 32_000
    /// The longest packet of one frame that RFC 6716 has, in bytes.
    public static let maximumPacketByteCount = 1275
    /// The longest sound of one packet, 120 ms, in samples.
    public static let maximumPacketSampleCount = 5760

    /// Samples from little-endian bytes; half a sample at the end is left out.
    public static func samples(_ bytes: some Sequence<UInt8>) -> [Int16] {
        var (samples, low): ([Int16], UInt8?) = ([], nil)
        for byte in bytes {
            if let first = low {
                samples.append(Int16(bitPattern: UInt16(byte) << 8 | UInt16(first)))
                low = nil
            } else {
                low = byte
            }
        }
        return samples
    }

    /// Samples as little-endian bytes.
    public static func bytes(_ samples: [Int16]) -> [UInt8] {
        samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
    }
}
