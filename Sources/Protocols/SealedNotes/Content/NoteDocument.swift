// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import NoteLog

/// Everything that a revision of a note says, sealed as one: no part of it can be swapped for another revision's.
///
/// Wire form: u8 1; u64 created, u64 modified (seconds since 1970); u8 0 or 1 and 16 note of which this is a conflict
/// copy; u16 length, title; u32 length, body; u8 count, tags, each u8 length, bytes; u8 count, attachments. Texts are UTF-8
/// as typed, in no normal form; they are kept byte for byte.
public struct NoteDocument: Equatable, Sendable {
    /// The longest title, in bytes.
    public static let maximumTitleByteCount = 4096
    /// The most tags and attachments.
    public static let maximumCount = 255

    /// When the note was begun, in seconds since 1970.
    public var created: UInt64
    /// When this revision was made, in seconds since 1970.
    public var modified: UInt64
    /// The note that this one keeps the other side of a conflict of.
    public var conflictOf: NoteID?
    /// UTF-8.
    public var title: [UInt8]
    /// UTF-8.
    public var body: [UInt8]
    /// UTF-8, 1 to 255 bytes each, in the user's order.
    public var tags: [[UInt8]]
    /// Names, keys and places of attached files.
    public var attachments: [AttachmentManifest]

    /// A document.
    public init(
        title: [UInt8], body: [UInt8], tags: [[UInt8]] = [], attachments: [AttachmentManifest] = [],
        created: UInt64, modified: UInt64, conflictOf: NoteID? = nil
    ) {
        self.title = title
        self.body = body
        self.tags = tags
        self.attachments = attachments
        self.created = created
        self.modified = modified
        self.conflictOf = conflictOf
    }

    /// - Throws: ``SealedNoteError/tooLong``.
    func encoded() throws(SealedNoteError) -> [UInt8] {
        guard title.count <= Self.maximumTitleByteCount, body.count <= RevisionRecord.maximumByteCount,
            tags.count <= Self.maximumCount, attachments.count <= Self.maximumCount,
            tags.allSatisfy({ (1...255).contains($0.count) })
        else { throw .tooLong }
        var writer = ByteWriter()
        writer.write(UInt8(1))
        writer.write(created)
        writer.write(modified)
        writer.write(UInt8(conflictOf == nil ? 0 : 1))
        writer.write(conflictOf?.bytes ?? [])
        writer.write(UInt16(title.count))
        writer.write(title)
        writer.write(UInt32(body.count))
        writer.write(body)
        writer.write(UInt8(tags.count))
        for tag in tags {
            writer.write(UInt8(tag.count))
            writer.write(tag)
        }
        writer.write(UInt8(attachments.count))
        for attachment in attachments { try attachment.write(to: &writer) }
        return writer.bytes
    }

    /// - Throws: ``SealedNoteError/malformedContent``.
    init(decoding bytes: ArraySlice<UInt8>) throws(SealedNoteError) {
        var reader = ByteReader(bytes)
        do {
            guard try reader.uint8() == 1 else { throw SealedNoteError.malformedContent }
            created = try reader.uint64()
            modified = try reader.uint64()
            conflictOf = try Self.optionalNote(&reader)
            title = Array(try reader.bytes(Int(try reader.uint16())))
            body = Array(try reader.bytes(Int(try reader.uint32())))
            tags = try Self.tags(&reader)
            attachments = []
            for _ in 0..<(try reader.uint8()) { attachments.append(try AttachmentManifest(from: &reader)) }
            try reader.end()
        } catch { throw .malformedContent }
        guard title.count <= Self.maximumTitleByteCount else { throw .malformedContent }
    }

    private static func optionalNote(_ reader: inout ByteReader) throws -> NoteID? {
        switch try reader.uint8() {
        case 0: return nil
        case 1: return NoteID(try reader.bytes(NoteID.byteCount))
        default: throw SealedNoteError.malformedContent
        }
    }

    private static func tags(_ reader: inout ByteReader) throws -> [[UInt8]] {
        var tags: [[UInt8]] = []
        for _ in 0..<(try reader.uint8()) {
            let count = Int(try reader.uint8())
            guard count > 0 else { throw SealedNoteError.malformedContent }
            tags.append(Array(try reader.bytes(count)))
        }
        return tags
    }
}
