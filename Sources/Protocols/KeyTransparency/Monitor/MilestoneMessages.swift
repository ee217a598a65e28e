// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import VerifiableMap

/// What an owner asks: what the index said of a handle at the milestones since the last one that was checked.
///
/// Wire form, integers big-endian: `signet-milestones-request/v1` LF; u64 size of the verified log; u64 index of the
/// last epoch that was checked; the handle to the end.
public struct MilestonesRequest: Hashable, Sendable {
    /// Whose account.
    public let handle: Handle
    /// The size of the log to whose root the paths are to lead.
    public let size: UInt64
    /// Only milestones after this log index.
    public let after: UInt64

    private static let format = Array("signet-milestones-request/v1\n".utf8)

    /// A request.
    public init(handle: Handle, size: UInt64, after: UInt64) {
        self.handle = handle
        self.size = size
        self.after = after
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(size)
        writer.write(after)
        writer.write(handle.bytes)
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``LookupMessageError``.
    public init(decoding bytes: [UInt8]) throws(LookupMessageError) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw LookupMessageError.unknownFormat
            }
            size = try reader.uint64()
            after = try reader.uint64()
            handle = try Handle(canonical: Array(reader.rest()))
        } catch { throw LookupMessageError(error) }
    }
}

/// What the index said of a label at one milestone.
public struct MilestoneAnswer: Hashable, Sendable {
    /// The milestone.
    public let epoch: PlacedEpoch
    /// The epoch right before it: of an earlier day, or the milestone would be none. nil for the log's first epoch.
    public let before: PlacedEpoch?
    /// How many entries the label had, and its path in the index; nil if the index did not have it.
    public let present: Presence?
    /// The proof that the index did not have it; used when `present` is nil.
    public let absence: MapProof

    /// A label in the index.
    public struct Presence: Hashable, Sendable {
        /// How many entries its history had.
        public let count: UInt64
        /// Its path to the index root.
        public let path: MapPath

        /// A presence.
        public init(count: UInt64, path: MapPath) {
            self.count = count
            self.path = path
        }
    }

    /// An answer of these parts.
    public init(
        epoch: PlacedEpoch, before: PlacedEpoch?, present: Presence?, absence: MapProof = .absentFromEmptyTrie
    ) {
        self.epoch = epoch
        self.before = before
        self.present = present
        self.absence = absence
    }
}

/// The answers for several milestones, the newest first.
///
/// Wire form, integers big-endian. An epoch in its place is u64 log index; the record's number, time, start, label count
/// and milestone (5 × u64) and 32-byte root; its path. `signet-milestones/v2` LF; u8 whether the log's last record has one
/// before it, and that epoch; u8 how many milestones; each: the epoch; u8 whether there is one before it, and that epoch;
/// u8 whether the index has the label; if so, u64 count and the label's path in the index; if not, the proof of absence as
/// in ``LookupResponse``.
public struct MilestonesResponse: Hashable, Sendable {
    /// No answer has more milestones: directories keep as many days.
    public static let maximumCount = 90
    /// No answer is longer, in bytes.
    public static let maximumByteCount = 1 << 20

    /// The epoch right before the one that the log ends in; nil if that is the first.
    public let before: PlacedEpoch?
    /// The answers, the newest milestone first.
    public let answers: [MilestoneAnswer]

    private static let format = Array("signet-milestones/v2\n".utf8)

    /// An answer of these parts.
    public init(before: PlacedEpoch?, answers: [MilestoneAnswer]) {
        self.before = before
        self.answers = answers
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(before)
        writer.write(UInt8(truncatingIfNeeded: answers.count))
        for answer in answers {
            writer.write(answer.epoch)
            writer.write(answer.before)
            writer.write(UInt8(answer.present == nil ? 0 : 1))
            if let present = answer.present {
                writer.write(present.count)
                writer.write(present.path)
            } else {
                writer.write(absence: answer.absence)
            }
        }
        return writer.bytes
    }

    /// Reads the wire form: lengths and form only.
    ///
    /// - Throws: ``LookupMessageError``: the server sent something malformed.
    public init(decoding bytes: [UInt8]) throws(LookupMessageError) {
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong(bytes.count) }
        do {
            var reader = ByteReader(bytes)
            guard try reader.bytes(Self.format.count).elementsEqual(Self.format) else {
                throw LookupMessageError.unknownFormat
            }
            before = try reader.placedEpochOrNone()
            let count = Int(try reader.uint8())
            guard count <= Self.maximumCount else { throw LookupMessageError.tooManyEntries(count) }
            var answers: [MilestoneAnswer] = []
            for _ in 0..<count { answers.append(try reader.milestone()) }
            try reader.end()
            self.answers = answers
        } catch { throw LookupMessageError(error) }
    }
}

extension ByteReader {
    fileprivate mutating func milestone() throws -> MilestoneAnswer {
        let (epoch, before) = (try placedEpoch(), try placedEpochOrNone())
        switch try uint8() {
        case 0: return MilestoneAnswer(epoch: epoch, before: before, present: nil, absence: try absence())
        case 1:
            let count = try uint64()
            return MilestoneAnswer(epoch: epoch, before: before, present: .init(count: count, path: try mapPath()))
        case let byte: throw LookupMessageError.unknownAnswer(byte)
        }
    }
}
