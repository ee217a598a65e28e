// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import KeyTransparency
public import NoteLog

/// The next head of an account, with what it commits to. Wire form: block head, block note heads.
public struct AccountHeadChange: NoteBody {
    /// No ``NoteHeads`` are longer, in bytes.
    public static let maximumNotesByteCount = 1_000_000

    /// Follows the last one.
    public let head: AccountHead
    /// What ``AccountHead/notes`` is the hash of.
    public let notes: NoteHeads

    /// A change.
    public init(head: AccountHead, notes: NoteHeads) {
        self.head = head
        self.notes = notes
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(block: head.encoded)
        writer.write(block: notes.encoded)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        head = try reader.accountHead()
        notes = try reader.noteHeads()
    }
}

/// The outcome of storing a head. Wire form: u8 kind, then for 2 an option of a block head.
public enum AccountHeadOutcome: NoteBody {
    /// Stored, or stored already.
    case applied
    /// It does not follow the last one, which is this; nil if there is none.
    case conflict(AccountHead?)
    /// Another account's or device's, or not the hash of the notes.
    case forbidden
    /// The account has no room.
    case overLimit
    /// The server's disk is full.
    case serverFull

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        switch self {
        case .applied: writer.write(UInt8(1))
        case .conflict(let head):
            writer.write(UInt8(2))
            writer.write(option: head?.encoded)
        case .forbidden: writer.write(UInt8(3))
        case .overLimit: writer.write(UInt8(4))
        case .serverFull: writer.write(UInt8(5))
        }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1: self = .applied
        case 2: self = .conflict(try reader.option { try $0.accountHead() })
        case 3: self = .forbidden
        case 4: self = .overLimit
        case 5: self = .serverFull
        default: throw NoteBodyError.invalidField
        }
    }
}

/// Asks for the heads after a known one. Wire form: u64 number.
public struct AccountHeadsRequest: NoteBody {
    /// The number of the newest known head; 0 for none.
    public let after: UInt64

    /// A question.
    public init(after: UInt64) { self.after = after }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) { writer.write(after) }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws { after = try reader.uint64() }
}

/// The heads after the one asked for. Wire form: u16 count, blocks of heads, option of a block note heads.
public struct AccountHeadsAnswer: NoteBody {
    /// The most heads in one answer.
    public static let maximumCount = 500

    /// In order.
    public let heads: [AccountHead]
    /// What the newest commits to; nil if no head came, or if more follow than came.
    public let notes: NoteHeads?

    /// An answer.
    public init(heads: [AccountHead], notes: NoteHeads?) {
        self.heads = heads
        self.notes = notes
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(UInt16(truncatingIfNeeded: heads.count))
        for head in heads { writer.write(block: head.encoded) }
        writer.write(option: notes?.encoded)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        heads = try reader.list(Int(reader.uint16()), in: 0...Self.maximumCount) { try $0.accountHead() }
        notes = try reader.option { try $0.noteHeads() }
    }
}

/// Erases all that the server holds of the caller's notes. Wire form: u8 handle length, handle.
public struct NotesErasure: NoteBody {
    /// The caller's own handle, so that nothing is erased by mistake.
    public let handle: Handle

    /// An erasure.
    public init(handle: Handle) { self.handle = handle }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) { writer.write(handle) }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws { handle = try reader.handle() }
}

extension ByteReader {
    mutating func accountHead() throws -> AccountHead {
        try AccountHead(decoding: block(atMost: AccountHead.maximumByteCount))
    }

    fileprivate mutating func noteHeads() throws -> NoteHeads {
        try NoteHeads(decoding: block(atMost: AccountHeadChange.maximumNotesByteCount))
    }
}
