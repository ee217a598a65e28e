// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
import Crypto
public import KeyTransparency
public import VerifiableMap

/// Where a note stands as a whole: what the map of all notes holds for it, whose root the directory logs.
///
/// Wire form, 112 bytes: u64 number and 32 hash of the last control entry; u64 number and 32 hash of the last revision (0 and
/// zeros for none); 32 hash of the ``ChildList``. The map's key is SHA-256(`signet-note/v1` LF ‖ 16 note), its value
/// SHA-256(`signet-note-head/v1` LF ‖ wire form).
public struct LoggedHead: Hashable, Sendable {
    /// The last control entry.
    public let control: ControlView
    /// The last revision; nil if there is none.
    public let revision: RevisionView?
    /// Hash of the ``ChildList`` of all comments and stars.
    public let children: RecordHash

    /// A note's head.
    public init(control: ControlView, revision: RevisionView?, children: RecordHash) {
        self.control = control
        self.revision = revision
        self.children = children
    }

    /// The position of a note in the map.
    public static func key(of note: NoteID) -> MapKey {
        var hash = SHA256()
        hash.update(data: Array("signet-note/v1\n".utf8))
        hash.update(data: note.bytes)
        return MapKey(hash.finalize())
    }

    /// What the map holds for it.
    public var value: MapValue {
        var writer = ByteWriter()
        writer.write("signet-note-head/v1\n")
        write(to: &writer)
        return MapValue(SHA256.hash(data: writer.bytes))
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(control.number)
        writer.write(control.head.bytes)
        writer.write(revision?.number ?? 0)
        writer.write((revision?.head ?? .none).bytes)
        writer.write(children.bytes)
    }

    /// Reads the wire form from within a longer one.
    ///
    /// - Throws: ``NoteRecordError``.
    public init(from reader: inout ByteReader) throws(NoteRecordError) {
        do {
            control = ControlView(number: try reader.uint64(), head: try reader.recordHash())
            let (number, hash) = (try reader.uint64(), try reader.recordHash())
            guard control.number > 0, (number == 0) == (hash == .none) else { throw NoteRecordError.invalidField }
            revision = number == 0 ? nil : RevisionView(number: number, head: hash)
            children = try reader.recordHash()
        } catch { throw NoteRecordError(error) }
    }
}

/// What a server shows of a note in the map whose root is logged.
///
/// Wire form: u8 0, or u8 1 and the head; u16 length and bytes of a `MapProof` of the head's value, or of its absence.
public struct LoggedHeadProof: Hashable, Sendable {
    /// No proof is longer, in bytes.
    public static let maximumProofByteCount =
        MapKey.byteCount + MapValue.byteCount + MapPath.maximumStepCount * MapPath.stepByteCount

    /// Where the note stands; nil: the map does not have it.
    public let head: LoggedHead?
    /// As ``VerifiableMap/MapProof/encoded``.
    public let proof: [UInt8]

    /// A proof of these parts.
    public init(head: LoggedHead?, proof: [UInt8]) {
        self.head = head
        self.proof = proof
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(UInt8(head == nil ? 0 : 1))
        head?.write(to: &writer)
        writer.write(UInt16(truncatingIfNeeded: proof.count))
        writer.write(proof)
    }

    /// Reads the wire form from within a longer one.
    ///
    /// - Throws: ``NoteRecordError``.
    public init(from reader: inout ByteReader) throws(NoteRecordError) {
        do {
            switch try reader.uint8() {
            case 0: head = nil
            case 1: head = try LoggedHead(from: &reader)
            default: throw NoteRecordError.invalidField
            }
            let count = Int(try reader.uint16())
            guard count <= Self.maximumProofByteCount else { throw NoteRecordError.tooLong(count) }
            proof = Array(try reader.bytes(count))
        } catch { throw NoteRecordError(error) }
    }

    /// Checks it against a root.
    ///
    /// - Throws: `MapProofError`: the map with this root holds something else. A retry does not help.
    ///
    /// Security: a key leads from a root to one leaf, so one root cannot prove two heads of a note.
    public func verify(_ note: NoteID, in root: VerifiedNotesRoot) throws(MapProofError) -> VerifiedNoteHead {
        _ = try MapProof(decoding: proof, value: head?.value).verify(LoggedHead.key(of: note), in: root.root.root)
        return VerifiedNoteHead(note: note, head: head, root: root)
    }
}

/// Where a note stood when the log said so. Only ``LoggedHeadProof`` makes one.
public struct VerifiedNoteHead: Hashable, Sendable {
    /// Which note.
    public let note: NoteID
    /// Where it stood; nil if the server did not have it then.
    public let head: LoggedHead?
    /// The root in which it was found.
    public let root: VerifiedNotesRoot
}
