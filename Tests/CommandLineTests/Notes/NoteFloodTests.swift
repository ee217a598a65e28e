// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import GRDB
import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import SignetClient
import SignetTesting
import Synchronization
import Testing

@testable import NotesClient

/// A server, or members of an honest server, that try to fill a device or to keep it busy for ever.
@Suite(.serialized) struct NoteFloodTests {
    private typealias Book = NoteBookTests

    /// Small bounds for tests.
    private static var small: FeedBounds {
        var bounds = FeedBounds.standard
        (bounds.pages, bounds.heads, bounds.people) = (6, 50, 8)
        (bounds.noteBytes, bounds.bytes, bounds.refutedBytes) = (40_000, 120_000, 20_000)
        return bounds
    }

    /// Makes records signed by a device that no account lists.
    private struct Forger {
        let key = Curve25519.Signing.PrivateKey()
        let handle: Handle
        var author: Author { Author(handle: handle, device: Array(key.publicKey.rawRepresentation)) }

        func sign(_ bytes: [UInt8]) throws -> [UInt8] { Array(try key.signature(for: bytes)) }

        func entry(
            _ note: NoteID, _ number: UInt64, after previous: RecordHash, _ action: ControlAction
        ) throws -> ControlEntry {
            try ControlEntry(
                note: note, number: number, previous: previous, time: .random(in: 1...1 << 40), author: author,
                action: action, with: sign)
        }

        func revision(_ note: NoteID, _ number: UInt64, _ control: ControlState) throws -> RevisionRecord {
            try RevisionRecord(
                note: note, number: number, parent: .none, epoch: control.epoch, control: control.head, author: author,
                sealed: [UInt8](repeating: 7, count: 700), with: sign)
        }

        func child(_ note: NoteID, _ epoch: UInt32, _ control: RecordHash) throws -> ChildRecord {
            try ChildRecord(
                note: note, child: .random(), epoch: epoch, control: control, author: author,
                sealed: [UInt8](repeating: 7, count: 700), with: sign)
        }

        func wrap(_ note: NoteID, for recipient: Author, _ control: ControlState) throws -> WrapRecord {
            let header = WrapRecord.Header(
                note: note, epoch: control.epoch, control: control.head, sender: author, recipient: recipient,
                recipientKeys: [UInt8](repeating: 1, count: 32), suite: .p256)
            return try WrapRecord(
                header, encapsulation: (0..<65).map { _ in UInt8.random(in: 0...255) },
                ciphertext: [UInt8](repeating: 2, count: 48), with: sign)
        }
    }

    /// The bytes of records that a device keeps without accepting them, and of refuted ones; the number of accepted
    /// comments, and of records that it does not accept.
    private static func unbelieved(
        _ town: Town, _ home: String
    ) throws -> (records: Int, aside: Int, comments: Int, count: Int) {
        let queue = try DatabaseQueue(path: town[home].path() + "/notes.sqlite")
        defer { try? queue.close() }
        return try queue.read { db in
            (
                try Int.fetchOne(db, sql: "SELECT SUM(length(bytes)) FROM record WHERE is_accepted <> 1") ?? 0,
                try Int.fetchOne(db, sql: "SELECT SUM(length(bytes)) FROM refuted") ?? 0,
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM record WHERE kind = 3 AND is_accepted = 1") ?? 0,
                try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM record WHERE is_accepted <> 1") ?? 0
            )
        }
    }

    // MARK: Pages without end

