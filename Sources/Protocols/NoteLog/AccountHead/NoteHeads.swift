// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// The heads of all notes that an account holds.
///
/// Wire form: `signet-note-heads/v1` LF; u32 count; for each note in rising order: 16 note, u64 number and 32 hash of the
/// last control entry, u64 number and 32 hash of the last revision (0 and zeros for none).
public struct NoteHeads: Hashable, Sendable {
    /// Where one note stands.
    public struct Head: Hashable, Sendable {
        /// The last control entry.
        public let control: ControlView
        /// The last revision; nil if there is none.
        public let revision: RevisionView?

        /// A note's heads.
        public init(control: ControlView, revision: RevisionView?) {
            self.control = control
            self.revision = revision
        }
    }

    /// By note.
    public private(set) var heads: [NoteID: Head]

    static let format: StaticString = "signet-note-heads/v1\n"

    /// The heads of these notes.
    public init(_ heads: [NoteID: Head] = [:]) { self.heads = heads }

    /// What is remembered of a note; nil if it is not held.
    public subscript(note: NoteID) -> Head? {
        get { heads[note] }
        set { heads[note] = newValue }
    }

    /// What an ``AccountHead`` commits to.
    public var hash: RecordHash { RecordHash(of: encoded) }

    /// The wire form.
    public var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.write(Self.format)
        writer.write(UInt32(truncatingIfNeeded: heads.count))
        for (note, head) in heads.sorted(by: { $0.key < $1.key }) {
            writer.write(note.bytes)
            writer.write(head.control.number)
            writer.write(head.control.head.bytes)
            writer.write(head.revision?.number ?? 0)
            writer.write((head.revision?.head ?? .none).bytes)
        }
        return writer.bytes
    }

    /// Reads the wire form.
    ///
    /// - Throws: ``NoteRecordError``.
    public init(decoding bytes: [UInt8]) throws(NoteRecordError) {
        var reader = ByteReader(bytes)
        var heads: [NoteID: Head] = [:]
        var last: NoteID?
        do {
            let line = Self.format.withUTF8Buffer { Array($0) }
            guard try reader.bytes(line.count).elementsEqual(line) else { throw NoteRecordError.unknownFormat }
            for _ in 0..<(try reader.uint32()) {
                let note = try reader.noteID()
                guard last.map({ $0 < note }) ?? true else { throw NoteRecordError.invalidField }
                last = note
                heads[note] = try Head(from: &reader)
            }
            try reader.end()
        } catch { throw NoteRecordError(error) }
        self.heads = heads
    }
}

extension NoteHeads.Head {
    fileprivate init(from reader: inout ByteReader) throws {
        control = ControlView(number: try reader.uint64(), head: try reader.recordHash())
        let (number, hash) = (try reader.uint64(), try reader.recordHash())
        guard control.number > 0, (number == 0) == (hash == .none) else { throw NoteRecordError.invalidField }
        revision = number == 0 ? nil : RevisionView(number: number, head: hash)
    }
}
