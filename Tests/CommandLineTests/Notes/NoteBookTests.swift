// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import SignetAPI
import SignetClient
import SignetTesting
import Testing

@testable import NotesClient

/// A client of notes over a real directory and a notes server in memory.
@Suite(.serialized) struct NoteBookTests {
    static func handle(_ name: String) throws -> Handle { try Handle(typed: Array(name.utf8)) }
    static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A note of alice that bob may write, on the devices of both.
    static func shared(
        _ town: Town, _ server: PaperNoteServer, body: String = "one\ntwo\nthree\n"
    ) async throws -> NoteID {
        let note = try await NoteStage.with(town, "alice", server) { book in
            _ = try await book.sync()
            let note = try await book.create(title: bytes("Note"), body: bytes(body), tags: [bytes("tag")])
            try await book.share(note, with: handle(Town.bob), as: .writer)
            _ = try await book.sync()
            return note
        }
        for home in ["bob", "phone"] { try await sync(town, home, server) }
        return note
    }

    @discardableResult
    static func sync(_ town: Town, _ home: String, _ server: PaperNoteServer) async throws -> SyncReport {
        try await NoteStage.with(town, home, server) { try await $0.sync() }
    }

    static func facts(_ book: NoteBook<SQLiteStore>, _ note: NoteID) async throws -> NoteFacts {
        try await book.facts(note)
    }

    private static func sent(_ book: NoteBook<SQLiteStore>) async throws -> Int { try await book.sync().sentCount }

    private static func standing(
        _ town: Town, _ home: String, _ server: PaperNoteServer, _ note: NoteID
    ) async throws -> NoteFacts.Standing {
        try await NoteStage.with(town, home, server) { book in try await facts(book, note).standing }
    }

    static func body(_ facts: NoteFacts) -> String? {
        facts.document.map { String(decoding: $0.body, as: UTF8.self) }
    }

    static func edit(
        _ town: Town, _ home: String, _ server: PaperNoteServer, _ note: NoteID, _ body: String
    ) async throws {
        try await NoteStage.with(town, home, server) { book in try await book.edit(note) { $0.body = bytes(body) } }
    }

    // MARK: Two logs

    /// The directory shows alice one log and bob another of the same size. They share a note, and nothing else.
    @Test func aSharedNoteRevealsAForkOfTheLog() async throws {
        try await Town.with { town in
            let server = PaperNoteServer()
            try await town.serving { _ in
                try await NoteStage.with(town, "alice", server) { book in
                    _ = try await book.sync()
                    let note = try await book.create(title: Self.bytes("Note"), body: Self.bytes("one"))
                    try await book.share(note, with: Self.handle(Town.bob), as: .writer)
                    _ = try await book.sync()
                }
            }
            try FileManager.default.removeItem(at: town["bob/store.sqlite"])
            try await town.serving(.lyingServer, ["--attack", "forked-witness", "--port", "0"]) { _ in
                let met = try await Self.sync(town, "bob", server).met
                guard case .fork(let fork)? = try met[Self.handle(Town.alice)] else {
                    Issue.record("no fork was met: \(met)")
                    return
                }
                let folder = HomeFolder(path: town["bob"].path())
                let store = try SQLiteStore.open(at: folder.storePath)
                #expect(try await store.metForks() == [fork])
                let policy = try folder.profile().trust.policy
                #expect(throws: Never.self) { try EvidenceVerifier(policy: policy).verify(.fork(fork)) }
                try store.close()
            }
        }
    }