    @Test func anEndlessFeedIsRefused() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Book.shared(town, server, body: "before")
            let forger = Forger(handle: try Book.handle(Town.alice))
            let asked = Mutex(0)
            let lie: LyingTransport.Answer = { route, body in
                guard route == .pull, let request = try? FeedRequest(decoding: body),
                    let junk = try? forger.entry(.random(), 1, after: .none, .create(keyCommitment: .zeros))
                else { return nil }
                guard
                    asked.withLock({
                        $0 += 1; return $0 <= 100
                    })
                else { return [] }
                let entry = FeedPage.Entry(position: request.cursor + 1, item: .control(junk, children: nil))
                return FeedAnswer.page(FeedPage(entries: [entry], next: request.cursor + 1, newest: .max)).encoded
            }
            await #expect(throws: NotesError.endlessFeed) {
                try await NoteStage.with(town, "bob", server, bounds: Self.small, lie: lie) { try await $0.sync() }
            }
            #expect(asked.withLock(\.self) == Self.small.pages)
            // The honest server is behind that position: the deceived device starts its feed again when the user asks
            // for it.
            try await Book.edit(town, "alice", server, note, "after")
            try await Book.sync(town, "alice", server)
            await #expect(throws: NotesError.serverWentBack) { try await Book.sync(town, "bob", server) }
            try await NoteStage.with(town, "bob", server) { book in
                _ = try await book.sync(fromStart: true)
                #expect(try await Book.body(book.facts(note)) == "after")
            }
        }
    }

    /// A device stops at pages without entries, and at a feed that restarts again and again.
    @Test func aFeedThatMakesNoProgressIsRefused() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            _ = try await Book.shared(town, server, body: "before")
            let turns = Mutex(0)
            let empty: LyingTransport.Answer = { route, body in
                guard route == .pull, let request = try? FeedRequest(decoding: body) else { return nil }
                return FeedAnswer.page(FeedPage(entries: [], next: request.cursor + 1, newest: .max)).encoded
            }
            let entry = FeedPage.Entry(position: 1, item: .gone(.random()))
            let anew: LyingTransport.Answer = { route, body in
                guard route == .pull, let request = try? FeedRequest(decoding: body) else { return nil }
                turns.withLock { $0 += 1 }
                let page = FeedAnswer.page(FeedPage(entries: [entry], next: 1, newest: .max))
                return (request.cursor > 0 ? FeedAnswer.resyncRequired : page).encoded
            }
            for lie in [empty, anew] {
                await #expect(throws: NotesError.malformedAnswer) {
                    try await NoteStage.with(town, "bob", server, lie: lie) { _ = try await $0.sync() }
                }
            }
            #expect(turns.withLock(\.self) == 3)
        }
    }

    @Test func endlessAccountHeadsAreRefused() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            _ = try await Book.shared(town, server)
            let forger = Forger(handle: try Book.handle(Town.bob))
            let asked = Mutex(0)
            let lie: LyingTransport.Answer = { route, body in
                if route == .accountHeads,
                    asked.withLock({
                        $0 += 1; return $0 > 100
                    })
                {
                    return []
                }
                guard route == .accountHeads, let request = try? AccountHeadsRequest(decoding: body),
                    let head = try? AccountHead(
                        author: forger.author, number: request.after + 1, previous: .none, notes: .none,
                        with: forger.sign)
                else { return nil }
                return AccountHeadsAnswer(heads: [head], notes: nil).encoded
            }
            await #expect(throws: NotesError.endlessFeed) {
                try await NoteStage.with(town, "bob", server, bounds: Self.small, lie: lie) { try await $0.sync() }
            }
        }
    }

    // MARK: Records that no device accepts

    /// Every kind of record, of the note that bob has and of notes that do not exist.
    private static func junk(
        of note: NoteID, _ control: ControlState, for device: Author, first: RecordHash
    ) throws -> [FeedItem] {
        let forger = Forger(handle: try Book.handle(Town.alice))
        var items: [FeedItem] = []
        for number in UInt64(1)...200 {
            let unknown = NoteID.random()
            let nobody = Forger(handle: try Book.handle("nobody\(number)@example.org"))
            items += [
                .control(
                    try forger.entry(note, 1 + number % 6, after: first, .share(forger.handle, .reader)), children: nil),
                .control(
                    try forger.entry(note, 1, after: .none, .create(keyCommitment: .zeros)),
                    children: ChildList([RecordHash(of: unknown.bytes)])),
                .revision(try forger.revision(note, 1 + number, control)),
                .child(try forger.child(note, control.epoch, control.head)),
                .child(try forger.child(note, 1, first)),
                .wrap(try forger.wrap(note, for: device, control)),
                .control(
                    try nobody.entry(unknown, 1, after: .none, .create(keyCommitment: .zeros)), children: nil),
                .wrap(try forger.wrap(unknown, for: device, control)), .gone(unknown),
            ]
        }
        return items
    }

    @Test func unverifiableRecordsFillNoDevice() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Book.shared(town, server, body: "before")
            try await NoteStage.with(town, "alice", server) { try await $0.rekey(note) }
            try await Book.sync(town, "bob", server)
            let desk = try await NoteStage(town, "bob", server)
            let device = Author(handle: desk.secrets.handle, device: desk.secrets.keys.signing)
            try desk.close()
            let there = try #require(server.state.notes[note])
            let items = try Self.junk(
                of: note, there.snapshot.control, for: device, first: try #require(there.control.first).entry.hash)
            server.state.feeds[try Book.handle(Town.bob), default: []] += items
            try await Book.edit(town, "alice", server, note, "after")
            try await Book.sync(town, "alice", server)

            for _ in 0..<2 {
                let asked = Mutex(0)
                let count: LyingTransport.Answer = { route, _ in
                    if route == nil { asked.withLock { $0 += 1 } }
                    return nil
                }
                try await NoteStage.with(town, "bob", server, bounds: Self.small, lie: count) { book in
                    let dropped = try await book.sync(fromStart: true).dropped
                    #expect(dropped.contains(note) && dropped.count > 100)
                    #expect(try await Book.body(book.facts(note)) == "after", "no accepted record is lost")
                    #expect(await book.notes().count < 100, "notes without kept records are not listed")
                }
                let kept = try Self.unbelieved(town, "bob")
                #expect(kept.records <= Self.small.bytes && kept.aside <= Self.small.refutedBytes, "\(kept)")
                #expect(kept.records > Self.small.bytes / 4 && kept.aside > Self.small.refutedBytes / 4, "\(kept)")
                #expect(kept.comments == 0, "a comment into an old epoch is not accepted")
                #expect(asked.withLock(\.self) < 40, "people who do not exist are not looked up without end")
            }
            try await NoteStage.with(town, "bob", server, bounds: Self.small) { book in
                let facts = try await book.facts(note)
                #expect(Book.body(facts) == "after")
                #expect(facts.fault == .overfull, "it is reported also after a restart")
            }

            try await Book.edit(town, "alice", server, note, "later")
            try await Book.sync(town, "alice", server)
            var strict = Self.small
            strict.people = 0
            try await NoteStage.with(town, "bob", server, bounds: strict) { book in
                _ = try await book.sync(fromStart: true)
                let facts = try await book.facts(note)
                #expect(Book.body(facts) == "later", "members are looked up although there is no room for others")
            }
        }
    }

    /// Keys, lists and files of an honest server do not count among unaccepted records.
    @Test func afterAnHonestSyncEveryRecordIsAccepted() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Book.shared(town, server, body: "before")
            try await NoteStage.with(town, "bob", server) { book in
                try await book.comment(Book.bytes("hm"), on: note)
                _ = try await book.sync()
            }
            try await NoteStage.with(town, "alice", server) { try await $0.rekey(note) }
            for home in ["bob", "phone", "alice", "bob"] { try await Book.sync(town, home, server) }
            for home in ["alice", "bob", "phone"] { #expect(try Self.unbelieved(town, home).count == 0, "\(home)") }
        }
    }

    // MARK: Members who flood, and an honest server

    /// Bob's new device, which alice has not accepted, writes more than alice's device keeps.
    private static func floodOfAnUnacceptedDevice(
        _ town: Town, _ server: PaperNoteServer, _ write: (NoteBook<SQLiteStore>, NoteID) async throws -> Void
    ) async throws -> NoteID {
        let note = try await Book.shared(town, server, body: "agreed")
        try await town.addDeviceOfBob("tablet")
        for home in ["bob", "tablet", "bob", "tablet"] { try await Book.sync(town, home, server) }
        try await NoteStage.with(town, "tablet", server) { book in
            for _ in 0..<70 { try await write(book, note) }
            _ = try await book.sync()
        }
        try await NoteStage.with(town, "alice", server, bounds: small) { book in
            let report = try await book.sync()
            let facts = try await book.facts(note)
            #expect(report.dropped == [note] && Book.body(facts) == "agreed")
            #expect(facts.fault == .changedKeys(try Book.handle(Town.bob)))
        }
        return note
    }

    private static func edit(_ book: NoteBook<SQLiteStore>, _ note: NoteID) async throws {
        try await book.edit(note) { $0.body += Book.bytes(" more") }
        _ = try await book.sync()
    }

    @Test func droppedRecordsAreFetchedOnceTheirDeviceIsAccepted() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.floodOfAnUnacceptedDevice(town, server, Self.edit)
            expect(0, try await town.signet("alice", "people", "trust", Town.bob, "--yes"))
            try await NoteStage.with(town, "alice", server, bounds: Self.small) { book in
                _ = try await book.sync()
                let facts = try await book.facts(note)
                #expect(Book.body(facts)?.count == 6 + 70 * 5 && facts.fault == nil)
            }
        }
    }

    @Test func aFloodOfRevisionsCanBeReverted() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.floodOfAnUnacceptedDevice(town, server, Self.edit)
            try await NoteStage.with(town, "alice", server, bounds: Self.small) { book in
                try await book.revert(note)
                try await book.unshare(note, from: Book.handle(Town.bob))
                let facts = try await book.facts(note)
                #expect(Book.body(facts) == "agreed" && facts.members.isEmpty && facts.fault == nil)
            }
        }
    }

    @Test func aFloodOfCommentsDoesNotBlockUnsharing() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.floodOfAnUnacceptedDevice(town, server) { book, note in
                try await book.comment(Book.bytes("on and on"), on: note)
            }
            try await NoteStage.with(town, "alice", server, bounds: Self.small) { book in
                try await book.unshare(note, from: Book.handle(Town.bob))
                let facts = try await book.facts(note)
                #expect(facts.members.isEmpty && facts.comments.isEmpty)
            }
            #expect(server.state.notes[note]?.snapshot.control.epoch == 2)
        }
    }
}

extension NoteID {
    fileprivate static func random() -> NoteID {
        NoteID((0..<NoteID.byteCount).map { _ in UInt8.random(in: 0...255) }) ?? NoteID.random()
    }
}

extension [UInt8] {
    fileprivate static var zeros: [UInt8] { [UInt8](repeating: 0, count: 32) }
}
