// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import SealedNotes
import Testing

/// A note as its owner builds it, with every key at hand, so that a test can make one part wrong.
struct Notebook {
    let note: NoteID
    var keys: [NoteKey]
    var entries: [ControlEntry] = []
    var state: ControlState
    var revisions: [RevisionRecord] = []
    var children: [ChildRecord] = []
    static let time: UInt64 = 1_800_000_000

    init(owner: Person, device: Int = 0) throws {
        note = try #require(NoteID((0..<16).map { _ in UInt8.random(in: 0...255) }))
        keys = [NoteKey.generate(note: note, epoch: 1)]
        let entry = try ControlEntry(
            note: note, number: 1, previous: .none, time: Self.time, author: owner.author(device),
            action: .create(keyCommitment: keys[0].commitment), with: owner.sign(device))
        entries = [entry]
        state = try ControlState(first: entry)
    }

    var key: NoteKey { keys[keys.count - 1] }

    /// Signs a step and, if the rules let it, applies it.
    mutating func step(_ action: ControlAction, by person: Person, device: Int = 0) throws {
        let entry = try self.entry(action, by: person, device: device)
        state = try state.applying(entry)
        entries.append(entry)
    }

    func entry(
        _ action: ControlAction, by person: Person, device: Int = 0, note: NoteID? = nil, number: UInt64? = nil,
        previous: RecordHash? = nil
    ) throws -> ControlEntry {
        try ControlEntry(
            note: note ?? self.note, number: number ?? state.number + 1, previous: previous ?? state.head,
            time: Self.time, author: person.author(device), action: action, with: person.sign(device))
    }

    /// A rekeying with a new key.
    mutating func rekeying(without handle: Handle? = nil) -> Rekeying {
        let key = NoteKey.generate(note: note, epoch: state.epoch + 1)
        keys.append(key)
        return Rekeying(
            epoch: key.epoch, keyCommitment: key.commitment, revisionHead: revisions.last?.hash ?? .none,
            children: ChildList(children.map(\.hash)).hash,
            members: handle.map { state.memberHash(without: $0) } ?? state.memberHash)
    }

    mutating func unshare(_ handle: Handle, by owner: Person, device: Int = 0) throws {
        let rekeying = rekeying(without: handle)
        try step(.unshare(handle, rekeying), by: owner, device: device)
    }

    mutating func rekey(by owner: Person, device: Int = 0) throws {
        let rekeying = rekeying()
        try step(.rekey(rekeying), by: owner, device: device)
    }

    /// A revision whose every field is the right one unless given.
    func revision(
        _ text: String = "text", by person: Person, device: Int = 0, number: UInt64? = nil, parent: RecordHash? = nil,
        epoch: UInt32? = nil, control: RecordHash? = nil, note: NoteID? = nil
    ) throws -> RevisionRecord {
        try RevisionRecord(
            note: note ?? self.note, number: number ?? (revisions.last?.number ?? 0) + 1,
            parent: parent ?? revisions.last?.hash ?? .none, epoch: epoch ?? state.epoch,
            control: control ?? state.head, author: person.author(device), sealed: Array(text.utf8),
            with: person.sign(device))
    }

    mutating func write(_ text: String = "text", by person: Person, device: Int = 0) throws {
        revisions.append(try revision(text, by: person, device: device))
    }

    func control(_ people: [Person], knowing view: ControlView? = nil) throws -> VerifiedControl {
        try ControlVerifier.verify(entries, of: note, authors: authors(people), knowing: view)
    }

    func verified(_ people: [Person], knowing view: RevisionView? = nil) throws -> VerifiedRevisions {
        try RevisionVerifier.verify(
            revisions, control: control(people), authors: authors(people), knowing: view)
    }
}

func authors(_ people: [Person]) throws -> KnownAuthors { KnownAuthors(try people.map { try $0.keys() }) }

func document(_ text: String = "body") -> NoteDocument {
    NoteDocument(title: Array("title".utf8), body: Array(text.utf8), created: 1, modified: 2)
}
