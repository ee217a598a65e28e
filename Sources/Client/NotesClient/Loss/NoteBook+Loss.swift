// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SealedNotes
public import SignetClient

/// A server that lost something, because it was restored from a backup, cannot be told from one that hides it. A device therefore
/// refuses it until its user, who asked the operator, accepts the loss. Then it begins with what the server has, as a new device
/// would, and brings again what it had itself.
extension NoteBook {
    /// Syncs, and says whether the server lacks something that it had before.
    ///
    /// - Throws: ``NotesError``: the sync failed for another reason.
    public func isMissingSomething() async throws(NotesError) -> Bool {
        do throws(NotesError) { _ = try await sync() } catch {
            switch error {
            case .serverWentBack, .accountHead: return true
            default: throw error
            }
        }
        return !heads.withheld.isEmpty || logged.doubts.values.contains(where: \.isOfLoss)
    }

    /// Begins in an empty file with what the server has, and brings this book's notes again: first what takes rights away, which is
    /// sent at once; then what was written, which the next ``sync()`` of the new book sends.
    ///
    /// This book and its file stay as they are. Until its file is replaced by the new one, all of this can be repeated.
    ///
    /// - Parameter store: an empty file.
    /// - Throws: ``NotesError``; ``NotesError/removalIsLost(_:owner:)``: another person's note shows somebody whom that person had removed.
    ///
    /// Security: call it only if the user has asked the operator. The server decides which earlier state it shows. Whoever was removed
    /// is removed again before anything is sealed; where only another person can do that, nothing is sealed at all.
    public func startOver(in store: NotesStore) async throws(NotesError) -> AcceptedLoss {
        let (keys, removals, devices) = try read { tables in
            (try tables.accountKeys(), try tables.removals(), try tables.ownDevices())
        }
        try BookStore(store, secrets).write { tables in
            for key in keys { try tables.keep(key) }
            for removal in removals { try tables.set(removal) }
            try tables.set(ownDevices: devices)
        }
        let new = try await NoteBook(
            client, secrets: secrets, store: store, in: surroundings, isUnlocking: false, headsInLog: headsInLog,
            bounds: news.bounds)
        return try await new.bringAgain(opened)
    }

    private func bringAgain(_ before: NotesInMemory) async throws(NotesError) -> AcceptedLoss {
        try await settleAccountKey()
        try await pull()
        var done = AcceptedLoss()
        let lost = before.held.values.sorted { $0.note < $1.note }
        for note in lost { try await takeRightsAway(note, &done) }
        try requireRemovals(lost)
        _ = try await sync()
        for note in lost { try write(again: note, &done) }
        done.closedCount += before.locks.count
        return done
    }

    // MARK: Rights

    /// Repeats what the server forgot of a note's log and what this account alone may do: the note's end, and members who were
    /// removed. What was decided after the last common entry stands.
    private func takeRightsAway(_ lost: HeldNote, _ done: inout AcceptedLoss) async throws(NotesError) {
        guard let now = held[lost.note], now.role(of: author.handle) != nil, !now.control.state.isDeleted,
            let fork = ControlFork(of: now.control, from: lost.control)
        else { return }
        let (note, was, isOwner) = (lost.note, lost.control.state, now.control.state.owner == author.handle)
        if was.isDeleted {
            guard isOwner else { return }
            try await delete(note)
            done.ended.insert(note)
        } else if !isOwner {
            guard lost.departed.contains(author.handle), !fork.isDecided(author.handle) else { return }
            try await leave(note)
            done.ended.insert(note)
        } else {
            for (handle, role) in now.control.state.members.sorted(by: { $0.key.description < $1.key.description }) {
                if let kept = was.role(of: handle), kept >= role, !lost.departed.contains(handle) { continue }
                guard !fork.isDecided(handle) else { continue }
                try await unshare(note, from: handle)
                done.removed[note, default: []].insert(handle)
            }
            guard was.owner != author.handle, held[note]?.control.state.members[was.owner] != nil else { return }
            try await transfer(note, to: was.owner)
            done.ended.insert(note)
        }
    }

    /// Refuses to go on while the server shows somebody as a member of another person's note whom that person had removed: what is written there
    /// from then on would be sealed for them. Only the owner can remove them again.
    private func requireRemovals(_ lost: [HeldNote]) throws(NotesError) {
        for before in lost where before.role(of: author.handle) != nil {
            guard let now = held[before.note], now.control.state.owner != author.handle,
                now.role(of: author.handle) != nil, !now.control.state.isDeleted,
                let fork = ControlFork(of: now.control, from: before.control)
            else { continue }
            let isShownToFormerMember = now.control.state.members.keys.contains { handle in
                before.role(of: handle) == nil && !fork.isDecided(handle)
            }
            guard !isShownToFormerMember else {
                throw .removalIsLost(before.note, owner: now.control.state.owner)
            }
        }
    }

    // MARK: What was written

