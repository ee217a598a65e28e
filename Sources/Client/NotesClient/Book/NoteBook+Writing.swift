// SPDX-License-Identifier: Apache-2.0

public import NoteLog
public import SealedNotes
import SignetClient

extension NoteBook {
    /// Makes a note. When this returns, the note is sealed on the disk; the next ``sync()`` sends it.
    ///
    /// - Parameter created: when the note was begun, in seconds since 1970, if that was before now.
    /// - Throws: ``NotesError``; ``NotesError/noAccountKey`` before the first ``sync()`` of this device.
    @discardableResult
    public func create(
        title: [UInt8], body: [UInt8], tags: [[UInt8]] = [], created: UInt64? = nil
    ) throws(NotesError) -> NoteID {
        let now = surroundings.now()
        return try create(
            NoteDocument(title: title, body: body, tags: tags, created: min(created ?? now, now), modified: now))
    }

    /// Makes a note of a whole document.
    ///
    /// - Throws: ``NotesError``.
    @discardableResult
    public func create(_ document: NoteDocument) throws(NotesError) -> NoteID {
        let draft = try draft(of: document)
        try outbox.add(draft)
        try load(draft.note)
        return draft.note
    }

    /// Changes a note. If nothing is different, nothing is sent.
    ///
    /// - Throws: ``NotesError``.
    public func edit(_ note: NoteID, _ change: (inout NoteDocument) -> Void) throws(NotesError) {
        let held = try heldNote(note)
        let before = try content(of: held)
        try checkMayWrite(held)
        var document = before
        change(&document)
        guard document != before else { return }
        document.modified = surroundings.now()
        let revision = try seal(document, into: held)
        try outbox.add(.revision(revision), of: note)
        try load(note)
    }

    /// Comments on a note.
    ///
    /// - Parameter text: UTF-8, at most `ChildContent.maximumTextByteCount` bytes.
    /// - Throws: ``NotesError``.
    public func comment(_ text: [UInt8], on note: NoteID) throws(NotesError) {
        try add(.comment(text: text, time: surroundings.now()), to: note)
    }

    /// Stars a note, or takes the star back.
    ///
    /// - Throws: ``NotesError``.
    public func star(_ note: NoteID, isSet: Bool = true) throws(NotesError) {
        let held = try heldNote(note)
        guard held.stars.contains(author.handle) != isSet else { return }
        try add(.star(isSet: isSet, counter: held.nextStarCounter(of: author.handle)), to: note)
    }

    private func add(_ content: ChildContent, to note: NoteID) throws(NotesError) {
        let held = try heldNote(note)
        guard held.role(of: author.handle) != nil, !held.control.state.isDeleted else { throw .isGone }
        let child = try seal(content, as: try freshName(), into: held)
        try outbox.add(.child(child), of: note)
        try load(note)
    }

    // MARK: Sealing

    func draft(of document: NoteDocument) throws(NotesError) -> DraftedNote {
        guard let account else { throw .noAccountKey }
        let note = try freshName()
        let key = NoteKey.generate(note: note, epoch: 1)
        let entry = try record { () throws(NoteRecordError) in
            try ControlEntry(
                note: note, number: 1, previous: .none, time: surroundings.now(), author: author,
                action: .create(keyCommitment: key.commitment), with: secrets.sign)
        }
        do throws(SealedNoteError) {
            let state = try Self.state(after: entry)
            return DraftedNote(
                note: note, entry: entry, ownWrap: try OwnWrap(key, under: account),
                revision: try key.seal(document, after: nil, state: state, author: author, with: secrets.sign))
        } catch { throw .sealed(error) }
    }

    private static func state(after entry: ControlEntry) throws(SealedNoteError) -> ControlState {
        // An entry of number 1 that creates is a beginning.
        do { return try ControlState(first: entry) } catch { throw .notOfThisNote }
    }

    func seal(_ document: NoteDocument, into held: HeldNote) throws(NotesError) -> RevisionRecord {
        try seal(document, into: held, after: held.revisions.head)
    }

    func seal(
        _ document: NoteDocument, into held: HeldNote, after head: VerifiedRevision?
    ) throws(NotesError) -> RevisionRecord {
        let key = try currentKey(of: held)
        do {
            return try key.seal(
                document, after: head, state: held.control.state, author: author, with: secrets.sign)
        } catch { throw .sealed(error) }
    }

    func seal(_ content: ChildContent, as child: NoteID, into held: HeldNote) throws(NotesError) -> ChildRecord {
        let key = try currentKey(of: held)
        do {
            return try key.seal(content, as: child, state: held.control.state, author: author, with: secrets.sign)
        } catch { throw .sealed(error) }
    }

    func currentKey(of held: HeldNote) throws(NotesError) -> NoteKey {
        guard let key = held.currentKey else { throw .locked(.noKey(epoch: held.control.state.epoch)) }
        return key
    }

    func record<Record>(_ make: () throws(NoteRecordError) -> Record) throws(NotesError) -> Record {
        do { return try make() } catch { throw .sealed(.record(error)) }
    }

    // MARK: Rights

    func content(of held: HeldNote) throws(NotesError) -> NoteDocument {
        switch held.document {
        case .success(let document): return document
        case .failure(let lock): throw .locked(lock)
        case nil: throw .locked(.noKey(epoch: held.control.state.epoch))
        }
    }

    func checkMayWrite(_ held: HeldNote) throws(NotesError) {
        guard !held.control.state.isDeleted, let role = held.role(of: author.handle) else { throw .isGone }
        guard role == .writer else { throw .mayNotWrite }
    }

    func checkMayLeave(_ held: HeldNote) throws(NotesError) {
        guard !held.control.state.isDeleted, held.role(of: author.handle) != nil else { throw .isGone }
        guard held.control.state.owner != author.handle else { throw .ownersStay }
    }

    func checkOwns(_ held: HeldNote) throws(NotesError) {
        guard !held.control.state.isDeleted, held.role(of: author.handle) != nil else { throw .isGone }
        guard held.control.state.owner == author.handle else { throw .onlyOwner(held.control.state.owner) }
    }
}
