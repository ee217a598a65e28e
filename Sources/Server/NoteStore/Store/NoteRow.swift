// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import NoteLog
import NotesAPI
import SQLStores

/// A note, as far as who may do what with it goes.
struct NoteRow {
    let id: Int64
    let name: NoteID
    let owner: Int64
    let isDeleted: Bool

    init?(_ name: NoteID, in database: SQLTransaction) throws {
        guard
            let row = try database.row(
                "SELECT id, owner, deleted FROM notes WHERE name = ?", [name.bytes])
        else { return nil }
        self.name = name
        id = try row.integer(0)
        owner = try row.integer(1)
        isDeleted = try row.optionalInteger(2) != nil
    }

    /// A note that exists and that the account may read; nil if not.
    init?(_ name: NoteID, readableBy account: Int64, in database: SQLTransaction) throws {
        guard let note = try NoteRow(name, in: database), !note.isDeleted,
            try database.mayRead(note.id, account)
        else { return nil }
        self = note
    }

    /// Where the note stands: everything that decides on a push.
    func snapshot(in database: SQLTransaction, _ states: ControlStates) throws -> NoteSnapshot {
        let revision = try database.row(
            "SELECT number, hash FROM records WHERE note = ? AND kind = 2 ORDER BY number DESC LIMIT 1", [id])
        let children = try database.rows("SELECT hash FROM records WHERE note = ? AND kind = 3", [id])
        return NoteSnapshot(
            control: try control(in: database, states),
            revision: try revision.map { RevisionView(number: try $0.count(0), head: try $0.recordHash(1)) },
            children: ChildList(try children.map { try $0.recordHash(0) }))
    }

    /// After the last control entry.
    func control(in database: SQLTransaction, _ states: ControlStates) throws -> ControlState {
        let head = try database.row(
            "SELECT hash FROM records WHERE note = ? AND kind = 1 ORDER BY number DESC LIMIT 1", [id])
        if let known = states[name], known.head == (try head?.recordHash(0)) { return known }
        let entries = try database.rows(
            "SELECT item FROM records WHERE note = ? AND kind = 1 ORDER BY number", [id]
        ).map { try Self.entry(try $0.bytes(0)) }
        guard let first = entries.first else { throw DamagedRow() }
        let state = try entries.dropFirst().reduce(ControlState(first: first)) { try $0.applying($1) }
        states[name] = state
        return state
    }

    private static func entry(_ item: [UInt8]) throws -> ControlEntry {
        guard case .control(let entry, _) = try FeedItem(decoding: item) else { throw DamagedRow() }
        return entry
    }
}

extension SQLTransaction {
    /// Whether the account owns the note or is a member of it.
    func mayRead(_ note: Int64, _ account: Int64) throws -> Bool {
        try row("SELECT 1 FROM members WHERE note = ? AND account = ?", [note, account]) != nil
    }
}

/// What is in a feed and is not a record of a note.
struct FeedNotice {
    private let item: FeedItem
    let kind: Int
    let onlyLastCounts: Bool

    static func left(_ entry: ControlEntry) -> FeedNotice {
        FeedNotice(item: .left(entry), kind: 6, onlyLastCounts: false)
    }

    static func gone(_ note: NoteID) -> FeedNotice { FeedNotice(item: .gone(note), kind: 7, onlyLastCounts: false) }

    static func head(_ head: AccountHead) -> FeedNotice {
        FeedNotice(item: .accountHead(head), kind: 8, onlyLastCounts: true)
    }

    static func keys(version: UInt64) -> FeedNotice {
        FeedNotice(item: .accountKeys(version: version), kind: 9, onlyLastCounts: true)
    }

    var encoded: [UInt8] { item.encoded }
}
