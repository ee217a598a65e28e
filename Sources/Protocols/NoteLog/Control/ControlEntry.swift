// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// An entry of a note's control log: signed by the owner, or by the member who leaves; chained by hash, readable by the server,
/// which cannot make one.
///
/// Wire form: `signet-note-control/v1` LF; 16 note; u64 number; 32 hash of the previous entry (zeros at 1); u64 time,
/// seconds since 1970; author; action; 64 signature by the author's device.
public struct ControlEntry: Hashable, Sendable {
    /// No entry is longer, in bytes.
    public static let maximumByteCount = 1024

    /// Whose step it is.
    public let note: NoteID
    /// From 1, one more each time.
    public let number: UInt64
    /// The entry before; ``RecordHash/none`` at 1.
    public let previous: RecordHash
    /// When the author's clock says it was made, in seconds since 1970. Shown, never relied on.
    public let time: UInt64
    /// Who signed.
    public let author: Author
    /// What happened.
    public let action: ControlAction
    /// The wire form.
    public let encoded: [UInt8]

    /// By which the next entry, revisions and wraps name it.
    public var hash: RecordHash { RecordHash(of: encoded) }

    static let format: StaticString = "signet-note-control/v1\n"

    /// Signs an entry.
    ///
    /// - Parameter sign: gives the 64-byte Ed25519 signature of the author's device over the bytes passed.
    /// - Throws: ``NoteRecordError``.
    public init(
        note: NoteID, number: UInt64, previous: RecordHash, time: UInt64, author: Author, action: ControlAction,
        with sign: ([UInt8]) throws -> [UInt8]
    ) throws(NoteRecordError) {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(note.bytes)
        writer.write(number)
        writer.write(previous.bytes)
        writer.write(time)
        writer.write(author)
        action.write(to: &writer)
        try self.init(
            decoding: SignedRecord.sign(writer.bytes, limit: Self.maximumByteCount, with: sign))
    }

    /// Reads an entry and checks form and signature.
    ///
    /// Security: the signature is the named device's. Whether that is the owner's, and the step allowed, is for
    /// ``ControlVerifier``.
    ///
    /// - Throws: ``NoteRecordError``.
    public init(decoding bytes: [UInt8]) throws(NoteRecordError) {
        try self.init(uncheckedSignature: bytes)
        try SignedRecord.check(bytes, by: author.device)
    }

    /// Reads an entry whose signature the caller has checked before, in these very bytes. Checks the form.
    ///
    /// - Throws: ``NoteRecordError``.
    package init(uncheckedSignature bytes: [UInt8]) throws(NoteRecordError) {
        var reader = try SignedRecord.reader(bytes, format: Self.format, limit: Self.maximumByteCount)
        do {
            note = try reader.noteID()
            number = try reader.uint64()
            previous = try reader.recordHash()
            time = try reader.uint64()
            author = try Author(from: &reader)
            action = try ControlAction(from: &reader)
            try reader.end()
        } catch { throw NoteRecordError(error) }
        encoded = bytes
    }
}
