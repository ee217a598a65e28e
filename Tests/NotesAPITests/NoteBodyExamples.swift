// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyTransparency
import NoteLog
import NotesAPI
import TransparencyLog
import VerifiableMap

/// One example of each form that a body of the notes routes can have.
struct NoteBodyExamples {
    let device = Curve25519.Signing.PrivateKey()
    let author: Author
    let note: NoteID
    let entry: ControlEntry
    let rekey: ControlEntry
    let revision: RevisionRecord
    let child: ChildRecord
    let wrap: WrapRecord
    let children: ChildList
    let head: AccountHead
    let heads: NoteHeads

    init() throws {
        let device = device
        let sign: ([UInt8]) throws -> [UInt8] = { try Array(device.signature(for: $0)) }
        let author = Author(
            handle: try Handle(typed: Array("alice@example.org".utf8)),
            device: Array(device.publicKey.rawRepresentation))
        self.author = author
        note = try unwrapped(NoteID([UInt8](repeating: 7, count: 16)))
        entry = try ControlEntry(
            note: note, number: 1, previous: .none, time: 1_700_000_000, author: author,
            action: .create(keyCommitment: [UInt8](repeating: 1, count: 32)), with: sign)
        revision = try RevisionRecord(
            note: note, number: 1, parent: .none, epoch: 1, control: entry.hash, author: author,
            sealed: [UInt8](repeating: 2, count: 40), with: sign)
        child = try ChildRecord(
            note: note, child: note, epoch: 1, control: entry.hash, author: author, sealed: [3, 4], with: sign)
        children = ChildList([child.hash, entry.hash])
        rekey = try ControlEntry(
            note: note, number: 2, previous: entry.hash, time: 1_700_000_001, author: author,
            action: .rekey(
                Rekeying(
                    epoch: 2, keyCommitment: [UInt8](repeating: 5, count: 32), revisionHead: revision.hash,
                    children: children.hash, members: children.hash)), with: sign)
        wrap = try WrapRecord(
            WrapRecord.Header(
                note: note, epoch: 2, control: rekey.hash, sender: author, recipient: author,
                recipientKeys: [UInt8](repeating: 6, count: 32), suite: .p256),
            encapsulation: [UInt8](repeating: 8, count: 65), ciphertext: [UInt8](repeating: 9, count: 48), with: sign)
        heads = NoteHeads([
            note: NoteHeads.Head(
                control: ControlView(number: 2, head: rekey.hash),
                revision: RevisionView(number: 1, head: revision.hash))
        ])
        head = try AccountHead(author: author, number: 1, previous: .none, notes: heads.hash, with: sign)
    }

    var bodies: [any NoteBody] {
        get throws { try pushes + outcomes + feed + wrapsAndBlobs + account + login + logged }
    }

    private func push(_ operation: PushOperation) throws -> NotePush {
        try NotePush(name: [UInt8](1...16), operation: operation)
    }

    private var pushes: [any NoteBody] {
        get throws {
            let whole = ControlPush(
                entry: rekey, wraps: [wrap, wrap], ownWrap: [1, 2, 3], revision: revision, children: children)
            let leaving = ControlPush(
                entry: rekey, wraps: [wrap], ownWrap: [1], children: ChildList([]), leftOut: ChildList([child.hash]))
            let all = [
                try push(.control(leaving)), try push(.control(ControlPush(entry: entry))), try push(.control(whole)),
                try push(.revision(revision)),
                try push(.child(child)),
            ]
            return all + [try NotePushes(all)]
        }
    }

    private var outcomes: [any NoteBody] {
        let rules: [ControlRule] = [
            .authorIsOwner, .createdOnce, .notDeleted, .shareAdds, .isMember, .epochStepsByOne, .membersAreStated,
            .memberCount, .keyIsNew,
        ]
        let refusals: [PushRefusal] =
            [.notTheRequesters, .deviceNotCurrent, .unknownNote, .forbidden, .badEpoch(9), .wraps, .incomplete]
            + rules.map { .rule($0) }
        let bare = NoteHeads.Head(control: ControlView(number: 2, head: rekey.hash), revision: nil)
        let all: [NotePushOutcome] =
            [.applied(cursor: 70_000), .conflict(nil), .conflict(heads[note]), .conflict(bare), .nameReused]
            + refusals.map { .refused($0) } + NoteLimit.allCases.map { .overLimit($0) }
        return all + [NotePushOutcomes(all)]
    }

