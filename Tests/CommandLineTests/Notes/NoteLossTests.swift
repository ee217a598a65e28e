// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import SignetClient
import SignetTesting
import Testing

@testable import NotesClient

/// A server of notes is restored to an earlier state. Whoever holds it gains nothing, and the people go on once they accept that.
@Suite(.serialized) struct NoteLossTests {
    private typealias Book = NoteBookTests
    private static let bytes = NoteBookTests.bytes

    /// What `signet notes accept-loss` does, with a book of a stage.
    private static func acceptLoss(
        _ town: Town, _ home: String, _ server: PaperNoteServer, deathAfter clock: DeathClock = DeathClock()
    ) async throws -> AcceptedLoss? {
        let path = town[home].path() + "/notes.sqlite"
        let loss: AcceptedLoss? = try await NoteStage.with(town, home, server, deathAfter: clock) { book in
            guard try await book.isMissingSomething() else { return nil }
            try NotesStore.remove(at: path + ".next")
            let store = try NotesStore.open(at: path + ".next") { () throws(StoreError) in try clock.write() }
            defer { try? store.close() }
            return try await book.startOver(in: store)
        }
        guard let loss else { return nil }
        try DurableFile(path: path).makeWay(
            for: path + ".next", keptAt: path + ".before-\(UInt64.random(in: 0...(.max)))")
        _ = try? await Book.sync(town, home, server)
        return loss
    }

    private static func facts(
        _ town: Town, _ home: String, _ server: PaperNoteServer, _ note: NoteID
    ) async throws -> NoteFacts {
        try await NoteStage.with(town, home, server) { book in
            _ = try await book.sync()
            return try await book.facts(note)
        }
    }

    // MARK: What was written

    @Test func whatAnEarlierServerLacksIsBroughtAgain() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.sharedNote(town, server)
            let old = server.state
            try await Book.edit(town, "bob", server, note, "new")
            for home in ["bob", "phone", "alice"] { try await Book.sync(town, home, server) }
            let later = try await NoteStage.with(town, "alice", server) { book in
                try await book.comment(Self.bytes("said"), on: note)
                try await book.star(note)
                let later = try await book.create(title: Self.bytes("Later"), body: Self.bytes("late"))
                _ = try await book.sync()
                return later
            }
            server.state = old
            for home in ["alice", "bob", "phone"] {
                await #expect(throws: NotesError.serverWentBack) { try await Book.sync(town, home, server) }
            }

            let alices = try #require(try await Self.acceptLoss(town, "alice", server))
            #expect(alices.rewritten == [note] && Set(alices.remade.keys) == [later])
            #expect(alices.copies.isEmpty && alices.removed.isEmpty && alices.unshared.isEmpty)
            let again = try await Self.facts(town, "alice", server, note)
            #expect(Book.body(again) == "new" && again.fault == nil && !again.isPending)
            #expect(again.comments.map(\.text) == [Self.bytes("said")] && again.stars.count == 1)
            let made = try #require(alices.remade[later])
            #expect(Book.body(try await Self.facts(town, "alice", server, made)) == "late")

