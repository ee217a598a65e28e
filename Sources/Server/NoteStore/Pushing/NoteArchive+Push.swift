// SPDX-License-Identifier: Apache-2.0

import DurableStorage
public import NoteLog
public import NotesAPI
import SQLStores

extension NoteArchive {
    /// Applies changes one after the other, each in a transaction of its own.
    ///
    /// - Parameter requester: the device that signed the request, one that its account has now.
    /// - Throws: ``NoteStoreError``: some may be applied; sending it again is safe.
    public func push(
        _ pushes: NotePushes, by requester: Author
    ) async throws(NoteStoreError) -> NotePushOutcomes {
        var outcomes: [NotePushOutcome] = []
        for push in pushes.pushes { outcomes.append(try await apply(push, by: requester)) }
        return NotePushOutcomes(outcomes)
    }

    private func apply(_ push: NotePush, by requester: Author) async throws(NoteStoreError) -> NotePushOutcome {
        let (limits, states) = (limits, states)
        return try await write { transaction in
            try Pushing(
                transaction: transaction, limits: limits, states: states, requester: requester,
                account: transaction.account(requester.handle)
            ).apply(push)
        }
    }
}

/// One push on its way into the database.
struct Pushing {
    let transaction: NoteTransaction
    let limits: NoteLimits
    let states: ControlStates
    let requester: Author
    let account: Int64

    private var database: SQLTransaction { transaction.database }

    /// Looks whether it came before, asks the rules, looks for room, writes, and remembers its name.
    func apply(_ push: NotePush) throws -> NotePushOutcome {
        let bytes = push.encoded
        let before = try database.row(
            "SELECT hash, cursor FROM pushes WHERE account = ? AND name = ?", [account, push.name])
        switch PushReplay.classify(bytes, remembered: try before?.recordHash(0)) {
        case .repeated: return .applied(cursor: try before?.count(1) ?? 0)
        case .misused: return .nameReused
        case .new: break
        }
        let note = try NoteRow(push.operation.note, in: database)
        let snapshot = try note?.snapshot(in: database, states)
        let verdict = PushRules.judge(
            push.operation, by: requester, on: snapshot,
            authors: KnownAuthors([AuthorKeys(authenticated: requester)]))
        switch verdict {
        case .refused(let refusal): return .refused(refusal)
        case .conflict: return .conflict(snapshot.map(Self.heads))
        case .applied(let next):
            if let limit = try limit(push.operation, next) { return .overLimit(limit) }
            try store(push.operation, next, note)
            return .applied(cursor: try remember(push, RecordHash(of: bytes)))
        }
    }

    private static func heads(_ snapshot: NoteSnapshot) -> NoteHeads.Head {
        NoteHeads.Head(
            control: ControlView(number: snapshot.control.number, head: snapshot.control.head),
            revision: snapshot.revision)
    }

    private func remember(_ push: NotePush, _ hash: RecordHash) throws -> UInt64 {
        let cursor = try database.newest(of: account)
        try transaction.run(
            "INSERT INTO pushes (account, name, hash, cursor, time) VALUES (?, ?, ?, ?, ?)",
            [account, push.name, hash.bytes, Int64(clamping: cursor), transaction.time])
        return cursor
    }

    // MARK: Room

    /// The limit that was reached; nil if there is room.
    private func limit(_ operation: PushOperation, _ next: NoteSnapshot) throws -> NoteLimit? {
        switch operation {
        case .control(let push):
            switch push.entry.action {
            // A signed step, and nothing beside it.
            case .delete, .leave: return nil
            case .unshare: return try limitOfTakingOut(operation, next)
            case .create: if try noteCount() >= limits.notes { return .notes }
            case .share: if next.control.members.count > limits.members { return .members }
            case .rekey, .transfer: break
            }
            if next.control.number > limits.entries { return .entries }
        case .child: if next.children.children.count > limits.children { return .children }
        case .revision: break
        }
        return try transaction.shortage(of: byteCount(operation, next), for: account, limits)?.limit
    }

    /// An account that has used up its room can still remove a member from a note, also while the disk fills up. The
    /// keys and the revision that go with it are stored, so both have an end here too.
    private func limitOfTakingOut(_ operation: PushOperation, _ next: NoteSnapshot) throws -> NoteLimit? {
        let isWithin = try transaction.isWithin(
            limits, plus: limits.removalBytes, adding: byteCount(operation, next), account: account)
        guard isWithin else { return .bytes }
        return transaction.reserve < .half ? nil : .disk
    }

