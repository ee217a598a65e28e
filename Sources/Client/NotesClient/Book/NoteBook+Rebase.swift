// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SealedNotes
import SignetClient

/// Pending changes may be based on a stale head. They are then opened by the log on which they were made, merged with
/// what came, and sealed again. All of this is one transaction, so that a crash leaves either the old state or the new
/// one.
extension NoteBook {
    /// Rebases the pending changes on the note's current state.
    ///
    /// - Returns: whether anything changed in the store.
    func rebase(_ file: NoteFile) throws(NotesError) -> Bool {
        guard try !dropWhatArrived(file) else { return true }
        guard file.isStale else { return false }
        var bare = file
        bare.outbox = []
        let opened: HeldNote?
        do throws(NoteLock) { opened = try opener.open(bare) } catch { return false }
        guard let held = opened else { return false }
        let work: PendingWork
        // A change that cannot be opened stays as it is until its key comes.
        do throws(NoteLock) { work = try opener.pendingWork(of: file) } catch { return false }
        guard let result = try joined(work, with: held) else { return false }
        let records = result.children.map { HeldRecord.child($0) }
        try outbox.replace(
            file.outbox, of: file.note, with: (result.revision.map { [.revision($0)] } ?? []) + records,
            and: result.copy)
        if let copy = result.copy { try load(copy.note) }
        return true
    }

    /// A push whose answer was lost may have come back in the feed.
    private func dropWhatArrived(_ file: NoteFile) throws(NotesError) -> Bool {
        let arrived = file.arrivedItems
        guard !arrived.isEmpty else { return false }
        try outbox.remove(arrived)
        _ = try rebase(self.file(of: file.note))
        return true
    }

    private struct Joined {
        var revision: RevisionRecord?
        var children: [ChildRecord] = []
        var copy: DraftedNote?
    }

    /// Returns nil if a key is missing, so that every change has to wait.
    private func joined(_ work: PendingWork, with held: HeldNote) throws(NotesError) -> Joined? {
        var result = Joined()
        let state = held.control.state
        let role = state.isDeleted ? nil : held.role(of: author.handle)
        guard role == nil || held.currentKey != nil else { return nil }
        if let mine = work.mine {
            switch try decision(mine, work.base, held, mayWrite: role == .writer) {
            case nil: return nil
            case .unchanged: break
            case .merged(let document): result.revision = try seal(document, into: held)
            case .copy(let copy): result.copy = try draft(of: copy)
            }
        }
        // A comment cannot be sent to a note that is no longer shared with the user.
        for child in role == nil ? [] : work.children {
            result.children.append(try seal(child.content, as: child.name, into: held))
        }
        return result
    }

    private enum Decision {
        case unchanged
        case merged(NoteDocument)
        case copy(NoteDocument)
    }

    /// A change survives a deletion or the loss of the right to write, as a note of the user's own.
    private func decision(
        _ mine: NoteDocument, _ base: NoteDocument?, _ held: HeldNote, mayWrite: Bool
    ) throws(NotesError) -> Decision? {
        guard mayWrite else {
            var copy = mine
            copy.conflictOf = held.note
            return .copy(copy)
        }
        guard case .success(let theirs)? = held.document else { return held.document == nil ? .merged(mine) : nil }
        if mine == theirs { return .unchanged }
        let empty = NoteDocument(title: [], body: [], created: theirs.created, modified: 0)
        switch DocumentMerge.merge(base: base ?? empty, mine: mine, theirs: theirs, of: held.note) {
        case .merged(let document): return document == theirs ? .unchanged : .merged(document)
        case .conflict(let copy): return .copy(copy)
        }
    }
}

/// The pending changes of a note, opened.
struct PendingWork {
    /// The contents before the change; nil if there were none.
    var base: NoteDocument?
    /// The contents after the change; nil if no revision is pending.
    var mine: NoteDocument?
    var children: [(name: NoteID, content: ChildContent)] = []
}

extension NoteOpener {
    /// Opens the pending changes, each by the log on which it was made.
    func pendingWork(of file: NoteFile) throws(NoteLock) -> PendingWork {
        var work = PendingWork()
        if let first = file.pendingRevisions.first, let last = file.pendingRevisions.last {
            let control = try control(of: file, at: last.control)
            let before = file.accepted.revisions.prefix { $0.number < first.number }
            let revisions = try verified(Array(before) + file.pendingRevisions, control)
            let keys = keys(of: file, control)
            work.mine = try revisions.head.map { revision throws(NoteLock) in try open(revision, keys) }
            work.base = try revisions.revisions.dropLast(file.pendingRevisions.count).last.map {
                revision throws(NoteLock) in try open(revision, keys)
            }
        }
        for child in file.pendingChildren {
            let control = try control(of: file, at: child.control)
            let content = try open(child, file, control)
            work.children.append((child.child, content))
        }
        return work
    }

    private func control(of file: NoteFile, at head: RecordHash) throws(NoteLock) -> VerifiedControl {
        let entries = file.accepted.control
        guard let end = entries.firstIndex(where: { $0.hash == head }) else { throw .control(.noBeginning) }
        return try verified(Array(entries[...end]), file.note, upTo: entries[end])
    }

    private func open(
        _ revision: VerifiedRevision, _ keys: [UInt32: NoteKey]
    ) throws(NoteLock) -> NoteDocument {
        guard let key = keys[revision.record.epoch] else { throw .noKey(epoch: revision.record.epoch) }
        do { return try key.open(revision) } catch { throw .sealed(error) }
    }

    private func open(
        _ child: ChildRecord, _ file: NoteFile, _ control: VerifiedControl
    ) throws(NoteLock) -> ChildContent {
        let verified: VerifiedChild
        do {
            verified = try ChildVerifier.verify(
                child, control: control, closed: nil, authors: KnownAuthors([]), accepted: true)
        } catch { throw .child(error) }
        guard let key = keys(of: file, control)[child.epoch] else { throw .noKey(epoch: child.epoch) }
        do { return try key.open(verified) } catch { throw .sealed(error) }
    }
}
