// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import KeyTransparency
public import NoteLog

/// Asks what the log says of notes. Wire form: u64 size; u16 count and 16 note each.
public struct LoggedHeadsRequest: NoteBody {
    /// The most notes in one request.
    public static let maximumCount = 256

    /// The size of the log that the asker has verified: the root is to be proven in the epoch that ends it.
    public let size: UInt64
    /// Which notes; only for their members there is an answer.
    public let notes: [NoteID]

    /// A question.
    public init(size: UInt64, notes: [NoteID]) {
        self.size = size
        self.notes = notes
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(size)
        writer.write(UInt16(truncatingIfNeeded: notes.count))
        for note in notes { writer.write(note.bytes) }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        size = try reader.uint64()
        notes = try reader.list(Int(reader.uint16()), in: 1...Self.maximumCount) { try $0.noteID() }
    }
}

/// What the log says of notes. Wire form: u8 kind; for 1 a `NotesRootProof`, u16 count, and of each note u8 0, or u8 1 and a
/// `LoggedHeadProof`.
public enum LoggedHeadsAnswer: NoteBody {
    /// In the order of the question; nil of a note that the asker may not read.
    case heads(NotesRootProof, [LoggedHeadProof?])
    /// There is none for that epoch: make another lookup to get a newer epoch, and ask again.
    case anotherEpoch

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        switch self {
        case .heads(let root, let heads):
            writer.write(UInt8(1))
            root.write(to: &writer)
            writer.write(UInt16(truncatingIfNeeded: heads.count))
            for head in heads {
                writer.write(UInt8(head == nil ? 0 : 1))
                head?.write(to: &writer)
            }
        case .anotherEpoch: writer.write(UInt8(2))
        }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1:
            let root = try NotesRootProof(from: &reader)
            let heads = try reader.list(Int(reader.uint16()), in: 1...LoggedHeadsRequest.maximumCount) {
                try $0.option { try LoggedHeadProof(from: &$0) }
            }
            self = .heads(root, heads)
        case 2: self = .anotherEpoch
        default: throw NoteBodyError.invalidField
        }
    }
}

/// Asks for the comments and stars that a note had when a root was logged. Wire form: u64 version, 16 note.
public struct ChildListRequest: NoteBody {
    /// Of the root's record.
    public let version: UInt64
    /// Which note.
    public let note: NoteID

    /// A question.
    public init(version: UInt64, note: NoteID) {
        self.version = version
        self.note = note
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(version)
        writer.write(note.bytes)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        version = try reader.uint64()
        note = try reader.noteID()
    }
}

/// The list. Wire form: an option of a block child list.
public struct ChildListAnswer: NoteBody {
    /// nil: the server does not hold that root any more, or the asker may not read the note.
    public let list: ChildList?

    /// An answer.
    public init(list: ChildList?) { self.list = list }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) { writer.write(option: list?.encoded) }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws { list = try reader.option { try $0.childList() } }
}