    /// A member who sees the same log as the sharer gets no report.
    @Test func aNoteFromAPersonWithTheSameLogReportsNoFork() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                let note = try await book.create(title: Self.bytes("Note"), body: Self.bytes("one"))
                try await book.share(note, with: Self.handle(Town.bob), as: .writer)
                _ = try await book.sync()
            }
            #expect(try await Self.sync(town, "bob", server).met == [Self.handle(Town.alice): .oneHistory])
        }
    }

    // MARK: Without a network

    @Test func aNoteWrittenOfflineIsReadableAtOnceAndSentLater() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            try await Self.sync(town, "alice", server)
            let note = try await NoteStage.with(town, "alice", server, deathAfter: DeathClock(3)) { book in
                try await book.create(title: Self.bytes("T"), body: Self.bytes("B"))
            }
            #expect(server.state.notes.isEmpty)
            try await NoteStage.with(town, "alice", server) { book in
                let facts = try await Self.facts(book, note)
                #expect(Self.body(facts) == "B" && facts.isPending)
                #expect(try await Self.sent(book) == 2)
                #expect(try await !Self.facts(book, note).isPending)
            }
            #expect(server.state.notes[note]?.revisions.count == 1)
        }
    }

    @Test func moreChangesThanSixteenRequestsCarryAreSentByOneSync() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let count = 16 * NotePushes.maximumCount / 2 + 1
            try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                for _ in 0..<count { _ = try await book.create(title: Self.bytes("T"), body: Self.bytes("B")) }
                let report = try await book.sync()
                #expect(report.sentCount == 2 * count)
                #expect(report.refused.isEmpty)
            }
            #expect(server.state.notes.count == count)
        }
    }

    @Test func changesOfDifferentLinesAreMerged() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            try await Self.edit(town, "bob", server, note, "ONE\ntwo\nthree\n")
            try await Self.edit(town, "phone", server, note, "one\ntwo\nTHREE\n")
            try await Self.sync(town, "bob", server)
            let report = try await Self.sync(town, "phone", server)
            #expect(report.copies.isEmpty)
            for home in ["bob", "phone", "alice"] {
                try await NoteStage.with(town, home, server) { book in
                    _ = try await book.sync()
                    #expect(Self.body(try await Self.facts(book, note)) == "ONE\ntwo\nTHREE\n", "\(home)")
                    #expect(await book.notes().count == 1)
                }
            }
        }
    }

    @Test func changesOfOneLineBecomeTwoNotes() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            try await Self.edit(town, "bob", server, note, "bob\ntwo\nthree\n")
            try await Self.edit(town, "phone", server, note, "phone\ntwo\nthree\n")
            try await Self.sync(town, "bob", server)
            let report = try await Self.sync(town, "phone", server)
            let copy = try #require(report.copies.first)
            try await Self.sync(town, "bob", server)
            for home in ["bob", "phone"] {
                try await NoteStage.with(town, home, server) { book in
                    #expect(Self.body(try await Self.facts(book, note)) == "bob\ntwo\nthree\n", "\(home)")
                    let other = try await Self.facts(book, copy)
                    #expect(Self.body(other) == "phone\ntwo\nthree\n" && other.document?.conflictOf == note, "\(home)")
                }
            }
        }
    }

    @Test func aPendingChangeIsKeptAsACopyWhenTheNoteIsUnshared() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            try await Self.edit(town, "bob", server, note, "mine")
            try await NoteStage.with(town, "alice", server) { try await $0.unshare(note, from: Self.handle(Town.bob)) }
            let report = try await Self.sync(town, "bob", server)
            let copy = try #require(report.copies.first)
            try await NoteStage.with(town, "bob", server) { book in
                let kept = try await book.facts(copy)
                #expect(Self.body(kept) == "mine" && kept.standing == .owner)
                let lost = try await book.facts(note)
                #expect(lost.standing == .removed)
            }
        }
    }

    @Test func aMemberWhoLeavesKeepsTheText_andTheOwnersNextSyncRekeys() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server, body: "before")
            try await Self.edit(town, "bob", server, note, "mine")
            try await NoteStage.with(town, "alice", server) { book in
                _ = await #expect(throws: NotesError.ownersStay) { try await book.leave(note) }
            }
            try await NoteStage.with(town, "bob", server) { book in
                try await book.comment(Self.bytes("goodbye"), on: note)
                try await book.leave(note)
                let facts = try await book.facts(note)
                #expect(facts.standing == .left && Self.body(facts) == "mine")
                await #expect(throws: NotesError.isGone) { try await book.leave(note) }
            }
            try await NoteStage.with(town, "alice", server) { book in
                #expect(try await book.sync().rekeyed == [note])
                let facts = try await book.facts(note)
                #expect(facts.members.isEmpty && facts.epoch == 2 && Self.body(facts) == "mine")
                #expect(facts.comments.map(\.text) == [Self.bytes("goodbye")])
                #expect(try await book.sync().rekeyed.isEmpty)
            }
            try await Self.sync(town, "phone", server)
            #expect(try await Self.standing(town, "phone", server, note) == .left)
            try await NoteStage.with(town, "alice", server) { book in
                try await book.share(note, with: Self.handle(Town.bob), as: .reader)
            }
            try await Self.sync(town, "bob", server)
            #expect(try await Self.standing(town, "bob", server, note) == .reader)
        }
    }

    /// The server signs for bob with its own key, so that alice would remove him from the note.
    @Test func aServerCannotForgeALeave() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server, body: "before")
            let (bob, key) = (try Self.handle(Town.bob), Curve25519.Signing.PrivateKey())
            var state = server.state
            let before = try #require(state.notes[note]?.snapshot.control)
            let forged = try ControlEntry(
                note: note, number: before.number + 1, previous: before.head, time: 1,
                author: Author(handle: bob, device: Array(key.publicKey.rawRepresentation)), action: .leave,
                with: { Array(try key.signature(for: $0)) })
            state.notes[note]?.control.append((forged, nil))
            state.notes[note]?.snapshot.control = try before.applying(forged)
            for handle in [bob, try Self.handle(Town.alice)] {
                state.feeds[handle, default: []].append(.control(forged, children: nil))
            }
            server.state = state
            #expect(try await Self.sync(town, "alice", server).rekeyed.isEmpty)
            try await NoteStage.with(town, "alice", server) { book in
                let facts = try await book.facts(note)
                #expect(facts.members.map(\.handle) == [bob] && facts.fault == nil && facts.epoch == 1)
                try await book.edit(note) { $0.body = Self.bytes("after") }
                #expect(try await Self.sent(book) == 1, "the forged entry does not block writing")
            }
            try await Self.sync(town, "phone", server)
            #expect(try await Self.standing(town, "phone", server, note) == .writer)
            // After the forged entry the server gives bob no more records; alice sees why, and can share the note
            // again.
            try await NoteStage.with(town, "alice", server) { book in
                #expect(try await book.facts(note).left == [bob])
                try await book.share(note, with: bob, as: .writer)
                #expect(try await book.facts(note).left.isEmpty)
            }
        }
    }

    @Test func commentsAndStarsOfMembersAreSeenByAll() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            try await NoteStage.with(town, "bob", server) { book in
                try await book.comment(Self.bytes("hear, hear"), on: note)
                try await book.star(note)
                _ = try await book.sync()
            }
            try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                let facts = try await Self.facts(book, note)
                #expect(facts.comments.map(\.text) == [Self.bytes("hear, hear")])
                #expect(facts.stars == [try Self.handle(Town.bob)])
                #expect(await book.search(Self.bytes("HEAR")).map(\.place) == [.comment])
                #expect(await book.search(Self.bytes("wo"), atWordStart: true).isEmpty)
                #expect(await book.search(Self.bytes("tw"), atWordStart: true).map(\.place) == [.body])
            }
        }
    }

    // MARK: Z6

    /// The keys on bob's devices, with all records that the server has, open no record that was written after his
    /// removal.
    @Test func aRemovedMemberOpensNoLaterRecord() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server, body: "before")
            try await NoteStage.with(town, "alice", server) { book in
                try await book.unshare(note, from: Self.handle(Town.bob))
                try await book.edit(note) { $0.body = Self.bytes("after") }
                try await book.comment(Self.bytes("also after"), on: note)
                _ = try await book.sync()
            }
            let later = try #require(server.state.notes[note])
            #expect(later.revisions.count == 3 && later.snapshot.control.epoch == 2)
            // The server gives bob's devices all records: entries, revisions, comments and wraps.
            var state = server.state
            var items: [FeedItem] = later.control.map { .control($0.entry, children: $0.children) }
            items += later.revisions.map { .revision($0) } + later.children.map { .child($0) }
            items += later.wraps.map { .wrap($0) }
            items += try (state.feeds[Self.handle(Town.alice)] ?? []).filter {
                if case .ownWrap = $0 { true } else { false }
            }
            state.feeds[try Self.handle(Town.bob), default: []] += items
            server.state = state
            for home in ["bob", "phone"] {
                try await NoteStage.with(town, home, server) { book in
                    _ = try await book.sync()
                    let facts = try await Self.facts(book, note)
                    #expect(Self.body(facts) == "before", "the text that was read is kept")
                    #expect(facts.comments.isEmpty && facts.standing == .removed)
                    for number in UInt64(2)...3 {
                        await #expect(throws: NotesError.self) { try await book.document(note, revision: number) }
                    }
                }
                let desk = try await NoteStage(town, home, server)
                for wrap in later.wraps where wrap.header.epoch == 2 {
                    #expect(wrap.header.recipient.handle != desk.secrets.handle)
                }
                try desk.close()
            }
        }
    }

    /// A thief with the device, and with the server's help, after the device was revoked and the keys were changed.
    @Test func aLostDeviceOpensNoRecordAfterARotation() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            try await town.addDeviceOfAlice("tablet")
            let note = try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                let note = try await book.create(title: Self.bytes("T"), body: Self.bytes("before"))
                _ = try await book.sync()
                return note
            }
            try await Self.sync(town, "tablet", server)
            expect(0, try await town.signet("alice", "devices", "revoke", "2", "--keep-keys"))
            let later = try await NoteStage.with(town, "alice", server) { book in
                #expect(try await Self.rotated(book) == 1)
                try await book.edit(note) { $0.body = Self.bytes("after") }
                let later = try await book.create(title: Self.bytes("New"), body: Self.bytes("after"))
                _ = try await book.sync()
                return later
            }
            try await NoteStage.with(town, "tablet", server) { book in
                let before = try await book.facts(note)
                #expect(Self.body(before) == "before")
                await #expect(throws: NotesError.self) { try await book.sync() }
                // The server gives it all records, and its program ignores that it was revoked.
                try await book.pull()
                for name in [note, later] {
                    let facts = try await book.facts(name)
                    #expect(facts.document == nil, "\(name == note ? "edited" : "new")")
                }
                await #expect(throws: NotesError.locked(.noKey(epoch: 2))) {
                    try await book.document(note, revision: 2)
                }
            }
            try await NoteStage.with(town, "alice", server) { book in
                let facts = try await book.facts(note)
                #expect(Self.body(facts) == "after" && facts.epoch == 2)
                #expect(try await Self.text(book, note, 1) == "before", "older revisions still open")
            }
        }
    }

    @Test func aRotationThatWasInterruptedIsFinishedByTheNextSync() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                try await book.replaceAccountKey()
            }
            #expect(try await Self.sync(town, "alice", server).rekeyed == [note])
            #expect(try await Self.sync(town, "alice", server).rekeyed.isEmpty)
            #expect(server.state.notes[note]?.snapshot.control.epoch == 2)
            try await Self.sync(town, "bob", server)
            #expect(try await Self.standing(town, "bob", server, note) == .writer)
        }
    }

    private static func rotated(_ book: NoteBook<SQLiteStore>) async throws -> Int { try await book.rotate() }

    private static func text(_ book: NoteBook<SQLiteStore>, _ note: NoteID, _ revision: UInt64) async throws -> String {
        String(decoding: try await book.document(note, revision: revision).body, as: UTF8.self)
    }

    // MARK: A server that lies

    @Test func aServerThatWasRolledBackIsRefused() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            let old = server.state
            try await Self.edit(town, "bob", server, note, "new")
            for home in ["bob", "phone"] { try await Self.sync(town, home, server) }
            server.state = old
            for home in ["bob", "phone"] {
                await #expect(throws: NotesError.serverWentBack) { try await Self.sync(town, home, server) }
            }
        }
    }

    @Test func aRevisionWithheldFromOneDeviceIsRevealedByAnother() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            let bob = try Self.handle(Town.bob)
            let feed = server.state.feeds[bob]
            try await Self.edit(town, "bob", server, note, "new")
            try await Self.sync(town, "bob", server)
            var lying = server.state
            lying.feeds[bob] = feed
            server.state = lying
            try await NoteStage.with(town, "phone", server) { book in
                _ = try await book.sync()
                #expect(try await Self.facts(book, note).fault == .withheld)
            }
        }
    }

    @Test func aControlEntryThatTheOwnerDidNotSignIsRefused() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            // Bob, who may write, signs an entry that makes him the owner.
            let desk = try await NoteStage(town, "bob", server)
            var state = server.state
            let control = try #require(state.notes[note]?.snapshot.control)
            let secrets = desk.secrets
            let forged = try ControlEntry(
                note: note, number: control.number + 1, previous: control.head, time: 1,
                author: Author(handle: secrets.handle, device: secrets.keys.signing), action: .transfer(secrets.handle),
                with: { try secrets.sign($0) })
            try desk.close()
            for name in [Town.alice, Town.bob] {
                state.feeds[try Self.handle(name), default: []].append(.control(forged, children: nil))
            }
            server.state = state
            for home in ["alice", "phone"] {
                try await NoteStage.with(town, home, server) { book in
                    _ = try await book.sync()
                    let facts = try await Self.facts(book, note)
                    #expect(facts.fault == .control(.refused(number: forged.number, .authorIsOwner)), "\(home)")
                    #expect(facts.owner == (try Self.handle(Town.alice)) && Self.body(facts) == "one\ntwo\nthree\n")
                }
            }
        }
    }

    // MARK: Keys that change

    @Test func aNewDeviceOfAMemberGetsNoKeyBeforeTheUserAcceptsIt() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            try await town.addDeviceOfBob("tablet")
            let bob = try Self.handle(Town.bob)
            try await NoteStage.with(town, "alice", server) { book in
                let mine = try await book.create(title: Self.bytes("Other"), body: [])
                await #expect {
                    try await book.share(mine, with: bob, as: .reader)
                } throws: { error in
                    guard case .changedKeys(bob, _) = error as? NotesError else { return false }
                    return true
                }
                try await book.rekey(note)
            }
            func recipients(_ epoch: UInt32) -> Int {
                server.state.notes[note]?.wraps.count { $0.header.epoch == epoch } ?? 0
            }
            #expect(recipients(2) == 2, "the two devices that alice accepted")
            expect(0, try await town.signet("alice", "people", "trust", Town.bob, "--yes"))
            try await NoteStage.with(town, "alice", server) { try await $0.rekey(note) }
            #expect(recipients(3) == 3)
        }
    }

    // MARK: Comments that the owner's device does not accept

    /// Bob and a second device of his comment; the second one is removed before alice fetches what it wrote.
    private static func commentOfARemovedDevice(
        _ town: Town, _ server: PaperNoteServer
    ) async throws -> NoteID {
        let note = try await shared(town, server)
        for (home, text) in [("bob", "mine"), ("phone", "the thief's")] {
            try await NoteStage.with(town, home, server) { book in
                try await book.comment(bytes(text), on: note)
                _ = try await book.sync()
            }
        }
        try await sync(town, "bob", server)
        expect(0, try await town.signet("bob", "devices", "revoke", "2", "--keep-keys"))
        return note
    }

    @Test func aCommentOfARemovedDeviceDoesNotBlockUnsharing() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.commentOfARemovedDevice(town, server)
            try await NoteStage.with(town, "alice", server) { book in
                try await book.unshare(note, from: Self.handle(Town.bob))
                let facts = try await book.facts(note)
                #expect(facts.members.isEmpty && facts.epoch == 2)
                #expect(facts.comments.map(\.text) == [Self.bytes("mine")])
                #expect(facts.leftOut.map(\.handle) == [try Self.handle(Town.bob)])
                #expect(facts.fault == nil)
            }
        }
    }

    /// Bob's own device accepted the comment while the other one was his; then the owner's rekey decides, there too,
    /// and in every later key.
    @Test func aCommentThatARekeyLeftOutIsIgnoredByAllAfterwards() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.commentOfARemovedDevice(town, server)
            let removed = try #require(server.state.notes[note]?.children.last?.author)
            try await NoteStage.with(town, "bob", server) { book in
                let facts = try await book.facts(note)
                #expect(facts.comments.count == 2)
            }
            for epoch in UInt32(2)...3 {
                try await NoteStage.with(town, "alice", server) { try await $0.rekey(note) }
                for home in ["alice", "bob"] {
                    try await NoteStage.with(town, home, server) { book in
                        _ = try await book.sync()
                        let facts = try await book.facts(note)
                        #expect(facts.epoch == epoch && facts.comments.map(\.text) == [Self.bytes("mine")], "\(home)")
                        #expect(facts.leftOut == [removed] && facts.fault == nil, "\(home)")
                    }
                }
            }
            // A device that is added later gets the comment and the list that leaves it out.
            try await town.addDeviceOfAlice("tablet")
            try await Self.sync(town, "alice", server)
            try await NoteStage.with(town, "tablet", server) { book in
                _ = try await book.sync()
                let facts = try await book.facts(note)
                #expect(facts.comments.map(\.text) == [Self.bytes("mine")])
                #expect(facts.leftOut == [removed] && facts.fault == nil)
            }
        }
    }

    @Test func aCommentOfAnUnacceptedDeviceDoesNotBlockUnsharing() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.shared(town, server)
            try await town.addDeviceOfBob("tablet")
            for home in ["bob", "tablet", "bob"] { try await Self.sync(town, home, server) }
            try await NoteStage.with(town, "tablet", server) { book in
                _ = try await book.sync()
                try await book.comment(Self.bytes("from the tablet"), on: note)
                #expect(try await Self.sent(book) == 1)
            }
            try await NoteStage.with(town, "alice", server) { book in
                try await book.unshare(note, from: Self.handle(Town.bob))
                let facts = try await book.facts(note)
                #expect(facts.members.isEmpty && facts.comments.isEmpty)
                #expect(facts.leftOut == server.state.notes[note]?.children.map(\.author))
            }
        }
    }

    /// A server withholds the comment list of the last key from a device of the owner, so that it would leave out all
    /// older comments.
    @Test func anOwnersDeviceWithoutTheCommentListDoesNotRekey() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.commentOfARemovedDevice(town, server)
            try await NoteStage.with(town, "alice", server) { try await $0.rekey(note) }
            try await town.addDeviceOfAlice("tablet")
            expect(0, try await town.signet("tablet", "people", "add", Town.bob))
            try await Self.sync(town, "alice", server)
            var state = server.state
            let alice = try Self.handle(Town.alice)
            state.feeds[alice] = state.feeds[alice]?.map { item in
                if case .control(let entry, _?) = item { .control(entry, children: nil) } else { item }
            }
            server.state = state
            try await NoteStage.with(town, "tablet", server) { book in
                _ = try await book.sync()
                await #expect(throws: NotesError.locked(.child(.wrongList))) { try await book.rekey(note) }
            }
            #expect(server.state.notes[note]?.control.last?.children?.children.count == 1)
        }
    }
}
