// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog
import NotesAPI
import SealedNotes
import SignetClient

/// Steps of the control log. Each step is one push, which the server applies as a whole or not at all. This device
/// stores nothing of it before the server has it, so that an interruption leaves either the old state or the new one.
extension NoteBook {
    /// Shares a note with a person, in a role; this also makes a reader a writer.
    ///
    /// If no change is pending, nothing is new, and no newer root is being logged, this takes three rounds of requests:
    /// the lookup of the person together with the pull; if the note is shared already, the state of the note in the
    /// log; and the step. The next ``sync()`` signs the account's head.
    ///
    /// - Parameter withHistory: whether the person also gets the keys of earlier epochs, as far back as this device has
    ///   them without a gap, and so can read revisions and comments from before the last key. A member who has read
    ///   those cannot be made to forget them. The person's program has to be as new as this one.
    /// - Throws: ``NotesError``: ``NotesError/stranger(_:)`` for people the user has not chosen; ``NotesError/notAccepted(by:)``;
    ///   ``NotesError/locked(_:)``: the history was requested, and this device cannot open it.
    public func share(
        _ note: NoteID, with handle: Handle, as role: NoteRole, withHistory: Bool = false
    ) async throws(NotesError) {
        do { try await shareOnce(note, with: handle, as: role, withHistory: withHistory) } catch {
            // The step follows the rules, or it would not exist: the server refuses it because the two did not accept
            // each other.
            throw error == .refused(.forbidden) ? .notAccepted(by: handle) : error
        }
    }

    private func shareOnce(
        _ note: NoteID, with handle: Handle, as role: NoteRole, withHistory: Bool
    ) async throws(NotesError) {
        forgetPeople()
        let client = client
        async let answer = client.answer(about: handle)
        try await pull()
        let recipients = try await people.newRecipients(handle, in: answer)
        let checkpoint = await ownCheckpoint()
        try await step(note, isPulled: true) { held throws(NotesError) in
            let before = held.control.state.members[handle]
            // The server also acts on a leave that this device could not verify: sharing again is then the way back.
            let isAgain = held.control.state.departed.contains(handle)
            guard handle != held.control.state.owner, before.map({ isAgain ? $0 <= role : $0 < role }) ?? true else {
                throw .memberAlready(handle)
            }
            let (entry, state) = try self.entry(.share(handle, role), after: held)
            let key = try self.currentKey(of: held)
            let older = withHistory ? try held.olderKeys : []
            let wraps = try self.wraps(of: key, to: recipients, and: checkpoint, older: older, state)
            return (ControlPush(entry: entry, wraps: wraps), [])
        }
    }

    /// Removes a member from a note. The note gets another key, under which its last revision is sealed again.
    ///
    /// What the member has read cannot be taken back. Comments and stars that this device does not believe are left out
    /// for all members, and named in ``NoteFacts/leftOut``.
    ///
    /// - Throws: ``NotesError``.
    public func unshare(_ note: NoteID, from handle: Handle) async throws(NotesError) {
        try await rekey(note, without: handle)
    }

    /// Gives a note another key, known to the same people. Use it after one of them lost a device. Comments and stars
    /// that this device does not believe are left out, as by ``unshare(_:from:)``.
    ///
    /// - Throws: ``NotesError``.
    public func rekey(_ note: NoteID) async throws(NotesError) { try await rekey(note, without: nil) }

    /// Makes a member the owner. The previous owner stays as a writer.
    ///
    /// - Throws: ``NotesError``.
    public func transfer(_ note: NoteID, to handle: Handle) async throws(NotesError) {
        try await step(note) { held throws(NotesError) in
            guard held.control.state.members[handle] != nil else { throw .notAMember(handle) }
            return (ControlPush(entry: try self.entry(.transfer(handle), after: held).entry), [])
        }
    }

    /// Deletes a note for all members.
    ///
    /// - Throws: ``NotesError``.
    public func delete(_ note: NoteID) async throws(NotesError) {
        try await step(note) { held throws(NotesError) in
            (ControlPush(entry: try self.entry(.delete, after: held).entry), [])
        }
    }

    /// States to all members that the user left another person's note: the server no longer shows this account anything
    /// of it, and the owner's next sync removes the user. What was read stays here.
    ///
    /// - Throws: ``NotesError``: ``NotesError/ownersStay``.
    public func leave(_ note: NoteID) async throws(NotesError) {
        try await step(note, isSealing: false) { held throws(NotesError) in
            let entry = try self.entry(.leave, after: held).entry
            return (ControlPush(entry: entry), [.leaving(entry)])
        }
    }

    // MARK: One step

    func rekey(_ note: NoteID, without removed: Handle?) async throws(NotesError) {
        forgetPeople()
        try await settleAccountKey()
        var known: [Handle: [WrapRecipient]] = [:]
        for handle in try heldNote(note).control.state.members.keys where handle != removed {
            known[handle] = try await people.recipients(handle)
        }
        let checkpoint = await ownCheckpoint()
        try spare(note)
        defer { news.spared = nil }
        try await step(note) { held throws(NotesError) in
            try self.rekeying(held, without: removed, to: known, and: checkpoint)
        }
    }

