// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import NoteLog

/// A note's key for the own devices, put in the place of another.
///
/// A member keeps one of each note that is shared with them, so that a later device of theirs opens it too.
///
/// Wire form: 16 note, u32 epoch, 32 hash of the wrap it replaces (zeros for none), block wrap.
public struct OwnWrapChange: NoteBody {
    /// Of which the account has a role.
    public let note: NoteID
    /// Of the note's key.
    public let epoch: UInt32
    /// SHA-256 of the wrap that the server has for this note and epoch; ``RecordHash/none`` if it has none.
    public let replaced: RecordHash
    /// As the client sealed it, at most ``NotePush/maximumOwnWrapByteCount`` bytes.
    public let wrap: [UInt8]

    /// A change.
    public init(note: NoteID, epoch: UInt32, replaced: RecordHash = .none, wrap: [UInt8]) {
        self.note = note
        self.epoch = epoch
        self.replaced = replaced
        self.wrap = wrap
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(note.bytes)
        writer.write(epoch)
        writer.write(replaced.bytes)
        writer.write(block: wrap)
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        note = try reader.noteID()
        epoch = try reader.uint32()
        replaced = try reader.recordHash()
        wrap = try reader.block(atMost: NotePush.maximumOwnWrapByteCount)
    }
}

/// Changes, each for itself. Wire form: u16 count, changes.
public struct OwnWrapChanges: NoteBody {
    /// The most in one request.
    public static let maximumCount = 256

    /// From 1 to ``maximumCount``.
    public let changes: [OwnWrapChange]

    /// A batch.
    ///
    /// - Throws: ``NoteBodyError/invalidField``: none, or too many.
    public init(_ changes: [OwnWrapChange]) throws(NoteBodyError) {
        guard (1...Self.maximumCount).contains(changes.count) else { throw .invalidField }
        self.changes = changes
    }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(UInt16(truncatingIfNeeded: changes.count))
        for change in changes { change.write(to: &writer) }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        changes = try reader.list(Int(reader.uint16()), in: 1...Self.maximumCount) { try OwnWrapChange(from: &$0) }
    }
}

/// The outcome of an ``OwnWrapChange``.
public enum OwnWrapOutcome: UInt8, Hashable, Sendable, CaseIterable {
    /// Stored, or stored already.
    case applied = 1
    /// The server has another wrap than the one to be replaced: pull.
    case conflict = 2
    /// There is no such note or epoch for this account.
    case unknown = 3
    /// The account has no room.
    case overLimit = 4
    /// The server's disk is full.
    case serverFull = 5
}

/// One outcome for each change, in the order of the request. Wire form: u16 count, u8 each.
public struct OwnWrapOutcomes: NoteBody {
    /// As many as there were changes.
    public let outcomes: [OwnWrapOutcome]

    /// The answer to a batch.
    public init(_ outcomes: [OwnWrapOutcome]) { self.outcomes = outcomes }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(UInt16(truncatingIfNeeded: outcomes.count))
        for outcome in outcomes { writer.write(outcome.rawValue) }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        outcomes = try reader.list(Int(reader.uint16()), in: 1...OwnWrapChanges.maximumCount) {
            guard let outcome = OwnWrapOutcome(rawValue: try $0.uint8()) else { throw NoteBodyError.invalidField }
            return outcome
        }
    }
}
