// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NoteLog
import NotesClient
import SealedNotes
import SignetClient
import SignetTesting
import Testing

/// Z8: the client is killed at every step of an operation. Afterwards every note opens, in its old or its new state.
@Suite struct NoteCrashTests {
    /// The operation during which the client is killed.
    enum Operation: CaseIterable {
        case share, unshare, rekey, rotate, edit, comment, merge
    }

    private struct Prepared {
        let note: NoteID
        let server: PaperNoteServer
        let state: PaperNoteServer.State
    }

    private static func handle(_ name: String) throws -> Handle { try Handle(typed: Array(name.utf8)) }

    @Test(arguments: Operation.allCases)
    func everyNoteOpensAfterAKillAtAnyStep(_ operation: Operation) async throws {
        try await Town.withServer { town, _ in
            let prepared = try await Self.prepare(town, operation)
            for isAnswerLost in [false, true] {
                var step = 0
                var isDead = true
                var lastSeen: [UInt64]?
                while isDead {
                    prepared.server.state = prepared.state
                    for home in ["alice", "bob"] { try Self.copy(town, home, to: "\(home)-now") }
                    let clock = DeathClock(step, isAnswerLost: isAnswerLost)
                    isDead = try await Self.attempt(operation, town, prepared, clock)
                    defer { step += 1 }
                    // A lost answer to such a step is the same as a lost request.
                    if isAnswerLost, isDead, !clock.hasLostAnswer { continue }
                    let what = "\(operation), step \(step), \(isAnswerLost)"
                    let members = try await Self.check(operation, town, prepared, isDone: !isDead, what)
                    // Bob sees the server only: he syncs once for each of its states.
                    let seen = Self.standing(prepared)
                    if seen != lastSeen { try await Self.checkBob(town, prepared, isMember: members, what) }
                    lastSeen = seen
                    try #require(step < 100)
                }
                #expect(step > 2, "no step was interrupted")
            }
        }
    }

    private static func prepare(_ town: Town, _ operation: Operation) async throws -> Prepared {
        let server = PaperNoteServer()
        let note = try await NoteStage.with(town, "alice", server) { book in
            _ = try await book.sync()
            let note = try await book.create(title: Array("T".utf8), body: Array("one\ntwo\nthree\n".utf8))
            if operation != .share { try await book.share(note, with: handle(Town.bob), as: .writer) }
            _ = try await book.sync()
            return note
        }
        try await NoteStage.with(town, "bob", server) { book in
            _ = try await book.sync()
            guard operation == .merge else { return }
            try await book.edit(note) { $0.body = Array("one\ntwo\nBOB\n".utf8) }
            _ = try await book.sync()
        }
        return Prepared(note: note, server: server, state: server.state)
    }

    /// - Returns: whether it was interrupted.
    private static func attempt(
        _ operation: Operation, _ town: Town, _ prepared: Prepared, _ clock: DeathClock
    ) async throws -> Bool {
        let note = prepared.note
        do {
            try await NoteStage.with(town, "alice-now", prepared.server, deathAfter: clock) { book in
                switch operation {
                case .share: try await book.share(note, with: handle(Town.bob), as: .reader)
                case .unshare: try await book.unshare(note, from: handle(Town.bob))
                case .rekey: try await book.rekey(note)
                case .rotate: _ = try await book.rotate()
                case .edit: try await book.edit(note) { $0.body = Array("new".utf8) }
                case .comment: try await book.comment(Array("said".utf8), on: note)
                case .merge: try await book.edit(note) { $0.body = Array("ALICE\ntwo\nthree\n".utf8) }
                }
                _ = try await book.sync()
            }
        } catch is NotesError { return true }
        return clock.hasStruck
    }

    /// The numbers of the note's entries, revisions and comments at the server.
    private static func standing(_ prepared: Prepared) -> [UInt64] {
        guard let note = prepared.server.state.notes[prepared.note] else { return [] }
        return [note.snapshot.control.number, note.snapshot.revision?.number ?? 0, UInt64(note.children.count)]
    }

    /// The note opens in a restarted program, in its old or its new state.
    ///
    /// - Returns: whether bob is a member.
    private static func check(
        _ operation: Operation, _ town: Town, _ prepared: Prepared, isDone: Bool, _ what: String
    ) async throws -> Bool {
        let bob = try handle(Town.bob)
        let facts = try await NoteStage.with(town, "alice-now", prepared.server) { book in
            try expectOpen(prepared.note, what, await book.notes())
            _ = try await book.sync()
            try expectOpen(prepared.note, what, await book.notes())
            return try await book.facts(prepared.note)
        }
        let old = Array((operation == .merge ? "one\ntwo\nBOB\n" : "one\ntwo\nthree\n").utf8)
        let new: [UInt8] =
            switch operation {
            case .edit: Array("new".utf8)
            case .merge: Array("ALICE\ntwo\nBOB\n".utf8)
            default: old
            }
        let (body, members) = (facts.document?.body, facts.members.map(\.handle))
        #expect(!facts.isPending, "\(what)")
        #expect(body == new || (!isDone && body == old), "\(what)")
        let commentCount = operation == .comment ? 1 : 0
        #expect(facts.comments.count == commentCount || (!isDone && facts.comments.isEmpty), "\(what)")
        if isDone { #expect(members == (operation == .unshare ? [] : [bob]), "\(what)") }
        return members.contains(bob)
    }

    /// A member reads the owner's text; a former member has no note, or the text that was read before.
    private static func checkBob(
        _ town: Town, _ prepared: Prepared, isMember: Bool, _ what: String
    ) async throws {
        let notes = try await NoteStage.with(town, "bob-now", prepared.server) { book in
            _ = try await book.sync()
            return await book.notes()
        }
        let owners = try await NoteStage.with(town, "alice-now", prepared.server) { try await $0.facts(prepared.note) }
        #expect(notes.allSatisfy { $0.fault == nil && $0.document != nil }, "\(what)")
        let standing = notes.first?.standing
        #expect((standing == .reader || standing == .writer) == isMember, "\(what)")
        if isMember { #expect(notes.first?.document == owners.document, "\(what)") }
    }

    private static func expectOpen(
        _ note: NoteID, _ what: String, _ notes: [NoteFacts]
    ) throws {
        #expect(notes.map(\.note) == [note], "\(what)")
        #expect(
            notes.allSatisfy { $0.lock == nil && $0.document != nil },
            "\(what): \(String(describing: notes.first?.lock))")
    }

    private static func copy(_ town: Town, _ home: String, to target: String) throws {
        try? FileManager.default.removeItem(at: town[target])
        try FileManager.default.copyItem(at: town[home], to: town[target])
        try town.chmod(target, 0o700)
    }
}
