// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog
public import SealedNotes

/// A note on this device, verified, and opened as far as its keys allow. It is in memory only.
struct HeldNote: Sendable {
    let note: NoteID
    /// The control log. It includes the entry that makes the note if that entry is pending.
    let control: VerifiedControl
    /// The log up to the last entry at which this account was a member. Records are judged by it before they are read.
    let readable: VerifiedControl
    /// All revisions, with the pending ones last.
    let revisions: VerifiedRevisions
    /// How many of the revisions the server has.
    let sentRevisionCount: Int
    let children: [OpenedChild]
    /// The signer of each comment or star that came and that a rekeying does not name.
    let leftOut: [Author]
    /// The note's keys by epoch, as many as this device has.
    let keys: [UInt32: NoteKey]
    /// The contents of the last revision, or why it stays closed; nil before the first.
    let document: Result<NoteDocument, NoteLock>?
    /// Whether a change is pending.
    let isPending: Bool
    /// Why records that came for this note were not accepted; nil if nothing is wrong.
    let fault: NoteLock?
    /// The state of the note that the server has; nil while the note has not been sent.
    let sentHead: NoteHeads.Head?
    /// Members who left by their own verified statement and whom the owner has not removed yet.
    let departed: Set<Handle>

    /// A comment or star with its content, which is nil while it stays closed.
    struct OpenedChild: Sendable {
        let record: VerifiedChild
        let content: ChildContent?
        let isSent: Bool
    }

    func role(of handle: Handle) -> NoteRole? { departed.contains(handle) ? nil : control.state.role(of: handle) }

    /// The key under which the note is written now.
    var currentKey: NoteKey? { keys[control.state.epoch] }
}

/// The keys that open notes on this device.
struct NoteOpener: Sendable {
    let owner: Handle
    let device: DeviceAgreementKeys
    /// The account master keys by epoch. Those of earlier epochs open what was wrapped before a device was lost.
    let accounts: [UInt32: AccountMasterKey]

    /// Verifies the accepted records again, adds the pending ones, and opens the note.
    ///
    /// - Throws: ``NoteLock``: the records that this device stored do not hold.
    func open(_ whole: NoteFile, fault: NoteLock? = nil) throws(NoteLock) -> HeldNote? {
        var file = whole
        // Pending changes that were made for an earlier state and cannot be rebased yet are left out.
        if whole.isStale { file.outbox = [] }
        let entries =
            file.accepted.control + (file.accepted.control.isEmpty ? [file.pendingCreation].compactMap { $0 } : [])
        guard let last = entries.last else { return nil }
        let control = try verified(entries, file.note, upTo: last)
        let readable = try readable(control, entries, file.note)
        let revisions = try revisions(file, readable, entries, isLost: readable.state.head != control.state.head)
        let keys = keys(of: file, readable)
        let (children, leftOut) = children(file, readable, keys)
        return HeldNote(
            note: file.note, control: control, readable: readable, revisions: revisions,
            sentRevisionCount: file.accepted.revisions.count, children: children, leftOut: leftOut,
            keys: keys,
            document: revisions.head.map { document($0, keys, refusal(of: file, readable, keys)) },
            isPending: !whole.outbox.isEmpty,
            fault: fault ?? file.standingFault, sentHead: file.sentHead, departed: file.departed(control))
    }

    /// Of a note that was lost, the server may have shown the log only: then there is nothing to read.
    private func revisions(
        _ file: NoteFile, _ control: VerifiedControl, _ entries: [ControlEntry], isLost: Bool
    ) throws(NoteLock) -> VerifiedRevisions {
        do throws(NoteLock) {
            return try verified(file.accepted.revisions + file.pendingRevisions, control)
        } catch {
            guard isLost, file.accepted.revisions.isEmpty, let first = entries.first else { throw error }
            return try verified([], try verified([first], file.note, upTo: first))
        }
    }

    /// Verifies stored entries without the authors' keys, which were checked when the entries were accepted.
    func verified(
        _ entries: [ControlEntry], _ note: NoteID, upTo last: ControlEntry
    ) throws(NoteLock) -> VerifiedControl {
        let view = ControlView(number: last.number, head: last.hash)
        do {
            return try ControlVerifier.verify(entries, of: note, authors: KnownAuthors([]), knowing: view)
        } catch { throw .control(error) }
    }

    func verified(_ revisions: [RevisionRecord], _ control: VerifiedControl) throws(NoteLock) -> VerifiedRevisions {
        let view = revisions.last.map { RevisionView(number: $0.number, head: $0.hash) }
        do {
            return try RevisionVerifier.verify(
                revisions, control: control, authors: KnownAuthors([]), knowing: view)
        } catch { throw .revisions(error) }
    }

    /// A removed member keeps what they had. It is judged by the log up to the last entry at which they were a member.
    func readable(
        _ control: VerifiedControl, _ entries: [ControlEntry], _ note: NoteID
    ) throws(NoteLock) -> VerifiedControl {
        guard control.state.role(of: owner) == nil || control.state.isDeleted else { return control }
        let member = entries.lastIndex { entry in
            control.moment(after: entry.hash).map { !$0.isDeleted && control.role(of: owner, at: $0) != nil } ?? false
        }
        guard let member else { return control }
        return try verified(Array(entries[...member]), note, upTo: entries[member])
    }