            // The others lack nothing but their own view: alice brought the text.
            for home in ["bob", "phone"] {
                let loss = try #require(try await Self.acceptLoss(town, home, server))
                #expect(loss == AcceptedLoss(), "\(loss)")
                #expect(Book.body(try await Self.facts(town, home, server, note)) == "new")
            }
            #expect(try await Self.acceptLoss(town, "alice", server) == nil, "nothing is missing any more")
        }
    }

    /// Nothing of the server's notes is left.
    @Test func anEmptyServerGetsEverythingThatIsOnesOwn() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.sharedNote(town, server)
            server.state = PaperNoteServer().state
            let alices = try #require(try await Self.acceptLoss(town, "alice", server))
            let made = try #require(alices.remade[note])
            let bob = try Book.handle(Town.bob)
            #expect(alices.unshared == [made: [bob: .writer]])
            // The reader keeps a copy, since nobody may ever bring the note again.
            let bobs = try #require(try await Self.acceptLoss(town, "bob", server))
            let copy = try #require(bobs.remade[note])
            #expect(Book.body(try await Self.facts(town, "bob", server, copy)) == "one\ntwo\nthree\n")
            #expect(bobs.unshared.isEmpty, "only its owner shares it again")
            try await NoteStage.with(town, "alice", server) { book in
                try await book.share(made, with: bob, as: .writer)
            }
            #expect(Book.body(try await Self.facts(town, "bob", server, made)) == "one\ntwo\nthree\n")
        }
    }

    /// Somebody who had not seen the lost change wrote another one.
    @Test func bothSidesOfAForkAreKept() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.sharedNote(town, server)
            let old = server.state
            try await Book.edit(town, "alice", server, note, "alice's")
            try await Book.sync(town, "alice", server)
            server.state = old
            try await Book.edit(town, "bob", server, note, "bob's")
            try await Book.sync(town, "bob", server)

            let loss = try #require(try await Self.acceptLoss(town, "alice", server))
            let copy = try #require(loss.copies[note])
            #expect(loss.rewritten.isEmpty && loss.remade.isEmpty)
            #expect(Book.body(try await Self.facts(town, "alice", server, note)) == "bob's")
            let mine = try await Self.facts(town, "alice", server, copy)
            #expect(Book.body(mine) == "alice's" && mine.document?.conflictOf == note)
        }
    }

    /// Two devices of an account bring what both had once, and a reader's comment goes back to the note.
    @Test func devicesOfOneAccountBringTheSameOnce() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            _ = try await Self.sharedNote(town, server)
            let old = server.state
            try await NoteStage.with(town, "bob", server) { book in
                let mine = try await book.create(title: Self.bytes("Mine"), body: Self.bytes("own"))
                try await book.comment(Self.bytes("said"), on: mine)
                _ = try await book.sync()
            }
            try await Book.sync(town, "phone", server)
            server.state = old
            #expect(try #require(try await Self.acceptLoss(town, "bob", server)).remade.count == 1)
            #expect(try #require(try await Self.acceptLoss(town, "phone", server)) == AcceptedLoss())
            for home in ["bob", "phone", "bob"] {
                let notes = try await NoteStage.with(town, home, server) { book in
                    _ = try await book.sync()
                    return await book.notes()
                }
                let mine = notes.filter { $0.document?.title == Self.bytes("Mine") }
                #expect(mine.count == 1 && mine.first?.comments.map(\.text) == [Self.bytes("said")], "\(home)")
            }
        }
    }

    @Test func aReadersCommentGoesBackToTheNoteAlthoughItsTextCannot() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let bob = try Book.handle(Town.bob)
            let note = try await NoteStage.with(town, "alice", server) { book in
                _ = try await book.sync()
                let note = try await book.create(title: Self.bytes("Read"), body: Self.bytes("one"))
                try await book.share(note, with: bob, as: .reader)
                _ = try await book.sync()
                return note
            }
            try await Book.sync(town, "bob", server)
            let old = server.state
            try await Book.edit(town, "alice", server, note, "two")
            try await Book.sync(town, "alice", server)
            try await NoteStage.with(town, "bob", server) { book in
                _ = try await book.sync()
                try await book.comment(Self.bytes("from bob"), on: note)
                _ = try await book.sync()
            }
            server.state = old
            let loss = try #require(try await Self.acceptLoss(town, "bob", server))
            #expect(loss.remade[note] != nil && loss.rewritten.isEmpty)
            _ = try #require(try await Self.acceptLoss(town, "alice", server))
            let facts = try await Self.facts(town, "alice", server, note)
            #expect(Book.body(facts) == "two" && facts.comments.map(\.text) == [Self.bytes("from bob")])
        }
    }

    /// A note that is newer at the server than here, and one that was never sent.
    @Test func whatTheServerHasIsNotOverwritten() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.sharedNote(town, server)
            let old = server.state
            let draft = try await NoteStage.with(town, "alice", server) { book in
                let lost = try await book.create(title: Self.bytes("Lost"), body: Self.bytes("lost"))
                _ = try await book.sync()
                try await book.delete(lost)
                return try await book.create(title: Self.bytes("Draft"), body: Self.bytes("unsent"))
            }
            server.state = old
            try await Book.edit(town, "bob", server, note, "newer")
            try await Book.sync(town, "bob", server)
            let loss = try #require(try await Self.acceptLoss(town, "alice", server))
            #expect(Set(loss.remade.keys) == [draft], "a note that was deleted stays deleted")
            #expect(loss.rewritten.isEmpty && loss.copies.isEmpty)
            #expect(Book.body(try await Self.facts(town, "alice", server, note)) == "newer")
        }
    }

    // MARK: Rights

    /// The attack: whoever holds the server goes back to a state in which bob was a member, and waits for what alice writes.
    @Test func aMemberWhoWasRemovedIsRemovedAgainBeforeAnythingIsSealed() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.sharedNote(town, server)
            let old = server.state
            let bob = try Book.handle(Town.bob)
            try await NoteStage.with(town, "alice", server) { book in
                try await book.unshare(note, from: bob)
                try await book.edit(note) { $0.body = Self.bytes("secret") }
                _ = try await book.sync()
            }
            server.state = old
            let loss = try #require(try await Self.acceptLoss(town, "alice", server))
            #expect(loss.removed == [note: [bob]] && loss.rewritten == [note])
            #expect(Book.body(try await Self.facts(town, "alice", server, note)) == "secret")
            let state = try #require(server.state.notes[note])
            #expect(state.snapshot.control.members.isEmpty)
            let secret = try #require(state.revisions.last)
            #expect(secret.epoch == state.snapshot.control.epoch && secret.epoch > 1)
            #expect(!state.wraps.contains { $0.header.recipient.handle == bob && $0.header.epoch == secret.epoch })
            let bobs = try await Self.facts(town, "bob", server, note)
            #expect(bobs.standing == .removed && Book.body(bobs) == "one\ntwo\nthree\n")
        }
    }

    /// Another device of the account shared the note again after the loss: that is newer than the removal.
    @Test func whatWasDecidedAfterTheLossStands() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.sharedNote(town, server)
            try FileManager.default.copyItem(at: town["alice"], to: town["other"])
            try town.chmod("other", 0o700)
            let old = server.state
            let bob = try Book.handle(Town.bob)
            try await NoteStage.with(town, "alice", server) { book in
                try await book.unshare(note, from: bob)
                _ = try await book.sync()
            }
            server.state = old
            try await NoteStage.with(town, "other", server) { book in
                try await book.unshare(note, from: bob)
                try await book.share(note, with: bob, as: .reader)
                _ = try await book.sync()
            }
            let loss = try #require(try await Self.acceptLoss(town, "alice", server))
            #expect(loss.removed.isEmpty)
            #expect(server.state.notes[note]?.snapshot.control.members == [bob: .reader])
        }
    }

    /// The attack: a member who is not the owner brings his newer text again, under the key that the removed member has.
    @Test func aMemberWritesNothingForSomebodyWhomTheOwnerHadRemoved() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.sharedNote(town, server)
            try await town.befriendCarol()
            let carol = try Book.handle("carol@example.org")
            try await NoteStage.with(town, "alice", server) { book in
                try await book.share(note, with: carol, as: .writer)
                _ = try await book.sync()
            }
            for home in ["bob", "carol"] { try await Book.sync(town, home, server) }
            let old = server.state
            try await NoteStage.with(town, "alice", server) { book in
                try await book.unshare(note, from: carol)
                _ = try await book.sync()
            }
            try await Book.sync(town, "bob", server)
            try await Book.edit(town, "bob", server, note, "not for carol")
            for home in ["bob", "alice"] { try await Book.sync(town, home, server) }
            server.state = old
            let alice = try Book.handle(Town.alice)
            await #expect(throws: NotesError.removalIsLost(note, owner: alice)) {
                try await Self.acceptLoss(town, "bob", server)
            }
            #expect(server.state.notes[note]?.revisions.count == old.notes[note]?.revisions.count)
            #expect(try #require(try await Self.acceptLoss(town, "alice", server)).removed == [note: [carol]])
            _ = try #require(try await Self.acceptLoss(town, "bob", server))
            #expect(Book.body(try await Self.facts(town, "bob", server, note)) == "not for carol")
            #expect(Book.body(try await Self.facts(town, "carol", server, note)) == "one\ntwo\nthree\n")
        }
    }

    @Test func aRoleThatWasTakenIsTakenAgainAndNamed() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.sharedNote(town, server)
            let old = server.state
            let bob = try Book.handle(Town.bob)
            try await NoteStage.with(town, "alice", server) { book in
                try await book.unshare(note, from: bob)
                try await book.share(note, with: bob, as: .reader)
                _ = try await book.sync()
            }
            server.state = old
            let loss = try #require(try await Self.acceptLoss(town, "alice", server))
            #expect(loss.removed == [note: [bob]] && loss.unshared == [note: [bob: .reader]])
        }
    }

    /// Deleted by its owner, left by a member, given away.
    @Test func endsHappenAgain() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let (kept, given) = (
                try await Self.sharedNote(town, server), try await Self.sharedNote(town, server)
            )
            let old = server.state
            let bob = try Book.handle(Town.bob)
            let deleted = try await NoteStage.with(town, "alice", server) { book in
                try await book.transfer(given, to: bob)
                _ = try await book.sync()
                return given
            }
            try await NoteStage.with(town, "bob", server) { book in
                _ = try await book.sync()
                try await book.leave(kept)
                _ = try await book.sync()
            }
            server.state = old
            let alices = try #require(try await Self.acceptLoss(town, "alice", server))
            #expect(alices.ended == [deleted])
            #expect(server.state.notes[given]?.snapshot.control.owner == bob)
            let bobs = try #require(try await Self.acceptLoss(town, "bob", server))
            #expect(bobs.ended == [kept] && bobs.remade.isEmpty)
            #expect(server.state.notes[kept]?.snapshot.control.departed == [bob])

            let before = server.state
            try await NoteStage.with(town, "alice", server) { book in
                try await book.delete(kept)
                _ = try await book.sync()
            }
            server.state = before
            let again = try #require(try await Self.acceptLoss(town, "alice", server))
            #expect(again.ended == [kept] && server.state.notes[kept]?.snapshot.control.isDeleted == true)
        }
    }

    /// The attack: a thief has the phone, which bob removed. Its key to the account comes back with an earlier server.
    @Test func theKeyThatARemovedDeviceHasStaysReplaced() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            _ = try await Self.sharedNote(town, server)
            let own = try await NoteStage.with(town, "bob", server) { book in
                let own = try await book.create(title: Self.bytes("Own"), body: Self.bytes("of before"))
                _ = try await book.sync()
                return own
            }
            let old = server.state
            let bob = try Book.handle(Town.bob)
            let desk = try await NoteStage(town, "bob", server)
            try await desk.book.prepareRemoval(of: 2, isKeepingKeys: false)
            _ = try await desk.client.revokeDevice(2, by: desk.secrets)
            _ = try await desk.book.finishRotation()
            let phone = try #require(old.accountKeys[bob]?.devices.keys.first { $0 != desk.secrets.keys.signing })
            try desk.close()
            var before = old
            let keysOfBefore = try #require(old.accountKeys[bob])
            before.accountKeys[bob] = AccountKeys(
                version: keysOfBefore.version, password: [1], recovery: [2], devices: keysOfBefore.devices)
            server.state = before
            try #require(server.state.accountKeys[bob]?.devices[phone] != nil)
            _ = try #require(try await Self.acceptLoss(town, "bob", server))
            let keys = try #require(server.state.accountKeys[bob])
            #expect(keys.devices[phone] == nil && keys.devices.count == 1)
            #expect(keys.password == nil && keys.recovery == nil, "they open the key that the phone has")
            for wrap in keys.devices.values { #expect(try AccountDeviceWrap(decoding: wrap).epoch == 2) }
            #expect(
                server.state.notes[own]?.snapshot.control.epoch == 2, "its note has a key that the phone does not know")
        }
    }

    // MARK: Crashes

    /// Killed at every request and every write. The file of before is there until the new one takes its place, and the next attempt
    /// ends as the first would have.
    @Test func acceptingALossCanBeRepeatedAfterAKillAtAnyStep() async throws {
        try await Town.withServer { town, _ in
            let server = PaperNoteServer()
            let note = try await Self.sharedNote(town, server)
            try await town.befriendCarol()
            let (bob, carol) = (try Book.handle(Town.bob), try Book.handle("carol@example.org"))
            try await NoteStage.with(town, "alice", server) { book in
                try await book.share(note, with: carol, as: .reader)
                _ = try await book.sync()
            }
            let old = server.state
            try await NoteStage.with(town, "alice", server) { book in
                try await book.unshare(note, from: bob)
                try await book.unshare(note, from: carol)
                try await book.edit(note) { $0.body = Self.bytes("secret") }
                _ = try await book.create(title: Self.bytes("Later"), body: Self.bytes("late"))
                _ = try await book.sync()
            }
            for isAnswerLost in [false, true] {
                var (step, isDead) = (0, true)
                while isDead {
                    server.state = old
                    try? FileManager.default.removeItem(at: town["alice-now"])
                    try FileManager.default.copyItem(at: town["alice"], to: town["alice-now"])
                    try town.chmod("alice-now", 0o700)
                    let clock = DeathClock(step, isAnswerLost: isAnswerLost)
                    do {
                        _ = try await Self.acceptLoss(town, "alice-now", server, deathAfter: clock)
                        isDead = clock.hasStruck
                    } catch is NotesError { isDead = true } catch is StoreError { isDead = true }
                    if isDead { _ = try #require(try await Self.acceptLoss(town, "alice-now", server), "step \(step)") }
                    let notes = try await NoteStage.with(town, "alice-now", server) { book in
                        _ = try await book.sync()
                        return await book.notes()
                    }
                    #expect(Set(notes.map(Book.body)) == ["secret", "late"] && notes.count == 2, "step \(step)")
                    #expect(notes.allSatisfy { !$0.isPending && $0.fault == nil }, "step \(step)")
                    #expect(server.state.notes.count == 2, "step \(step): nothing is at the server twice")
                    #expect(server.state.notes[note]?.snapshot.control.members.isEmpty == true, "step \(step)")
                    step += 1
                    try #require(step < 200)
                }
                #expect(step > 10, "no step was interrupted")
            }
        }
    }

    // MARK: With real processes

    @Test func aServerWithTheNotesOfABackupIsAcceptedByACommand() async throws {
        try await Town.with { town in
            try await town.serving { _ in
                expect(0, try await town.signet("alice", "notes", "new", "Plan", "first"))
                expect(0, try await town.signet("alice", "notes", "share", "Plan", Town.bob, "--write"))
                expect(0, try await town.signet("bob", "notes", "sync"))
                let sound = try await town.signet("alice", "notes", "accept-loss", "--yes")
                expect(0, sound)
                #expect(sound.output.contains("Nothing was changed"), "\(sound.output)")
            }
            try FileManager.default.copyItem(at: town["server/notes"], to: town["notes-of-before"])
            try await town.serving { _ in
                expect(0, try await town.signet("alice", "notes", "edit", "Plan", "second"))
                expect(0, try await town.signet("alice", "notes", "new", "Later", "late"))
                expect(0, try await town.signet("bob", "notes", "sync"))
            }
            try FileManager.default.removeItem(at: town["server/notes"])
            try FileManager.default.moveItem(at: town["notes-of-before"], to: town["server/notes"])
            let options = ["--bind", "127.0.0.1:0", "--rate", "0", "--account-rate", "0", "--epoch", "0"]
            for command in [["run"] + options, ["check"], ["backup", "--to", "backup"]] {
                let exit = try await Program.signetd.run(
                    [command[0], "--data", "server"] + command.dropFirst(), in: town.folder)
                expect(65, exit)
                #expect((exit.output + exit.complaint).contains("is an older copy than the log"), "\(command) \(exit)")
            }
            try await town.serving(.signetd, options + ["--accept-lost-notes"]) { server in
                #expect(try server.errors.contains("signet notes accept-loss"))
                let refused = try await town.signet("alice", "notes", "sync")
                expect(1, refused)
                #expect(refused.errors.contains("signet notes accept-loss"), "\(refused.errors)")
                expect(64, try await town.signet("alice", "notes", "accept-loss"), "there is no terminal to ask on")
                expect(1, try await town.signet("alice", "notes", "sync"), "nothing was changed")

                let accepted = try await town.signet("alice", "notes", "accept-loss", "--yes", "--json")
                expect(0, accepted)
                let said = try accepted.object()
                #expect(
                    (said["rewritten"] as? [String])?.count == 1 && (said["remade"] as? [Any])?.count == 1, "\(said)")
                let before = try #require(said["before"] as? String)
                #expect(
                    FileManager.default.fileExists(atPath: before)
                        || FileManager.default.fileExists(atPath: town[before].path()))
                expect(0, try await town.signet("alice", "notes", "sync"))
                #expect(try await town.signet("alice", "notes", "show", "Later").output.contains("late"))

                expect(0, try await town.signet("bob", "notes", "accept-loss", "--yes"))
                #expect(try await town.signet("bob", "notes", "show", "Plan").output.contains("second"))
                expect(0, try await town.signet("bob", "notes", "edit", "Plan", "third"))
                expect(0, try await town.signet("alice", "notes", "sync"))
                #expect(try await town.signet("alice", "notes", "show", "Plan").output.contains("third"))
            }
            expect(0, try await town.signetd("check", "--data", "server"))
            try await town.serving { _ in expect(0, try await town.signet("alice", "notes", "sync")) }
        }
    }

    private static func sharedNote(_ town: Town, _ server: PaperNoteServer) async throws -> NoteID {
        try await NoteBookTests.shared(town, server)
    }
}
