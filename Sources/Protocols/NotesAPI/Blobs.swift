// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import NoteLog

/// The name of a file's ciphertext: 16 random bytes of the client's choice. It belongs to one note.
public struct BlobID: Hashable, Sendable {
    /// 16.
    public static let byteCount = 16
    /// The bytes.
    public let bytes: [UInt8]

    /// Takes 16 bytes; nil for another count.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = Array(bytes)
    }

    init(from reader: inout ByteReader) throws { bytes = try reader.fixed(Self.byteCount) }
}

/// Consecutive pieces of a file. A writer of the note may store them, in any order; each once.
///
/// Wire form: 16 note, 16 blob, u32 index of the first, u8 count, 65,552 bytes each.
public struct ChunkUpload: NoteBody {
    /// Bytes of a piece.
    public static let chunkByteCount = 65_552
    /// The most pieces in one request.
    public static let maximumCount = 16
    /// No piece has a greater index: files of 4 GiB.
    public static let maximumIndex: UInt32 = 65_535

    /// Whose members may fetch it.
    public let note: NoteID
    /// Which file.
    public let blob: BlobID
    /// Index of the first piece.
    public let first: UInt32
    /// From 1 to ``maximumCount``, ``chunkByteCount`` bytes each.
    public let chunks: [[UInt8]]

    /// An upload.
    ///
    /// - Throws: ``NoteBodyError/invalidField``: another number or length of pieces, or too far an index.
    public init(note: NoteID, blob: BlobID, first: UInt32, chunks: [[UInt8]]) throws(NoteBodyError) {
        guard (1...Self.maximumCount).contains(chunks.count), first <= Self.maximumIndex,
            Int(first) + chunks.count - 1 <= Int(Self.maximumIndex),
            chunks.allSatisfy({ $0.count == Self.chunkByteCount })
        else { throw .invalidField }
        self.note = note
        self.blob = blob
        self.first = first
        self.chunks = chunks
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(note.bytes)
        writer.write(blob.bytes)
        writer.write(first)
        writer.write(UInt8(truncatingIfNeeded: chunks.count))
        for chunk in chunks { writer.write(chunk) }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        try self.init(
            note: reader.noteID(), blob: BlobID(from: &reader), first: reader.uint32(),
            chunks: reader.list(Int(reader.uint8()), in: 1...Self.maximumCount) { try $0.fixed(Self.chunkByteCount) })
    }
}

/// The outcome of an upload or a removal. Wire form: u8.
public enum BlobOutcome: UInt8, NoteBody, CaseIterable {
    /// Stored or removed, now or before.
    case applied = 1
    /// There is another piece at one of these indices, or the file belongs to another note. Use another name.
    case conflict = 2
    /// The account may not do that, or there is no such note.
    case forbidden = 3
    /// The account has no room.
    case overLimit = 4
    /// The server's disk is full.
    case serverFull = 5

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) { writer.write(rawValue) }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        guard let outcome = Self(rawValue: try reader.uint8()) else { throw NoteBodyError.invalidField }
        self = outcome
    }
}

/// Asks for consecutive pieces. Wire form: 16 note, 16 blob, u32 index of the first, u8 count.
public struct ChunkRequest: NoteBody {
    /// The note that the file belongs to.
    public let note: NoteID
    /// Which file.
    public let blob: BlobID
    /// Index of the first piece.
    public let first: UInt32
    /// From 1 to ``ChunkUpload/maximumCount``.
    public let count: UInt8

    /// A question.
    public init(note: NoteID, blob: BlobID, first: UInt32, count: UInt8) {
        self.note = note
        self.blob = blob
        self.first = first
        self.count = count
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(note.bytes)
        writer.write(blob.bytes)
        writer.write(first)
        writer.write(count)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        note = try reader.noteID()
        blob = try BlobID(from: &reader)
        first = try reader.uint32()
        count = try reader.uint8()
        guard (1...ChunkUpload.maximumCount).contains(Int(count)) else { throw NoteBodyError.invalidField }
    }
}

/// The pieces. Wire form: u8 count, 65,552 bytes each.
public struct ChunkAnswer: NoteBody {
    /// As many as there are without a gap from the first on; none of a file or note that the account does not have.
    public let chunks: [[UInt8]]

    /// An answer.
    public init(_ chunks: [[UInt8]]) { self.chunks = chunks }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(UInt8(truncatingIfNeeded: chunks.count))
        for chunk in chunks { writer.write(chunk) }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        chunks = try reader.list(Int(reader.uint8()), in: 0...ChunkUpload.maximumCount) {
            try $0.fixed(ChunkUpload.chunkByteCount)
        }
    }
}

/// Forgets a file, whole. Who stored its first piece and the note's owner may. Wire form: 16 note, 16 blob.
public struct BlobRemoval: NoteBody {
    /// The note that the file belongs to.
    public let note: NoteID
    /// Which file.
    public let blob: BlobID

    /// A removal.
    public init(note: NoteID, blob: BlobID) {
        self.note = note
        self.blob = blob
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(note.bytes)
        writer.write(blob.bytes)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        note = try reader.noteID()
        blob = try BlobID(from: &reader)
    }
}