    private func write(again lost: HeldNote, _ done: inout AcceptedLoss) throws(NotesError) {
        // What was taken from this account, or what it ended, is not written again.
        guard !lost.control.state.isDeleted, lost.role(of: author.handle) != nil else { return }
        guard case .success(let document)? = lost.document else {
            done.closedCount += 1
            return
        }
        guard let now = held[lost.note] else { return try remake(lost, document, &done) }
        guard !now.control.state.isDeleted, now.role(of: author.handle) != nil,
            case .success(let theirs)? = now.document
        else {
            // The note goes on without this account: nothing of it was lost.
            if !now.control.holds(lost.control) { try remake(lost, document, &done) }
            return
        }
        noteUnshared(lost, as: lost.note, now, &done)
        if !document.says(theirs), !now.has(lost.revisions) {
            if !now.hasNothingNewer(than: lost) {
                done.copies[lost.note] = try copy(document, of: lost.note, conflictOf: lost.note)
            } else if now.role(of: author.handle) == .writer {
                try edit(lost.note) { $0 = document }
                done.rewritten.insert(lost.note)
                let names = document.attachments.filter { !theirs.attachments.contains($0) }.map(\.name)
                if !names.isEmpty { done.files[lost.note] = names }
            } else {
                try remake(lost, document, &done)
            }
        }
        let (before, here) = (NoteFacts(lost, for: author.handle), NoteFacts(now, for: author.handle))
        let said = Set(here.comments.filter { $0.author == author.handle }.map(\.text))
        for comment in before.comments where comment.author == author.handle && !said.contains(comment.text) {
            try self.comment(comment.text, on: lost.note)
        }
        try star(lost.note, isSet: before.stars.contains(author.handle))
    }

    /// Makes a note of the user's own of one that the server does not have for this account.
    private func remake(
        _ lost: HeldNote, _ document: NoteDocument, _ done: inout AcceptedLoss
    ) throws(NotesError) {
        // Another device of the account has made it.
        guard !held.values.contains(where: { $0.isRemade(of: lost.note, by: author.handle) }) else { return }
        let note = try copy(document, of: lost.note)
        done.remade[lost.note] = note
        if !document.attachments.isEmpty { done.files[note] = document.attachments.map(\.name) }
        let before = NoteFacts(lost, for: author.handle)
        for comment in before.comments {
            let name = comment.author == author.handle ? [] : Array("\(comment.author): ".utf8)
            let text = name + comment.text
            if text.count <= ChildContent.maximumTextByteCount { try self.comment(text, on: note) }
        }
        if before.stars.contains(author.handle) { try star(note) }
        if lost.control.state.owner == author.handle { noteUnshared(lost, as: note, nil, &done) }
    }

    /// A tag says of which note it is, so that no other device of the account makes it again.
    private func copy(
        _ document: NoteDocument, of lost: NoteID, conflictOf other: NoteID? = nil
    ) throws(NotesError) -> NoteID {
        var copy = document
        (copy.attachments, copy.conflictOf) = ([], other ?? document.conflictOf)
        if !copy.tags.contains(lost.tag), copy.tags.count < NoteDocument.maximumCount { copy.tags.append(lost.tag) }
        return try create(copy)
    }

    /// Notes down who had a note of the user's own and does not have it now, or less of it.
    private func noteUnshared(_ lost: HeldNote, as note: NoteID, _ now: HeldNote?, _ done: inout AcceptedLoss) {
        guard (now ?? lost).control.state.owner == author.handle else { return }
        let missing = lost.control.state.members.filter { handle, role in
            !lost.departed.contains(handle) && (now?.role(of: handle)).map { $0 < role } ?? true
        }
        if !missing.isEmpty { done.unshared[note] = missing }
    }
}

extension HeadDoubt {
    /// Whether the server's notes and its log are of different times.
    fileprivate var isOfLoss: Bool {
        switch self {
        case .kept, .unlogged: true
        case .noRoot, .root, .noHead, .head: false
        }
    }
}

/// A note's log at the server, beside one with entries that the server lost.
private struct ControlFork {
    /// What the server's log says after the last common entry.
    private let news: ArraySlice<ControlEntry>

    /// nil if the server lost nothing of the log.
    init?(of now: VerifiedControl, from lost: VerifiedControl) {
        let end = now.entries.lastIndex { lost.moment(after: $0.hash) != nil }
        guard let end, now.entries[end].hash != lost.state.head else { return nil }
        news = now.entries[(end + 1)...]
    }

    /// Whether somebody was made a member since.
    func isDecided(_ handle: Handle) -> Bool {
        news.contains {
            switch $0.action {
            case .share(let member, _), .transfer(let member): member == handle
            default: false
            }
        }
    }
}

extension HeldNote {
    fileprivate func has(_ others: VerifiedRevisions) -> Bool {
        guard let head = others.head?.record else { return true }
        return revisions.holds(RevisionView(number: head.number, head: head.hash))
    }

    /// Whether it is a note of this account that has the text of another one.
    fileprivate func isRemade(of lost: NoteID, by owner: Handle) -> Bool {
        guard control.state.owner == owner, !control.state.isDeleted, case .success(let document)? = document else {
            return false
        }
        return document.tags.contains(lost.tag)
    }

    /// Whether every revision that the other does not have says what the last common one says: a new key seals the last one again.
    fileprivate func hasNothingNewer(than other: HeldNote) -> Bool {
        let known = Set(other.revisions.revisions.map(\.record.hash))
        let common = revisions.revisions.last { known.contains($0.record.hash) }
        let before = common.flatMap { try? opened($0) }
        return revisions.revisions.drop { known.contains($0.record.hash) }.allSatisfy { revision in
            guard let before, let document = try? opened(revision) else { return false }
            return document.says(before)
        }
    }
}

extension NoteDocument {
    /// Whether the two differ in nothing but the time of the change.
    fileprivate func says(_ other: NoteDocument) -> Bool {
        var copy = self
        copy.modified = other.modified
        return copy == other
    }
}

extension VerifiedControl {
    fileprivate func holds(_ other: VerifiedControl) -> Bool {
        holds(ControlView(number: other.state.number, head: other.state.head))
    }
}