    private func byteCount(_ operation: PushOperation, _ next: NoteSnapshot) throws -> Int {
        try operation.byteCount + NoteLimits.nameByteCount + NoteLimits.feedByteCount * copies(operation, next)
    }

    /// How many entries of feeds it makes, at most.
    private func copies(_ operation: PushOperation, _ next: NoteSnapshot) throws -> Int {
        let members = next.control.members.count + 1
        guard case .control(let push) = operation else { return members }
        var copies = 2 * members + push.wraps.count + 1
        guard case .share = push.entry.action else { return copies }
        let history = try database.row(
            """
            SELECT COUNT(*) FROM records JOIN notes ON notes.id = records.note
            WHERE notes.name = ? AND records.kind <= 3
            """, [next.control.note.bytes])
        copies += Int(try history?.integer(0) ?? 0)
        return copies
    }

    private func noteCount() throws -> Int {
        let row = try database.row("SELECT COUNT(*) FROM notes WHERE creator = ? AND deleted IS NULL", [account])
        return Int(try row?.integer(0) ?? 0)
    }

    // MARK: Writing

    private func store(_ operation: PushOperation, _ next: NoteSnapshot, _ note: NoteRow?) throws {
        switch operation {
        case .control(let push):
            try ControlWriting(self, push, next.control).run(note)
            states[next.control.note] = next.control
        case .revision(let revision): if let note { try store(revision, of: note) }
        case .child(let child): if let note { try store(child, of: note) }
        }
    }

    func store(_ revision: RevisionRecord, of note: NoteRow) throws {
        let record = try insert(.revision(revision), of: note.id, number: revision.number, hash: revision.hash)
        try transaction.append(record: record, toMembersOf: note.id, payer: account)
    }

    private func store(_ child: ChildRecord, of note: NoteRow) throws {
        let hash = child.hash.bytes
        let isKnown = try database.row(
            "SELECT 1 FROM records WHERE note = ? AND kind = 3 AND hash = ?", [note.id, hash])
        guard isKnown == nil else { return }
        let record = try insert(.child(child), of: note.id, number: UInt64(child.epoch), hash: child.hash)
        try transaction.append(record: record, toMembersOf: note.id, payer: account)
    }

    /// Writes a record at the requester's expense; its number.
    func insert(
        _ item: FeedItem, of note: Int64, number: UInt64, hash: RecordHash, recipient: Int64? = nil
    ) throws -> Int64 {
        let bytes = item.encoded
        return try transaction.insert(
            """
            INSERT INTO records (note, kind, number, hash, recipient, payer, item)
            VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id
            """,
            [
                note, bytes.first.map { Int64($0) } ?? 0, Int64(clamping: number), hash.bytes, recipient, account,
                bytes,
            ])
    }
}

/// Whose room it is that there is not enough of.
enum Shortage: Hashable, Sendable {
    /// What the account may store: its owner can make room.
    case account
    /// The server's disk, beside the directory's share: only its operator can make room.
    case disk

    var limit: NoteLimit { self == .account ? .bytes : .disk }
}

extension NoteTransaction {
    /// What there is not enough of for that much more; nil: the account may store it, and the disk has room for it beside the directory.
    func shortage(of byteCount: Int, for account: Int64, _ limits: NoteLimits) throws -> Shortage? {
        guard try isWithin(limits, plus: 0, adding: byteCount, account: account) else { return .account }
        return isFull ? .disk : nil
    }

    /// Whether the account may store that much more.
    fileprivate func isWithin(
        _ limits: NoteLimits, plus extra: UInt64, adding byteCount: Int, account: Int64
    ) throws -> Bool {
        let row = try database.row("SELECT bytes, since, quota FROM accounts WHERE id = ?", [account])
        let (used, since) = (try row?.count(0) ?? 0, try row?.count(1) ?? now)
        let quota = try row?.optionalInteger(2).map { UInt64(clamping: $0) }
        return used + UInt64(byteCount) <= (quota ?? limits.bytes(atAge: now - min(now, since))) + extra
    }
}

extension PushOperation {
    /// About the bytes that it stores.
    fileprivate var byteCount: Int {
        switch self {
        case .control(let push):
            push.entry.encoded.count + push.wraps.reduce(0) { $0 + $1.encoded.count } + (push.ownWrap?.count ?? 0)
                + (push.revision?.encoded.count ?? 0) + (push.children?.encoded.count ?? 0)
        case .revision(let revision): revision.encoded.count
        case .child(let child): child.encoded.count
        }
    }
}
