// SPDX-License-Identifier: Apache-2.0

import NoteLog
import SealedNotes

/// Which kind of record a row holds.
enum RecordKind: Int, Sendable {
    case control = 1
    case revision, child, wrap, ownWrap, childList, gone, leaving
}

/// A record as the server and the store hold it.
enum HeldRecord: Sendable {
    case control(ControlEntry)
    case revision(RevisionRecord)
    case child(ChildRecord)
    case wrap(WrapRecord)
    case ownWrap(OwnWrap)
    case childList(ChildList)
    /// The server says that the note's owner erased it.
    case gone
    /// The step by which a member left, and which is theirs: a device signed it that they had when it came.
    case leaving(ControlEntry)

    /// - Parameter isChecked: whether this device has checked the signature before, in these bytes.
    init(_ kind: RecordKind, decoding bytes: [UInt8], isChecked: Bool) throws {
        self =
            switch kind {
            case .control where isChecked: .control(try ControlEntry(uncheckedSignature: bytes))
            case .revision where isChecked: .revision(try RevisionRecord(uncheckedSignature: bytes))
            case .child where isChecked: .child(try ChildRecord(uncheckedSignature: bytes))
            case .wrap where isChecked: .wrap(try WrapRecord(uncheckedSignature: bytes))
            case .leaving where isChecked: .leaving(try ControlEntry(uncheckedSignature: bytes))
            case .control: .control(try ControlEntry(decoding: bytes))
            case .revision: .revision(try RevisionRecord(decoding: bytes))
            case .child: .child(try ChildRecord(decoding: bytes))
            case .wrap: .wrap(try WrapRecord(decoding: bytes))
            case .ownWrap: .ownWrap(try OwnWrap(decoding: bytes))
            case .childList: .childList(try ChildList(decoding: bytes))
            case .gone: .gone
            case .leaving: .leaving(try ControlEntry(decoding: bytes))
            }
    }

    /// Whether it ends with the signature of its author's device.
    var isSigned: Bool {
        switch self {
        case .control, .revision, .child, .wrap, .leaving: true
        case .ownWrap, .childList, .gone: false
        }
    }

    var kind: RecordKind {
        switch self {
        case .control: .control
        case .revision: .revision
        case .child: .child
        case .wrap: .wrap
        case .ownWrap: .ownWrap
        case .childList: .childList
        case .gone: .gone
        case .leaving: .leaving
        }
    }

    var encoded: [UInt8] {
        switch self {
        case .control(let entry): entry.encoded
        case .revision(let revision): revision.encoded
        case .child(let child): child.encoded
        case .wrap(let wrap): wrap.encoded
        case .ownWrap(let wrap): wrap.encoded
        case .childList(let list): list.encoded
        case .gone: []
        case .leaving(let entry): entry.encoded
        }
    }

    /// By which records of one kind are ordered.
    var number: UInt64 {
        switch self {
        case .control(let entry), .leaving(let entry): entry.number
        case .revision(let revision): revision.number
        case .wrap(let wrap): UInt64(wrap.header.epoch)
        case .ownWrap(let wrap): UInt64(wrap.epoch)
        case .child, .childList, .gone: 0
        }
    }
}

/// Something that waits to be sent.
struct OutboxItem: Sendable {
    let sequence: Int64
    let note: NoteID
    /// A control entry, a revision or a child.
    let record: HeldRecord
    /// With the entry that makes a note: its key for the own devices.
    let ownWrap: OwnWrap?
}

/// Everything that is held of one note, as it was received or made.
struct NoteFile: Sendable {
    let note: NoteID
    /// What was verified and accepted.
    var accepted = NoteRecords()
    /// What came and was not accepted, or not yet.
    var incoming = NoteRecords()
    var wraps: [WrapRecord] = []
    var ownWraps: [OwnWrap] = []
    var childLists: [ChildList] = []
    /// Whether some of what came was dropped, since it was too much.
    var isOverfull = false
    var outbox: [OutboxItem] = []
    /// The steps by which members left, as far as they are theirs.
    var leavings: [ControlEntry] = []
    /// Whether the server says that the note was erased.
    var isGone = false

    init(note: NoteID) { self.note = note }

    mutating func add(_ record: HeldRecord, isAccepted: Bool) {
        switch record {
        case .wrap(let wrap): wraps.append(wrap)
        case .ownWrap(let wrap): ownWraps.append(wrap)
        case .childList(let list): childLists.append(list)
        case .gone: isGone = true
        case .leaving(let entry): leavings.append(entry)
        default: if isAccepted { accepted.add(record) } else { incoming.add(record) }
        }
    }

    /// The entry that makes the note and waits to be sent, if it does.
    var pendingCreation: ControlEntry? {
        for item in outbox { if case .control(let entry) = item.record { return entry } }
        return nil
    }

    var pendingRevisions: [RevisionRecord] {
        outbox.compactMap { if case .revision(let revision) = $0.record { revision } else { nil } }
    }

    var pendingChildren: [ChildRecord] {
        outbox.compactMap { if case .child(let child) = $0.record { child } else { nil } }
    }
}

/// The parts of a note that are judged.
struct NoteRecords: Sendable {
    var control: [ControlEntry] = []
    var revisions: [RevisionRecord] = []
    var children: [ChildRecord] = []

    mutating func add(_ record: HeldRecord) {
        switch record {
        case .control(let entry): control.append(entry)
        case .revision(let revision): revisions.append(revision)
        case .child(let child): children.append(child)
        case .wrap, .ownWrap, .childList, .gone, .leaving: break
        }
    }

    var isEmpty: Bool { control.isEmpty && revisions.isEmpty && children.isEmpty }

    /// What a client that has accepted these remembers; nil if there are none.
    var controlView: ControlView? { control.last.map { ControlView(number: $0.number, head: $0.hash) } }

    /// The same of the revisions.
    var revisionView: RevisionView? { revisions.last.map { RevisionView(number: $0.number, head: $0.hash) } }

    /// These with what came later. Where two records have one number the later ones are taken from there on, so that a fork
    /// is judged, and not overlooked.
    func joined(with news: NoteRecords) -> NoteRecords {
        NoteRecords(
            control: Self.joined(control, news.control, by: \.number),
            revisions: Self.joined(revisions, news.revisions, by: \.number),
            children: children + news.children)
    }

    private static func joined<Record>(
        _ known: [Record], _ news: [Record], by number: KeyPath<Record, UInt64>
    ) -> [Record] {
        guard let first = news.first?[keyPath: number] else { return known }
        return known.prefix { $0[keyPath: number] < first } + news
    }
}
