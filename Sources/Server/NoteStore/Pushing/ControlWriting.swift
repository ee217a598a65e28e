// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import KeyTransparency
import NoteLog
import NotesAPI
import SQLStores

/// A step of a control log on its way into the database, with all that goes with it.
struct ControlWriting {
    private let pushing: Pushing
    private let push: ControlPush
    private let state: ControlState

    private var transaction: NoteTransaction { pushing.transaction }
    private var database: SQLTransaction { pushing.transaction.database }

    /// - Parameter state: after the step.
    init(_ pushing: Pushing, _ push: ControlPush, _ state: ControlState) {
        self.pushing = pushing
        self.push = push
        self.state = state
    }

    func run(_ known: NoteRow?) throws {
        guard let note = try known ?? create() else { throw DamagedRow() }
        switch push.entry.action {
        case .unshare(let handle, _): try remove(handle, from: note)
        case .leave: try remove(push.entry.author.handle, from: note)
        case .create, .share, .rekey, .transfer, .delete: break
        }
        let entry = try pushing.insert(
            .control(push.entry, children: push.children), of: note.id, number: push.entry.number,
            hash: push.entry.hash)
        try transaction.append(record: entry, toMembersOf: note.id, payer: pushing.account)
        try finish(note)
        try storeKeys(of: note)
        if let revision = push.revision { try pushing.store(revision, of: note) }
    }

    private func create() throws -> NoteRow? {
        let id = try transaction.insert(
            "INSERT INTO notes (name, owner, creator) VALUES (?, ?, ?) RETURNING id",
            [push.entry.note.bytes, pushing.account, pushing.account])
        try transaction.run("INSERT INTO members (note, account) VALUES (?, ?)", [id, pushing.account])
        return try NoteRow(push.entry.note, in: database)
    }

    /// What the step changes besides the log.
    private func finish(_ note: NoteRow) throws {
        switch push.entry.action {
        case .share(let handle, _): try add(handle, to: note)
        case .transfer(let handle):
            try transaction.run(
                "UPDATE notes SET owner = ? WHERE id = ?", [transaction.account(handle), note.id])
        case .delete:
            try transaction.run("UPDATE notes SET deleted = ? WHERE id = ?", [transaction.time, note.id])
            try transaction.run("DELETE FROM records WHERE note = ? AND kind > 1", [note.id])
            try transaction.run("DELETE FROM chunks WHERE note = ?", [note.id])
        case .create, .unshare, .rekey, .leave: break
        }
    }

    /// A new member gets everything: the log, the revisions, the children.
    private func add(_ handle: Handle, to note: NoteRow) throws {
        let account = try transaction.account(handle)
        guard try !database.mayRead(note.id, account) else { return }
        try transaction.run("INSERT INTO members (note, account) VALUES (?, ?)", [note.id, account])
        try transaction.appendHistory(of: note.id, to: account, payer: pushing.account)
    }

    /// Who goes keeps the step that says so, and nothing else of the note.
    private func remove(_ handle: Handle, from note: NoteRow) throws {
        // A member who left before has the step that says so.
        guard let account = try database.account(handle), try database.mayRead(note.id, account) else { return }
        try transaction.run("DELETE FROM members WHERE note = ? AND account = ?", [note.id, account])
        try transaction.run("DELETE FROM records WHERE note = ? AND recipient = ?", [note.id, account])
        try transaction.run(
            "DELETE FROM feed WHERE account = ? AND record IN (SELECT id FROM records WHERE note = ?)",
            [account, note.id])
        try transaction.append(.left(push.entry), to: account)
    }

    private func storeKeys(of note: NoteRow) throws {
        if let ownWrap = push.ownWrap {
            let record = try pushing.insert(
                .ownWrap(push.entry.note, epoch: state.epoch, ownWrap), of: note.id, number: UInt64(state.epoch),
                hash: RecordHash(of: ownWrap), recipient: pushing.account)
            try transaction.append(record: record, to: pushing.account, payer: pushing.account)
        }
        for wrap in push.wraps {
            // There is no recipient any more: the account was erased, or the member left.
            guard let recipient = try database.account(wrap.header.recipient.handle),
                try database.mayRead(note.id, recipient)
            else { continue }
            let record = try pushing.insert(
                .wrap(wrap), of: note.id, number: UInt64(wrap.header.epoch), hash: RecordHash(of: wrap.encoded),
                recipient: recipient)
            try transaction.append(record: record, to: recipient, payer: pushing.account)
        }
    }
}
