// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import NoteLog

/// Name, place and key of an attached file. It stands in the note and is sealed with it.
///
/// Wire form: 16 blob; 32 key; u64 length; u16 length, name (UTF-8); u8 length, media type (ASCII).
///
/// Security: the key is random and used for this one file. Wiped when the last copy goes.
public struct AttachmentManifest: Equatable, Sendable {
    /// Bytes of a chunk's content.
    public static let chunkByteCount = 65_536
    /// Bytes of a chunk as it is stored: content and tag.
    public static let sealedChunkByteCount = chunkByteCount + 16
    /// The longest file, 4 GiB.
    public static let maximumByteCount: UInt64 = 1 << 32

    /// Under which name the chunks are stored: 16 random bytes.
    public let blob: NoteID
    /// Of the file, in bytes.
    public let byteCount: UInt64
    /// UTF-8, 1 to 1024 bytes.
    public let name: [UInt8]
    /// ASCII, at most 255 bytes.
    public let mediaType: [UInt8]
    let key: SymmetricKey

    /// A manifest for a new file, with a new key.
    ///
    /// - Throws: ``SealedNoteError/tooLong``.
    public init(
        blob: NoteID, byteCount: UInt64, name: [UInt8], mediaType: [UInt8]
    ) throws(SealedNoteError) {
        try self.init(
            blob: blob, key: SymmetricKey(size: .bits256), byteCount: byteCount, name: name, mediaType: mediaType)
    }

    private init(
        blob: NoteID, key: SymmetricKey, byteCount: UInt64, name: [UInt8], mediaType: [UInt8]
    ) throws(SealedNoteError) {
        guard byteCount <= Self.maximumByteCount, (1...1024).contains(name.count), mediaType.count <= 255 else {
            throw .tooLong
        }
        self.blob = blob
        self.key = key
        self.byteCount = byteCount
        self.name = name
        self.mediaType = mediaType
    }

    /// The same key and place with another length.
    init(_ other: AttachmentManifest, byteCount: UInt64) {
        blob = other.blob
        key = other.key
        name = other.name
        mediaType = other.mediaType
        self.byteCount = byteCount
    }

    /// How many chunks the file has; an empty one has one.
    public var chunkCount: Int { max(1, Int((byteCount + 65_535) / 65_536)) }

    func write(to writer: inout ByteWriter) throws(SealedNoteError) {
        writer.write(blob.bytes)
        key.withUnsafeBytes { writer.write($0) }
        writer.write(byteCount)
        writer.write(UInt16(truncatingIfNeeded: name.count))
        writer.write(name)
        writer.write(UInt8(truncatingIfNeeded: mediaType.count))
        writer.write(mediaType)
    }

    init(from reader: inout ByteReader) throws {
        guard let blob = NoteID(try reader.bytes(NoteID.byteCount)) else { throw SealedNoteError.malformedContent }
        let key = SymmetricKey(data: try reader.bytes(32))
        let byteCount = try reader.uint64()
        let name = Array(try reader.bytes(Int(try reader.uint16())))
        let mediaType = Array(try reader.bytes(Int(try reader.uint8())))
        try self.init(blob: blob, key: key, byteCount: byteCount, name: name, mediaType: mediaType)
    }
}
