// SPDX-License-Identifier: Apache-2.0

import NoteLog
import NotesAPI
import SealedNotes

/// The records that wait to be sent, in the order in which they were made. The server's answer to each removes it. Each
/// change is one transaction on the file and changes nothing in memory, so the caller has to open the note again.
struct Outbox: Sendable {
    private let files: BookStore

    init(_ files: BookStore) { self.files = files }

    func add(_ record: HeldRecord, of note: NoteID) throws(NotesError) {
        try files.write { try $0.enqueue(record, of: note) }
    }

    func add(_ draft: DraftedNote) throws(NotesError) { try files.write { try draft.enqueue(in: $0) } }

    /// Replaces some waiting records in one transaction, so that a crash leaves either the old ones or the new ones.
    func replace(
        _ items: [OutboxItem], of note: NoteID, with records: [HeldRecord], and copy: DraftedNote?
    ) throws(NotesError) {
        try files.write { tables in
            for item in items { try tables.dequeue(item) }
            for record in records { try tables.enqueue(record, of: note) }
            try copy?.enqueue(in: tables)
        }
    }

    func remove(_ items: [OutboxItem]) throws(NotesError) {
        try files.write { tables in for item in items { try tables.dequeue(item) } }
    }

    /// The records that were made for their note's current state, the oldest first.
    func ready() throws(NotesError) -> [OutboxItem] {
        let all = try files.read { try $0.outbox() }
        var stale: Set<NoteID> = []
        for note in Set(all.map(\.note)) where try files.file(of: note).isStale { stale.insert(note) }
        return all.filter { !stale.contains($0.note) }
    }

    /// As many records as one request may carry, the oldest first.
    static func batch(_ items: [OutboxItem]) -> [OutboxItem] {
        var byteCount = 0
        let fitting = items.prefix { item in
            byteCount += item.record.encoded.count + 4096
            return byteCount < NoteRoute.push.maximumRequestByteCount
        }
        return Array(fitting.prefix(NotePushes.maximumCount))
    }

    /// Moves a record that the server has applied from the outbox to the accepted ones.
    func settle(_ item: OutboxItem) throws(NotesError) {
        try files.write { tables in
            let file = try tables.file(of: item.note)
            try tables.dequeue(item)
            // If it does not follow what is accepted here, the feed brings it again.
            guard file.follows(item.record) else { return }
            try tables.keep(item.record, of: item.note, isAccepted: true)
            if let wrap = item.ownWrap { try tables.keep(.ownWrap(wrap), of: item.note, isAccepted: true) }
        }
    }
}

/// A new note that is not in the store yet.
struct DraftedNote {
    let note: NoteID
    let entry: ControlEntry
    let ownWrap: OwnWrap
    let revision: RevisionRecord

    func enqueue(in tables: NotesTables) throws {
        try tables.enqueue(.control(entry), of: note, ownWrap: ownWrap)
        try tables.enqueue(.revision(revision), of: note)
    }
}

extension NoteFile {
    /// Whether a record that the server has applied directly follows the accepted ones.
    fileprivate func follows(_ record: HeldRecord) -> Bool {
        switch record {
        case .control(let entry):
            entry.number == UInt64(accepted.control.count) + 1
                && entry.previous == accepted.control.last?.hash ?? .none
        case .revision(let revision): revision.parent == accepted.revisionView?.head ?? .none
        case .child(let child): child.control == accepted.control.last?.hash
        case .wrap, .ownWrap, .childList, .gone, .leaving: false
        }
    }

    /// Whether a waiting record was made for an earlier state of the note.
    var isStale: Bool {
        guard !outbox.isEmpty, let head = accepted.control.last?.hash else { return false }
        let revisions = pendingRevisions
        let isBehind = revisions.first.map { $0.parent != accepted.revisionView?.head ?? .none } ?? false
        return isBehind || revisions.contains { $0.control != head } || pendingChildren.contains { $0.control != head }
    }

    /// The waiting records that are already accepted.
    var arrivedItems: [OutboxItem] {
        outbox.filter { item in
            switch item.record {
            case .control(let entry): accepted.control.contains { $0.hash == entry.hash }
            case .revision(let revision): accepted.revisions.contains { $0.hash == revision.hash }
            case .child(let child): accepted.children.contains { $0.hash == child.hash }
            case .wrap, .ownWrap, .childList, .gone, .leaving: false
            }
        }
    }
}

extension OutboxItem {
    var operation: PushOperation? {
        switch record {
        case .control(let entry): .control(ControlPush(entry: entry, ownWrap: ownWrap?.encoded))
        case .revision(let revision): .revision(revision)
        case .child(let child): .child(child)
        case .wrap, .ownWrap, .childList, .gone, .leaving: nil
        }
    }
}
