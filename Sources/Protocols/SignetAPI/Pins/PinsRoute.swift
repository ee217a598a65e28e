// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import KeyTransparency

/// The directory's newest pins, as its log has them: body ``PinsRequest``, answer ``PinsAnswer``.
public enum PinsRoute: PartRoute {
    /// The one question.
    case pins

    /// The path, without a query.
    public var path: String { "/v1/pins" }
    /// Anyone, limited by address: whom it answers the server need not know.
    public var access: PartAccess { .open }
    /// As how many requests it counts for its address.
    public var cost: UInt64 { 1 }
    /// The longest body of a request, in bytes.
    public var maximumRequestByteCount: Int { 8 }
    /// The longest body of an honest answer, in bytes.
    public var maximumAnswerByteCount: Int { DirectoryPins.maximumByteCount + 32_768 }
}

/// Asks for the newest pins in an epoch. Wire form: u64 size of the log that the epoch ends.
public struct PinsRequest: NoteBody {
    /// The size of the log that the asker has verified.
    public let size: UInt64

    /// A question.
    public init(size: UInt64) { self.size = size }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) { writer.write(size) }

    /// Reads the wire form where it stands in a longer one.
    public init(from reader: inout ByteReader) throws { size = try reader.uint64() }
}

/// Pins and their place in the log. Wire form: block of the note, `NewestRecordProof`.
public struct LoggedPins: Hashable, Sendable {
    /// The signed note.
    public let note: [UInt8]
    /// That its text is the newest.
    public let place: NewestRecordProof

    /// Pins in their place.
    public init(note: [UInt8], place: NewestRecordProof) {
        self.note = note
        self.place = place
    }
}

/// The newest pins. Wire form: u8 1 and a ``LoggedPins``, or u8 2.
public enum PinsAnswer: NoteBody {
    /// These.
    case pins(LoggedPins)
    /// There are none for that epoch: look somebody up again, for a newer one, and ask again.
    case anotherEpoch

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        switch self {
        case .pins(let pins):
            writer.write(UInt8(1))
            writer.write(block: pins.note)
            pins.place.write(to: &writer)
        case .anotherEpoch: writer.write(UInt8(2))
        }
    }

    /// Reads the wire form where it stands in a longer one.
    public init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1:
            let count = Int(try reader.uint32())
            guard count <= DirectoryPins.maximumByteCount else { throw NoteBodyError.invalidField }
            let note = Array(try reader.bytes(count))
            self = .pins(LoggedPins(note: note, place: try NewestRecordProof(from: &reader)))
        case 2: self = .anotherEpoch
        default: throw NoteBodyError.invalidField
        }
    }
}
