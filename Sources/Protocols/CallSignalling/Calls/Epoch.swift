// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Under which key a member sends.
///
/// A generation is fresh randomness of the host's and is never used twice in a call; a step is a one-way turn of it that every
/// member makes without a message; the term is the tenure of the host that made the generation.
///
/// Wire form: u32 term, u32 generation, u8 step.
public struct Epoch: Hashable, Sendable, Comparable {
    /// The last step of a generation: a frame has four bits for it.
    public static let lastStep: UInt8 = 15

    /// The last generation: far from where the number after it would be none.
    public static let lastGeneration: UInt32 = 0x7FFF_FFFF

    /// Whose tenure.
    public let term: UInt32
    /// Which secret of the host's, 1 to ``lastGeneration``.
    public let generation: UInt32
    /// How often it was turned, 0 to ``lastStep``.
    public let step: UInt8

    /// An epoch.
    public init(term: UInt32, generation: UInt32, step: UInt8) {
        self.term = term
        self.generation = generation
        self.step = step
    }

    /// By generation, then step. Terms need no place: a later one begins at a later generation.
    public static func < (left: Epoch, right: Epoch) -> Bool {
        (left.generation, left.step) < (right.generation, right.step)
    }

    init(from reader: inout ByteReader) throws(SignalDecodingError) {
        do throws(CanonicalCodingError) {
            term = try reader.uint32()
            generation = try reader.uint32()
            step = try reader.uint8()
        } catch { throw .malformed(error) }
        guard term > 0, (1...Self.lastGeneration).contains(generation), step <= Self.lastStep else {
            throw .invalidEpoch
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.write(term)
        writer.write(generation)
        writer.write(step)
    }
}
