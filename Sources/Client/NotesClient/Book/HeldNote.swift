// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
public import NoteLog
public import SealedNotes

/// A note as this device has it, verified and opened as far as its keys go. In memory only.
struct HeldNote: Sendable {
    let note: NoteID
    /// The control log, with the entry that makes the note if that waits to be sent.
    let control: VerifiedControl
    /// The log up to where this account was a member: what is read is judged by it.
    let readable: VerifiedControl
    /// All revisions, those that wait to be sent last.
    let revisions: VerifiedRevisions
    /// How many of them the server has.
    let sentRevisionCount: Int
    let children: [OpenedChild]
    /// Who signed the comments and stars that came and that a rekeying does not name, one for each.
    let leftOut: [Author]
    /// The note's keys by epoch, as many as this device has.
    let keys: [UInt32: NoteKey]
    /// What the last revision says, or why it stays closed; nil before the first.
    let document: Result<NoteDocument, NoteLock>?
    /// Whether something waits to be sent.
    let isPending: Bool
    /// Why news of this note were not accepted; nil if there is nothing wrong.
    let fault: NoteLock?
    /// Where the note stands at the server; nil while it has not been sent.
    let sentHead: NoteHeads.Head?
    /// Members who left by their own verified statement; the owner has not removed them yet.
    let departed: Set<Handle>

    /// A comment or star with what it says; nil while it stays closed.
    struct OpenedChild: Sendable {
        let record: VerifiedChild
        let content: ChildContent?
        let isSent: Bool
    }

    func role(of handle: Handle) -> NoteRole? { departed.contains(handle) ? nil : control.state.role(of: handle) }

    /// The key that the note is written under now.
    var currentKey: NoteKey? { keys[control.state.epoch] }
}

/// What opens notes on this device.
struct NoteOpener: Sendable {
    let owner: Handle
    let device: DeviceAgreementKeys
    /// By epoch; those of earlier epochs open what was wrapped before a device was lost.
    let accounts: [UInt32: AccountMasterKey]

    /// Verifies again what was accepted, adds what waits to be sent, and opens it.
    ///
    /// - Throws: ``NoteLock``: what this device wrote itself does not hold.
    func open(_ whole: NoteFile, fault: NoteLock? = nil) throws(NoteLock) -> HeldNote? {
        var file = whole
        // What was made for an earlier state, and cannot be brought to this one yet, waits aside.
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

    /// What is remembered needs no authority: that was looked at when it was accepted.
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

    /// A removed member keeps what they had: it is judged by the log as it was before.
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

    /// Each key is the one that the note's owner committed to, or it is not taken.
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

    /// Why a wrap that is for this device, and whose sender may send it, brought no key; nil if a key is there.
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
    /// Whether it may hold a key that is not among these.
    fileprivate func mayBringMore(than keys: [UInt32: NoteKey]) -> Bool {
        guard keys[header.epoch] != nil else { return true }
        return header.form == .keyAndOlderKeys && (1..<header.epoch).contains { keys[$0] == nil }
    }
}

extension NoteFile {
    /// What is wrong without looking at anything again.
    fileprivate var standingFault: NoteLock? {
        if isGone { return .erased }
        if isOverfull { return .overfull }
        return incoming.isEmpty ? nil : .waiting
    }

    /// Whose last word that they left is theirs. An earlier one says nothing of who was shared with again.
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

    /// The list that the last rekeying of a log names; nil in the first epoch, or when it is not here.
    func closedChildren(_ control: VerifiedControl) -> ChildList? {
        guard let closing = control.state.closings.last else { return nil }
        if closing.children == ChildList([]).hash { return ChildList([]) }
        return childLists.first { $0.hash == closing.children }
    }
}

/// Why a note, or news of it, stays closed. It is kept, shown with this, and tried again when something changes.
public enum NoteLock: Error, Hashable, Sendable {
    /// No key of this epoch has come to this device.
    case noKey(epoch: UInt32)
    /// The account master key is not on this device yet.
    case noAccountKey
    /// It does not open, or what opened is not a note.
    case sealed(SealedNoteError)
    /// The note's control log is not believed.
    case control(ControlError)
    /// Its revisions are not believed.
    case revisions(RevisionError)
    /// A comment or star is not believed.
    case child(ChildError)
    /// Its author's devices have changed, and the user has not accepted the change.
    case changedKeys(Handle)
    /// Another device of this account has seen more of it than the server shows here.
    case withheld
    /// The server does not have all of a file, or does not show it.
    case missingFile
    /// It may not be here as it is for others.
    case doubted(HeadDoubt)
    /// The server says that its owner erased it. That is not signed.
    case erased
    /// News of it came and wait to be judged by the next sync.
    case waiting
    /// More of it came that is not believed than a device keeps: some was dropped.
    case overfull
}
