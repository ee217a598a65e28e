// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A comment or a star: which one, only members can tell.
///
/// Wire form: `signet-note-child/v1` LF; 16 note; 16 child; u32 epoch; 32 hash of the control entry that the author had
/// seen; author; u32 length of the sealed content, sealed content; 64 signature by the author's device.
public struct ChildRecord: Hashable, Sendable {
    /// No child is longer, in bytes.
    public static let maximumByteCount = 1 << 16

    /// Whose child it is.
    public let note: NoteID
    /// Its own name, 16 random bytes.
    public let child: NoteID
    /// Of the key it is sealed under.
    public let epoch: UInt32
    /// The last control entry its author had seen.
    public let control: RecordHash
    /// Who signed.
    public let author: Author
    /// Opened by the members only.
    public let sealed: [UInt8]
    /// The wire form.
    public let encoded: [UInt8]

    /// By which a ``ChildList`` names it.
    public var hash: RecordHash { RecordHash(of: encoded) }

    static let format: StaticString = "signet-note-child/v1\n"

    /// Signs a child.
    ///
    /// - Parameter sign: gives the 64-byte Ed25519 signature of the author's device over the bytes passed.
    /// - Throws: ``NoteRecordError``.
    public init(
        note: NoteID, child: NoteID, epoch: UInt32, control: RecordHash, author: Author, sealed: [UInt8],
        with sign: ([UInt8]) throws -> [UInt8]
    ) throws(NoteRecordError) {
        guard sealed.count <= Self.maximumByteCount else { throw .tooLong(sealed.count) }
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(note.bytes)
        writer.write(child.bytes)
        writer.write(epoch)
        writer.write(control.bytes)
        writer.write(author)
        writer.write(UInt32(truncatingIfNeeded: sealed.count))
        writer.write(sealed)
        try self.init(
            decoding: SignedRecord.sign(writer.bytes, limit: Self.maximumByteCount, with: sign))
    }

    /// Reads a child and checks form and signature.
    ///
    /// - Throws: ``NoteRecordError``.
    public init(decoding bytes: [UInt8]) throws(NoteRecordError) {
        try self.init(uncheckedSignature: bytes)
        try SignedRecord.check(bytes, by: author.device)
    }

    /// Reads a child whose signature the caller has checked before, in these very bytes. Checks the form.
    ///
    /// - Throws: ``NoteRecordError``.
    package init(uncheckedSignature bytes: [UInt8]) throws(NoteRecordError) {
        var reader = try SignedRecord.reader(bytes, format: Self.format, limit: Self.maximumByteCount)
        do {
            note = try reader.noteID()
            child = try reader.noteID()
            epoch = try reader.uint32()
            control = try reader.recordHash()
            author = try Author(from: &reader)
            sealed = Array(try reader.bytes(Int(try reader.uint32())))
            try reader.end()
        } catch { throw NoteRecordError(error) }
        encoded = bytes
    }
}

/// The children that a note had when an epoch ended.
///
/// Wire form: `signet-note-children/v1` LF; 32 hash each, strictly rising.
public struct ChildList: Hashable, Sendable {
    /// Hashes of the records.
    public let children: Set<RecordHash>

    static let format: StaticString = "signet-note-children/v1\n"

    /// A list of records that were accepted.
    public init(_ children: some Sequence<RecordHash>) { self.children = Set(children) }

    /// Reads a list.
    ///
    /// - Throws: ``NoteRecordError``.
    public init(decoding bytes: [UInt8]) throws(NoteRecordError) {
        var reader = ByteReader(bytes)
        var hashes: [RecordHash] = []
        do {
            let line = Self.format.withUTF8Buffer { Array($0) }
            guard try reader.bytes(line.count).elementsEqual(line) else { throw NoteRecordError.unknownFormat }
            while reader.remaining > 0 { hashes.append(try reader.recordHash()) }
        } catch { throw NoteRecordError(error) }
        guard zip(hashes, hashes.dropFirst()).allSatisfy({ $0 < $1 }) else { throw .invalidField }
        children = Set(hashes)
    }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        for hash in children.sorted() { writer.write(hash.bytes) }
        return writer.bytes
    }

    /// What a rekeying names it by.
    public var hash: RecordHash { RecordHash(of: encoded) }
}
