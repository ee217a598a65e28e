// SPDX-License-Identifier: Apache-2.0

/// What a frame of a call carries: 20 ms of sound.
///
/// Wire form: u8 kind, then 0: the hum, ``humByteCount`` bytes; 1: a packet of Opus, at most
/// ``SoundFormat/maximumPacketByteCount`` bytes.
public enum SoundPiece: Hashable, Sendable {
    /// The hum of tests and demonstrations, which needs no codec: 16-bit samples, little-endian, 8,000 a second.
    case hum([UInt8])
    /// A packet of Opus.
    case opus([UInt8])

    /// Bytes of a piece of the hum.
    public static let humByteCount = 320

    /// The wire form.
    public var encoded: [UInt8] {
        switch self {
        case .hum(let bytes): [0] + bytes
        case .opus(let packet): [1] + packet
        }
    }

    /// Reads the wire form; nil if it is of another kind, or too short or too long.
    public init?(decoding bytes: [UInt8]) {
        let rest = Array(bytes.dropFirst())
        switch bytes.first {
        case 0 where rest.count == Self.humByteCount: self = .hum(rest)
        case 1 where (1...SoundFormat.maximumPacketByteCount).contains(rest.count): self = .opus(rest)
        default: return nil
        }
    }
}
