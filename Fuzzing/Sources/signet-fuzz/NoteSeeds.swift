// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import NotesAPI
import TransparencyLog
import VerifiableMap

@testable import SealedNotes

/// Records of a note, each signed by a device of one account.
private struct FuzzedNote {
    let note: NoteID
    let author: Author
    let entry: ControlEntry
    let rekey: ControlEntry
    let revision: RevisionRecord
    let child: ChildRecord
    let children: ChildList
    let wrap: WrapRecord
    let heads: NoteHeads
    let head: AccountHead

    init() throws {
        let party = try Party(1)
        let sign = party.deviceSignature
        let (note, author) = (
            needed { NoteID(bytes(7, 16)) }, Author(handle: try fuzzedHandle("a"), device: party.deviceKey)
        )
        entry = try ControlEntry(
            note: note, number: 1, previous: .none, time: 1_700_000_000, author: author,
            action: .create(keyCommitment: bytes(1, 32)), with: sign)
        revision = try RevisionRecord(
            note: note, number: 1, parent: .none, epoch: 1, control: entry.hash, author: author, sealed: bytes(2, 40),
            with: sign)
        child = try ChildRecord(
            note: note, child: note, epoch: 1, control: entry.hash, author: author, sealed: [3, 4], with: sign)
        children = ChildList([child.hash, entry.hash])
        let rekeying = Rekeying(
            epoch: 2, keyCommitment: bytes(5, 32), revisionHead: revision.hash, children: children.hash,
            members: children.hash)
        rekey = try ControlEntry(
            note: note, number: 2, previous: entry.hash, time: 1_700_000_001, author: author, action: .rekey(rekeying),
            with: sign)
        wrap = try WrapRecord(
            WrapRecord.Header(
                note: note, epoch: 2, control: rekey.hash, sender: author, recipient: author,
                recipientKeys: bytes(6, 32), suite: .p256),
            encapsulation: bytes(8, 65), ciphertext: bytes(9, 48), with: sign)
        heads = NoteHeads([
            note: NoteHeads.Head(
                control: ControlView(number: 2, head: rekey.hash),
                revision: RevisionView(number: 1, head: revision.hash))
        ])
        head = try AccountHead(author: author, number: 1, previous: .none, notes: heads.hash, with: sign)
        (self.note, self.author) = (note, author)
    }
}

func noteSeeds() throws -> [[UInt8]] {
    let note = try FuzzedNote()
    let account = AccountMasterKey.generate(for: note.author.handle, epoch: 1)
    return [
        note.entry.encoded, note.rekey.encoded, note.revision.encoded, note.child.encoded, note.children.encoded,
        note.wrap.encoded, note.heads.encoded, note.head.encoded,
        try AccountKeyWrap(account, recoveryKey: RecoveryKey.generate()).encoded,
        LoginKey.generate().withPrinted { $0 }, RecoveryKey.generate().withPrinted { $0 }, Padding.pad(bytes(9, 20)),
    ]
}

func noteBodySeeds() throws -> [[UInt8]] {
    let note = try FuzzedNote()
    let bodies =
        try pushes(note) + feed(note) + (try wrapsAndBlobs(note)) + account(note) + (try login()) + (try logged(note))
    return bodies.map(\.encoded)
}

private func pushes(_ note: FuzzedNote) throws -> [any NoteBody] {
    let whole = ControlPush(
        entry: note.rekey, wraps: [note.wrap], ownWrap: [1, 2, 3], revision: note.revision, children: note.children)
    let leaving = ControlPush(
        entry: note.rekey, wraps: [note.wrap], ownWrap: [1], children: ChildList([]),
        leftOut: ChildList([note.child.hash]))
    let operations: [PushOperation] = [
        .control(ControlPush(entry: note.entry)), .control(whole), .control(leaving), .revision(note.revision),
        .child(note.child),
    ]
    let pushes = try operations.map { try NotePush(name: [UInt8](1...16), operation: $0) }
    let outcomes: [NotePushOutcome] = [
        .applied(cursor: 70_000), .conflict(nil), .conflict(note.heads[note.note]), .nameReused,
        .refused(.badEpoch(9)), .refused(.rule(.keyIsNew)), .overLimit(NoteLimit.allCases[0]),
    ]
    return pushes + [try NotePushes(pushes)] + outcomes + [NotePushOutcomes(outcomes)]
}