    private var feed: [any NoteBody] {
        let items: [FeedItem] = [
            .control(entry, children: nil), .control(rekey, children: children), .revision(revision), .child(child),
            .wrap(wrap), .ownWrap(note, epoch: 2, [1, 2]), .left(rekey), .gone(note), .accountHead(head),
            .accountKeys(version: 3),
        ]
        let page = FeedPage(
            entries: zip(items, UInt64(4)...).map { FeedPage.Entry(position: $1, item: $0) }, next: 14, newest: 20)
        let empty = FeedPage(entries: [], next: 3, newest: 3)
        return items + [page, empty, FeedAnswer.page(page), FeedAnswer.resyncRequired, FeedAnswer.serverWentBack]
            + [FeedRequest(cursor: 5, limit: 9), WaitRequest(cursor: 5), WaitAnswer(newest: 6)] as [any NoteBody]
    }

    private var wrapsAndBlobs: [any NoteBody] {
        get throws {
            let change = OwnWrapChange(note: note, epoch: 1, replaced: entry.hash, wrap: [5])
            let blob = try unwrapped(BlobID([UInt8](repeating: 11, count: 16)))
            let chunk = [UInt8](repeating: 12, count: ChunkUpload.chunkByteCount)
            return [
                change, try OwnWrapChanges([change, change]), OwnWrapOutcomes(OwnWrapOutcome.allCases),
                try ChunkUpload(note: note, blob: blob, first: 65_535, chunks: [chunk]),
                ChunkRequest(note: note, blob: blob, first: 1, count: 16), ChunkAnswer([]), ChunkAnswer([chunk]),
                BlobRemoval(note: note, blob: blob),
            ] + BlobOutcome.allCases
        }
    }

    private var account: [any NoteBody] {
        let devices: [[UInt8]: [UInt8]] = [
            [UInt8](repeating: 1, count: 32): [1], [UInt8](repeating: 2, count: 32): [2],
        ]
        let keys = AccountKeys(version: 3, password: [4], recovery: [5], devices: devices)
        return [
            AccountKeys(version: 0), keys, AccountKeysChange(keys), AccountKeysOutcome.applied(version: 4),
            AccountKeysOutcome.conflict(version: 5), AccountKeysOutcome.notRegistered,
            AccountHeadChange(head: head, notes: heads), AccountHeadOutcome.applied, AccountHeadOutcome.conflict(nil),
            AccountHeadOutcome.conflict(head), AccountHeadOutcome.forbidden, AccountHeadOutcome.overLimit,
            AccountHeadOutcome.serverFull,
            AccountHeadsRequest(after: 1), AccountHeadsAnswer(heads: [], notes: nil),
            AccountHeadsAnswer(heads: [head], notes: heads), NotesErasure(handle: author.handle),
        ]
    }

    private var logged: [any NoteBody] {
        get throws {
            let control = ControlView(number: 2, head: rekey.hash)
            let heads = [
                LoggedHead(control: control, revision: nil, children: ChildList([]).hash),
                LoggedHead(
                    control: control, revision: RevisionView(number: 1, head: revision.hash), children: children.hash),
            ]
            let map = try unwrapped(MapHash([UInt8](repeating: 3, count: 32)))
            let path = try MapPath([.init(bit: 9, sibling: map), .init(bit: 2, sibling: map)])
            let tree = try unwrapped(TreeHash([UInt8](repeating: 4, count: 32)))
            let root = NotesRootProof(
                root: NotesRoot(time: 1_700_000_000, root: map),
                place: NewestRecordProof(
                    indexPath: path, history: LabelHead(TreeHead(size: 5, root: tree)), lastPath: [tree, tree]))
            let proofs = heads.map { LoggedHeadProof(head: $0, proof: path.encoded) }
            return [
                LoggedHeadsRequest(size: 70, notes: [note, note]), LoggedHeadsAnswer.anotherEpoch,
                LoggedHeadsAnswer.heads(root, proofs + [nil, LoggedHeadProof(head: nil, proof: [])]),
                ChildListRequest(version: 5, note: note), ChildListAnswer(list: children), ChildListAnswer(list: nil),
            ]
        }
    }

    private var login: [any NoteBody] {
        get throws {
            func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) } }
            return [
                try RegistrationBeginning(message: bytes(32)), try RegistrationEvaluation(message: bytes(64)),
                try RegistrationEnd(version: 2, record: bytes(192), wrap: [1]),
                try LoginBeginning(handle: author.handle, message: bytes(96)),
                try LoginChallenge(login: bytes(16), message: bytes(320)),
                try LoginEnd(login: bytes(16), message: bytes(64)), LoginAnswer.refused, LoginAnswer.granted([1]),
                LoginGrant(version: 1, wrap: [2]),
            ]
        }
    }
}

struct Missing: Error {}

func unwrapped<Value>(_ value: Value?) throws -> Value {
    guard let value else { throw Missing() }
    return value
}
