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
public struct PinsRequest: Hashable, Sendable {
    /// The size of the log that the asker has verified.
    public let size: UInt64

    /// A question.
    public init(size: UInt64) { self.size = size }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(size)
        return writer.bytes
    }

    /// Reads the wire form, all of it.
    ///
    /// - Throws: ``PinsMessageError``.
    public init(decoding bytes: [UInt8]) throws(PinsMessageError) {
        size = try PinsMessageError.reading(bytes) { try $0.uint64() }
    }
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

/// The newest pins. Wire form: u8 1 and a ``LoggedPins``, or u8 2. A *block* is u32 length and bytes.
public enum PinsAnswer: Hashable, Sendable {
    /// These.
    case pins(LoggedPins)
    /// There are none for that epoch: make another lookup to get a newer epoch, and ask again.
    case anotherEpoch

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        switch self {
        case .pins(let pins):
            writer.write(UInt8(1))
            writer.write(UInt32(truncatingIfNeeded: pins.note.count))
            writer.write(pins.note)
            pins.place.write(to: &writer)
        case .anotherEpoch: writer.write(UInt8(2))
        }
        return writer.bytes
    }

    /// Reads the wire form, all of it. The note's signature is not checked.
    ///
    /// - Throws: ``PinsMessageError``.
    public init(decoding bytes: [UInt8]) throws(PinsMessageError) {
        self = try PinsMessageError.reading(bytes) { try Self(from: &$0) }
    }

    private init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1:
            let count = Int(try reader.uint32())
            guard count <= DirectoryPins.maximumByteCount else { throw PinsMessageError.invalidField }
            let note = Array(try reader.bytes(count))
            self = .pins(LoggedPins(note: note, place: try NewestRecordProof(from: &reader)))
        case 2: self = .anotherEpoch
        default: throw PinsMessageError.invalidField
        }
    }
}

/// Why bytes are neither a ``PinsRequest`` nor a ``PinsAnswer``. Nothing but other bytes helps.
public enum PinsMessageError: Error, Hashable, Sendable {
    /// Cut short, or bytes are left over.
    case malformed(CanonicalCodingError)
    /// A number, choice or length that the form does not have.
    case invalidField

    /// Reads all of the bytes.
    fileprivate static func reading<Value>(
        _ bytes: [UInt8], _ body: (inout ByteReader) throws -> Value
    ) throws(PinsMessageError) -> Value {
        var reader = ByteReader(bytes)
        do {
            let value = try body(&reader)
            try reader.end()
            return value
        } catch let error as CanonicalCodingError { throw .malformed(error) } catch { throw .invalidField }
    }
}
