// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// What a frame holds: a piece of sound, and its number, by which a listener sees what is missing.
///
/// Wire form: u32 number, then the sound.
public struct AudioFrame: Hashable, Sendable {
    /// One more than that of the frame before, of the same sender in the same call.
    public let number: UInt32
    /// The sound, in any encoding.
    public let sound: [UInt8]

    /// A frame.
    public init(number: UInt32, sound: [UInt8]) {
        self.number = number
        self.sound = sound
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(number)
        writer.write(sound)
        return writer.bytes
    }

    /// Reads the wire form; nil if it is cut short.
    public init?(decoding bytes: [UInt8]) {
        guard bytes.count >= 4 else { return nil }
        number = bytes[..<4].reduce(0) { $0 << 8 | UInt32($1) }
        sound = Array(bytes[4...])
    }
}
