// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import KeyTransparency
public import NoteLog

/// A request or an answer of a ``NoteRoute``, in its one binary form. Integers are big-endian; a *block* is u32 length and
/// bytes, an *option* u8 0, or u8 1 and what is there.
public protocol NoteBody: Hashable, Sendable {
    /// Appends the wire form.
    func write(to writer: inout ByteWriter)
    /// Reads the wire form from within a longer one.
    init(from reader: inout ByteReader) throws
}

extension NoteBody {
    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        write(to: &writer)
        return writer.bytes
    }

    /// Reads the wire form, all of it. The signatures of records in it are checked.
    ///
    /// - Throws: ``NoteBodyError``.
    public init(decoding bytes: [UInt8]) throws(NoteBodyError) {
        var reader = ByteReader(bytes)
        do {
            try self.init(from: &reader)
            try reader.end()
        } catch { throw NoteBodyError(error) }
    }
}

/// Why bytes are not the body of a notes route. Nothing but other bytes helps.
public enum NoteBodyError: Error, Hashable, Sendable {
    /// Cut short, or bytes are left over.
    case malformed(CanonicalCodingError)
    /// A record in it is not acceptable by itself.
    case record(NoteRecordError)
    /// A handle in it is none.
    case invalidHandle(HandleError)
    /// A number, choice, length or order that the form does not have.
    case invalidField

    init(_ error: any Error) {
        self =
            switch error {
            case let error as NoteBodyError: error
            case let error as CanonicalCodingError: .malformed(error)
            case let error as NoteRecordError: .record(error)
            case let error as HandleError: .invalidHandle(error)
            default: .invalidField
            }
    }
}

extension ByteWriter {
    mutating func write(block bytes: [UInt8]) {
        write(UInt32(truncatingIfNeeded: bytes.count))
        write(bytes)
    }

    mutating func write(option bytes: [UInt8]?) {
        write(UInt8(bytes == nil ? 0 : 1))
        if let bytes { write(block: bytes) }
    }

    mutating func write(_ handle: Handle) {
        write(UInt8(truncatingIfNeeded: handle.bytes.count))
        write(handle.bytes)
    }
}

extension ByteReader {
    mutating func fixed(_ count: Int) throws -> [UInt8] { Array(try bytes(count)) }

    mutating func block(atMost limit: Int) throws -> [UInt8] {
        let count = Int(try uint32())
        guard count <= limit else { throw NoteBodyError.invalidField }
        return try fixed(count)
    }

    mutating func option<Value>(_ read: (inout ByteReader) throws -> Value) throws -> Value? {
        switch try uint8() {
        case 0: nil
        case 1: try read(&self)
        default: throw NoteBodyError.invalidField
        }
    }

    /// A count within bounds, then as many values.
    mutating func list<Value>(
        _ count: Int, in bounds: ClosedRange<Int>, _ read: (inout ByteReader) throws -> Value
    ) throws -> [Value] {
        guard bounds.contains(count) else { throw NoteBodyError.invalidField }
        var values: [Value] = []
        for _ in 0..<count { values.append(try read(&self)) }
        return values
    }

    mutating func noteID() throws -> NoteID {
        guard let note = NoteID(try bytes(NoteID.byteCount)) else { throw NoteBodyError.invalidField }
        return note
    }

    mutating func recordHash() throws -> RecordHash {
        guard let hash = RecordHash(try bytes(RecordHash.byteCount)) else { throw NoteBodyError.invalidField }
        return hash
    }

    mutating func handle() throws -> Handle { try Handle(canonical: fixed(Int(uint8()))) }
}