    private func rekeying(
        _ held: HeldNote, without removed: Handle?, to known: [Handle: [WrapRecipient]], and checkpoint: [UInt8]
    ) throws(NotesError) -> (ControlPush, [HeldRecord]) {
        let before = held.control.state
        if let removed, before.members[removed] == nil { throw .notAMember(removed) }
        let rest = before.members.keys.filter { $0 != removed }
        // A member joined meanwhile: the caller tries again, and asks for their keys too.
        guard rest.allSatisfy({ known[$0] != nil }) else { throw .keepsMoving }
        // The server requires the step to name the last revision, and this device would vouch for it by doing so.
        guard try file(of: held.note).unbelievedRevisions.isEmpty else { throw .locked(held.fault ?? .waiting) }
        let (epoch, overflow) = before.epoch.addingReportingOverflow(1)
        guard !overflow, let account else { throw .noAccountKey }
        let key = NoteKey.generate(note: held.note, epoch: epoch)
        let file = try file(of: held.note)
        // Without the list of the last rekeying this device cannot tell which of the older ones count.
        guard before.closings.isEmpty || file.closedChildren(held.control) != nil else {
            throw .locked(.child(.wrongList))
        }
        let children = ChildList(held.children.map(\.record.record.hash))
        let others = (file.accepted.children + file.incoming.children).filter { !children.children.contains($0.hash) }
        let rekeying = Rekeying(
            epoch: epoch, keyCommitment: key.commitment, revisionHead: held.revisions.head?.record.hash ?? .none,
            children: children.hash,
            members: removed.map { before.memberHash(without: $0) } ?? before.memberHash)
        let (entry, state) = try entry(removed.map { .unshare($0, rekeying) } ?? .rekey(rekeying), after: held)
        do throws(SealedNoteError) {
            let own = try OwnWrap(key, under: account)
            let revision = try held.revisions.head.map { head throws(SealedNoteError) in
                try key.seal(
                    try held.opened(head), after: head, state: state, author: author, with: secrets.sign)
            }
            let wraps = try seal(key, to: rest.flatMap { known[$0] ?? [] }, and: checkpoint, state)
            let push = ControlPush(
                entry: entry, wraps: wraps, ownWrap: own.encoded, revision: revision, children: children,
                leftOut: ChildList(others.map(\.hash)))
            return (
                push,
                [.ownWrap(own), .childList(children)] + (revision.map { [.revision($0)] } ?? [])
                    + others.map { .child($0) }
            )
        } catch { throw .sealed(error) }
    }

    /// Makes a step on the note's current state, sends it, and tries again if the note has changed.
    ///
    /// - Parameters:
    ///   - isPulled: whether what is new was fetched just now.
    ///   - isSealing: whether this is a step of the owner, which gives or takes a key. It is false for a member who
    ///     leaves: neither a doubt nor a pending change holds them back.
    ///   - make: makes the step, and what the store keeps of it besides its entry.
    private func step(
        _ note: NoteID, isPulled: Bool = false, isSealing: Bool = true,
        _ make: (HeldNote) throws(NotesError) -> (ControlPush, [HeldRecord])
    ) async throws(NotesError) {
        for attempt in 0..<8 {
            if attempt > 0 || !isPulled { try await pull() }
            _ = try await push()
            let held = try heldNote(note)
            if isSealing {
                try checkOwns(held)
                if let doubt = try await doubt(about: note) { throw .doubted(doubt) }
                // Pending changes block this step, which would not cover them.
                guard !held.isPending else { throw .keepsMoving }
            } else {
                try checkMayLeave(held)
            }
            let (push, more) = try make(held)
            if try await isApplied(.control(push)) { return try accept(push, more) }
        }
        throw .keepsMoving
    }

    private func accept(_ push: ControlPush, _ more: [HeldRecord]) throws(NotesError) {
        let entry = push.entry
        try write { tables in
            try tables.keep(.control(entry), of: entry.note, isAccepted: true)
            for record in more {
                if case .child(let child) = record, push.leftOut.children.contains(child.hash) {
                    try tables.settle(record, of: entry.note)
                    continue
                }
                try tables.keep(record, of: entry.note, isAccepted: true)
            }
        }
        try load(entry.note)
    }

    private func entry(
        _ action: ControlAction, after held: HeldNote
    ) throws(NotesError) -> (entry: ControlEntry, state: ControlState) {
        let before = held.control.state
        let (number, overflow) = before.number.addingReportingOverflow(1)
        guard !overflow else { throw .keepsMoving }
        let entry = try record { () throws(NoteRecordError) in
            try ControlEntry(
                note: held.note, number: number, previous: before.head, time: surroundings.now(), author: author,
                action: action, with: secrets.sign)
        }
        do { return (entry, try before.applying(entry)) } catch { throw .locked(.control(error)) }
    }

    private func wraps(
        of key: NoteKey, to recipients: [WrapRecipient], and checkpoint: [UInt8], older: [NoteKey],
        _ state: ControlState
    ) throws(NotesError) -> [WrapRecord] {
        do { return try seal(key, to: recipients, and: checkpoint, older: older, state) } catch { throw .sealed(error) }
    }

    private func seal(
        _ key: NoteKey, to recipients: [WrapRecipient], and checkpoint: [UInt8], older: [NoteKey] = [],
        _ state: ControlState
    ) throws(SealedNoteError) -> [WrapRecord] {
        try recipients.map { recipient throws(SealedNoteError) in
            try key.wrap(
                to: recipient, and: checkpoint, older: older, state: state, sender: author, with: secrets.sign)
        }
    }
}

extension HeldNote {
    /// The keys of the epochs directly before, the oldest first, as far back as this device has them without a gap;
    /// empty in the first epoch.
    fileprivate var olderKeys: [NoteKey] {
        get throws(NotesError) {
            let epochs = 1..<control.state.epoch
            let run = epochs.reversed().prefix { keys[$0] != nil }.prefix(WrapRecord.maximumOlderKeyCount)
            guard let last = epochs.last, run.isEmpty else { return run.reversed().compactMap { keys[$0] } }
            throw .locked(.noKey(epoch: last))
        }
    }

    func opened(_ revision: VerifiedRevision) throws(SealedNoteError) -> NoteDocument {
        guard let key = keys[revision.record.epoch] else { throw .anotherKey }
        return try key.open(revision)
    }
}