private func feed(_ note: FuzzedNote) -> [any NoteBody] {
    let items: [FeedItem] = [
        .control(note.entry, children: nil), .control(note.rekey, children: note.children), .revision(note.revision),
        .child(note.child), .wrap(note.wrap), .ownWrap(note.note, epoch: 2, [1, 2]), .left(note.rekey),
        .gone(note.note), .accountHead(note.head), .accountKeys(version: 3),
    ]
    let page = FeedPage(
        entries: zip(items, UInt64(4)...).map { FeedPage.Entry(position: $1, item: $0) }, next: 14, newest: 20)
    return items + [page, FeedAnswer.page(page), FeedAnswer.resyncRequired, FeedAnswer.serverWentBack]
        + [FeedRequest(cursor: 5, limit: 9), WaitRequest(cursor: 5), WaitAnswer(newest: 6)] as [any NoteBody]
}

private func wrapsAndBlobs(_ note: FuzzedNote) throws -> [any NoteBody] {
    let change = OwnWrapChange(note: note.note, epoch: 1, replaced: note.entry.hash, wrap: [5])
    let (blob, chunk) = (needed { BlobID(bytes(11, 16)) }, bytes(12, ChunkUpload.chunkByteCount))
    return [
        change, try OwnWrapChanges([change, change]), OwnWrapOutcomes(OwnWrapOutcome.allCases),
        try ChunkUpload(note: note.note, blob: blob, first: 65_535, chunks: [chunk]),
        ChunkRequest(note: note.note, blob: blob, first: 1, count: 16), ChunkAnswer([]), ChunkAnswer([chunk]),
        BlobRemoval(note: note.note, blob: blob),
    ]
}

private func account(_ note: FuzzedNote) -> [any NoteBody] {
    let keys = AccountKeys(
        version: 3, password: [4], recovery: [5], devices: [bytes(1, 32): [1], bytes(2, 32): [2]])
    return [
        keys, AccountKeysChange(keys), AccountKeysOutcome.applied(version: 4), AccountKeysOutcome.notRegistered,
        AccountHeadChange(head: note.head, notes: note.heads), AccountHeadOutcome.applied,
        AccountHeadOutcome.conflict(note.head), AccountHeadsRequest(after: 1),
        AccountHeadsAnswer(heads: [note.head], notes: note.heads), NotesErasure(handle: note.author.handle),
    ]
}

private func login() throws -> [any NoteBody] {
    [
        try RegistrationBeginning(message: bytes(1, 32)), try RegistrationEvaluation(message: bytes(1, 64)),
        try RegistrationEnd(version: 2, record: bytes(1, 192), wrap: [1]),
        try LoginBeginning(handle: fuzzedHandle("a"), message: bytes(1, 96)),
        try LoginChallenge(login: bytes(1, 16), message: bytes(1, 320)),
        try LoginEnd(login: bytes(1, 16), message: bytes(1, 64)), LoginAnswer.refused, LoginAnswer.granted([1]),
        LoginGrant(version: 1, wrap: [2]),
    ]
}

private func logged(_ note: FuzzedNote) throws -> [any NoteBody] {
    let head = LoggedHead(
        control: ControlView(number: 2, head: note.rekey.hash),
        revision: RevisionView(number: 1, head: note.revision.hash), children: note.children.hash)
    let (map, tree) = (needed { MapHash(bytes(3, 32)) }, try fuzzedHash())
    let path = try MapPath([.init(bit: 9, sibling: map), .init(bit: 2, sibling: map)])
    let root = NotesRootProof(
        root: NotesRoot(time: 1_700_000_000, root: map),
        place: NewestRecordProof(
            indexPath: path, history: LabelHead(TreeHead(size: 5, root: tree)), lastPath: [tree, tree]))
    return [
        LoggedHeadsRequest(size: 70, notes: [note.note]), LoggedHeadsAnswer.anotherEpoch,
        LoggedHeadsAnswer.heads(root, [LoggedHeadProof(head: head, proof: path.encoded), nil]),
        ChildListRequest(version: 5, note: note.note), ChildListAnswer(list: note.children), ChildListAnswer(list: nil),
    ]
}
