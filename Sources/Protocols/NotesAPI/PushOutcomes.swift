// SPDX-License-Identifier: Apache-2.0

public import CanonicalCoding
public import NoteLog

/// The outcome of a push.
///
/// Wire form: u8 kind. 1: u64 cursor. 2: option of heads (u64 number, 32 hash; option of u64 number, 32 hash). 3: refusal. 4: -.
/// 5: u8 limit. A refusal is u8, for 5 then u32 epoch, for 6 then u8 rule.
public enum NotePushOutcome: NoteBody {
    /// Applied, now or when it came first. Its records are in the account's feed at or before this cursor.
    case applied(cursor: UInt64)
    /// Not applied: this is the note's current head. Pull, join, push again. Nil: the server has no such note.
    case conflict(NoteHeads.Head?)
    /// Not applied, and never will be.
    case refused(PushRefusal)
    /// The name was used for another change: give this one another name.
    case nameReused
    /// Not applied: there is no room. Removing something helps, unless it is the server's disk that is full.
    case overLimit(NoteLimit)

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        switch self {
        case .applied(let cursor):
            writer.write(UInt8(1))
            writer.write(cursor)
        case .conflict(let head):
            writer.write(UInt8(2))
            writer.write(UInt8(head == nil ? 0 : 1))
            head?.write(to: &writer)
        case .refused(let refusal):
            writer.write(UInt8(3))
            refusal.write(to: &writer)
        case .nameReused: writer.write(UInt8(4))
        case .overLimit(let limit):
            writer.write(UInt8(5))
            writer.write(limit.rawValue)
        }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1: self = .applied(cursor: try reader.uint64())
        case 2: self = .conflict(try reader.option { try NoteHeads.Head(from: &$0) })
        case 3: self = .refused(try PushRefusal(from: &reader))
        case 4: self = .nameReused
        case 5: self = .overLimit(try NoteLimit(from: &reader))
        default: throw NoteBodyError.invalidField
        }
    }
}

/// One outcome for each push, in the order of the request. Wire form: u8 count, outcomes.
public struct NotePushOutcomes: NoteBody {
    /// As many as there were pushes.
    public let outcomes: [NotePushOutcome]

    /// The answer to a batch.
    public init(_ outcomes: [NotePushOutcome]) { self.outcomes = outcomes }

    /// Appends the wire form.
    public func write(to writer: inout ByteWriter) {
        writer.write(UInt8(truncatingIfNeeded: outcomes.count))
        for outcome in outcomes { outcome.write(to: &writer) }
    }

    /// Reads the wire form from within a longer one.
    public init(from reader: inout ByteReader) throws {
        outcomes = try reader.list(Int(reader.uint8()), in: 1...NotePushes.maximumCount) {
            try NotePushOutcome(from: &$0)
        }
    }
}

/// The limit that was reached. `Documentation/notes.md` has the numbers.
public enum NoteLimit: UInt8, Hashable, Sendable, CaseIterable {
    /// Bytes of the account.
    case bytes = 1
    /// Notes that the account owns.
    case notes = 2
    /// Members of the note.
    case members = 3
    /// Comments and stars of the note.
    case children = 4
    /// Control entries of the note.
    case entries = 5
    /// The disk of the server, which has room for removals only: nothing that the account does helps.
    case disk = 6

    init(from reader: inout ByteReader) throws {
        guard let limit = NoteLimit(rawValue: try reader.uint8()) else { throw NoteBodyError.invalidField }
        self = limit
    }
}

extension NoteHeads.Head {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(control.number)
        writer.write(control.head.bytes)
        writer.write(UInt8(revision == nil ? 0 : 1))
        guard let revision else { return }
        writer.write(revision.number)
        writer.write(revision.head.bytes)
    }

    fileprivate init(from reader: inout ByteReader) throws {
        let control = ControlView(number: try reader.uint64(), head: try reader.recordHash())
        let revision = try reader.option { RevisionView(number: try $0.uint64(), head: try $0.recordHash()) }
        self.init(control: control, revision: revision)
    }
}

extension PushRefusal {
    fileprivate func write(to writer: inout ByteWriter) {
        switch self {
        case .notTheRequesters: writer.write(UInt8(1))
        case .deviceNotCurrent: writer.write(UInt8(2))
        case .unknownNote: writer.write(UInt8(3))
        case .forbidden: writer.write(UInt8(4))
        case .badEpoch(let epoch):
            writer.write(UInt8(5))
            writer.write(epoch)
        case .rule(let rule):
            writer.write(UInt8(6))
            writer.write(rule.wireNumber)
        case .wraps: writer.write(UInt8(7))
        case .incomplete: writer.write(UInt8(8))
        }
    }

    fileprivate init(from reader: inout ByteReader) throws {
        switch try reader.uint8() {
        case 1: self = .notTheRequesters
        case 2: self = .deviceNotCurrent
        case 3: self = .unknownNote
        case 4: self = .forbidden
        case 5: self = .badEpoch(try reader.uint32())
        case 6:
            let number = try reader.uint8()
            guard let rule = ControlRule.inOrder.first(where: { $0.wireNumber == number }) else {
                throw NoteBodyError.invalidField
            }
            self = .rule(rule)
        case 7: self = .wraps
        case 8: self = .incomplete
        default: throw NoteBodyError.invalidField
        }
    }
}

extension ControlRule {
    fileprivate static let inOrder: [ControlRule] = [
        .authorIsOwner, .createdOnce, .notDeleted, .shareAdds, .isMember, .epochStepsByOne, .membersAreStated,
        .memberCount, .keyIsNew,
    ]

    fileprivate var wireNumber: UInt8 {
        switch self {
        case .authorIsOwner: 1
        case .createdOnce: 2
        case .notDeleted: 3
        case .shareAdds: 4
        case .isMember: 5
        case .epochStepsByOne: 6
        case .membersAreStated: 7
        case .memberCount: 8
        case .keyIsNew: 9
        }
    }
}
