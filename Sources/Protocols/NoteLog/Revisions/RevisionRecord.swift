// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// One version of a note's content, sealed, in a chain by hash.
///
/// Wire form: `signet-note-revision/v1` LF; 16 note; u64 number; 32 hash of the revision before (zeros at 1); u32 epoch;
/// 32 hash of the control entry that the author built on; author; u32 length of the sealed content, sealed content;
/// 64 signature by the author's device.
public struct RevisionRecord: Hashable, Sendable {
    /// No revision is longer, in bytes.
    public static let maximumByteCount = 1 << 20

    /// Whose version it is.
    public let note: NoteID
    /// From 1, one more each time.
    public let number: UInt64
    /// The revision before; ``RecordHash/none`` at 1.
    public let parent: RecordHash
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

    /// By which the next revision and rekeyings name it.
    public var hash: RecordHash { RecordHash(of: encoded) }

    static let format: StaticString = "signet-note-revision/v1\n"

    /// Signs a revision.
    ///
    /// - Parameter sign: gives the 64-byte Ed25519 signature of the author's device over the bytes passed.
    /// - Throws: ``NoteRecordError``.
    public init(
        note: NoteID, number: UInt64, parent: RecordHash, epoch: UInt32, control: RecordHash, author: Author,
        sealed: [UInt8], with sign: ([UInt8]) throws -> [UInt8]
    ) throws(NoteRecordError) {
        guard sealed.count <= Self.maximumByteCount else { throw .tooLong(sealed.count) }
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(note.bytes)
        writer.write(number)
        writer.write(parent.bytes)
        writer.write(epoch)
        writer.write(control.bytes)
        writer.write(author)
        writer.write(UInt32(truncatingIfNeeded: sealed.count))
        writer.write(sealed)
        try self.init(
            decoding: SignedRecord.sign(writer.bytes, limit: Self.maximumByteCount, with: sign))
    }

    /// Reads a revision and checks form and signature.
    ///
    /// Security: the signature is the named device's. Whether its author may write is for ``RevisionVerifier``.
    ///
    /// - Throws: ``NoteRecordError``.
    public init(decoding bytes: [UInt8]) throws(NoteRecordError) {
        try self.init(uncheckedSignature: bytes)
        try SignedRecord.check(bytes, by: author.device)
    }

    /// Reads a revision whose signature the caller has checked before, in these very bytes. Checks the form.
    ///
    /// - Throws: ``NoteRecordError``.
    package init(uncheckedSignature bytes: [UInt8]) throws(NoteRecordError) {
        var reader = try SignedRecord.reader(bytes, format: Self.format, limit: Self.maximumByteCount)
        do {
            note = try reader.noteID()
            number = try reader.uint64()
            parent = try reader.recordHash()
            epoch = try reader.uint32()
            control = try reader.recordHash()
            author = try Author(from: &reader)
            sealed = Array(try reader.bytes(Int(try reader.uint32())))
            try reader.end()
        } catch { throw NoteRecordError(error) }
        encoded = bytes
    }
}