    /// The keys that the wraps contain. A key is accepted only if the note's owner committed to it.
    func keys(of file: NoteFile, _ control: VerifiedControl) -> [UInt32: NoteKey] {
        var keys: [UInt32: NoteKey] = [:]
        let ownWraps = file.ownWraps + file.outbox.compactMap(\.ownWrap)
        for wrap in ownWraps where keys[wrap.epoch] == nil {
            guard let account = accounts[wrap.accountEpoch] else { continue }
            keys[wrap.epoch] = try? wrap.open(with: account, control: control)
        }
        for wrap in file.wraps where wrap.mayBringMore(than: keys) {
            let opened = try? NoteKey.openAll(wrap, with: device, control: control, authors: KnownAuthors([]))
            guard let opened else { continue }
            for key in [opened.key] + opened.older where keys[key.epoch] == nil { keys[key.epoch] = key }
        }
        return keys
    }

    /// Why a wrap for this device, from a permitted sender, brought no key; nil if the key is there.
    private func refusal(
        of file: NoteFile, _ control: VerifiedControl, _ keys: [UInt32: NoteKey]
    ) -> SealedNoteError? {
        for wrap in file.wraps where keys[wrap.header.epoch] == nil && wrap.header.epoch == control.state.epoch {
            do throws(SealedNoteError) {
                _ = try NoteKey.open(wrap, with: device, control: control, authors: KnownAuthors([]))
            } catch {
                switch error {
                case .anotherCommitment, .anotherOlderCommitment: return error
                default: continue
                }
            }
        }
        return nil
    }

    private func document(
        _ revision: VerifiedRevision, _ keys: [UInt32: NoteKey], _ refusal: SealedNoteError?
    ) -> Result<NoteDocument, NoteLock> {
        guard let key = keys[revision.record.epoch] else {
            return .failure(refusal.map { .sealed($0) } ?? .noKey(epoch: revision.record.epoch))
        }
        do throws(SealedNoteError) { return .success(try key.open(revision)) } catch { return .failure(.sealed(error)) }
    }

    private func children(
        _ file: NoteFile, _ control: VerifiedControl, _ keys: [UInt32: NoteKey]
    ) -> ([HeldNote.OpenedChild], leftOut: [Author]) {
        let records = file.accepted.children.map { ($0, true) } + file.pendingChildren.map { ($0, false) }
        let closed = file.closedChildren(control)
        var opened: [HeldNote.OpenedChild] = []
        var leftOut: [Author] = []
        for (record, isSent) in records {
            do throws(ChildError) {
                let verified = try ChildVerifier.verify(
                    record, control: control, closed: closed, authors: KnownAuthors([]), accepted: true)
                opened.append(
                    HeldNote.OpenedChild(
                        record: verified, content: try? keys[record.epoch]?.open(verified), isSent: isSent))
            } catch { if error == .lateForItsEpoch { leftOut.append(record.author) } }
        }
        return (opened, leftOut)
    }
}

extension WrapRecord {
    /// Whether the wrap may hold a key that is not among these.
    fileprivate func mayBringMore(than keys: [UInt32: NoteKey]) -> Bool {
        guard keys[header.epoch] != nil else { return true }
        return header.form == .keyAndOlderKeys && (1..<header.epoch).contains { keys[$0] == nil }
    }
}

extension NoteFile {
    /// What is wrong with the note according to the store alone.
    fileprivate var standingFault: NoteLock? {
        if isGone { return .erased }
        if isOverfull { return .overfull }
        return incoming.isEmpty ? nil : .waiting
    }

    /// The people whose last leave entry is a statement of their own. An earlier one does not count if the note was
    /// shared with them again.
    fileprivate func departed(_ control: VerifiedControl) -> Set<Handle> {
        let theirs = Set(leavings.map(\.hash))
        return control.state.departed.filter { handle in
            let last = control.entries.last { $0.action == .leave && $0.author.handle == handle }
            return last.map { theirs.contains($0.hash) } ?? false
        }
    }

    fileprivate var sentHead: NoteHeads.Head? {
        accepted.controlView.map { NoteHeads.Head(control: $0, revision: accepted.revisionView) }
    }

    /// The list that the last rekeying of a log names; nil in the first epoch, or if this device does not have the
    /// list.
    func closedChildren(_ control: VerifiedControl) -> ChildList? {
        guard let closing = control.state.closings.last else { return nil }
        if closing.children == ChildList([]).hash { return ChildList([]) }
        return childLists.first { $0.hash == closing.children }
    }
}

/// Why a note, or a record that came for it, stays closed. It is kept, shown with this reason, and tried again when
/// something changes.
public enum NoteLock: Error, Hashable, Sendable {
    /// No key of this epoch has come to this device.
    case noKey(epoch: UInt32)
    /// The account master key is not on this device yet.
    case noAccountKey
    /// The note does not open, or its contents are not a note.
    case sealed(SealedNoteError)
    /// The note's control log is not believed.
    case control(ControlError)
    /// The note's revisions are not believed.
    case revisions(RevisionError)
    /// A comment or star is not believed.
    case child(ChildError)
    /// The devices of an author have changed, and the user has not accepted the change.
    case changedKeys(Handle)
    /// Another device of this account has seen a later state of the note than the server shows to this device.
    case withheld
    /// The server does not have the whole of a file, or does not show it.
    case missingFile
    /// This device's state of the note may differ from that of other members.
    case doubted(HeadDoubt)
    /// The server says that the note's owner erased the note. No signature proves this.
    case erased
    /// Records came for the note, and the next sync judges them.
    case waiting
    /// More unbelieved records came for the note than a device keeps, so that some were dropped.
    case overfull
}
