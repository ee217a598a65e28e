// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import NoteLog
import Signet
import Synchronization

extension Notes {
    /// One step of a note's log, and what is said of it.
    fileprivate static func step(
        _ note: String, _ home: any HomeChoice, _ output: OutputOptions, _ words: (NoteFacts) -> String,
        with person: Handle? = nil, isSyncing: Bool = true,
        _ body: @Sendable (NoteBook<SQLiteStore>, NoteID) async throws(NotesError) -> Void
    ) async throws {
        var notes = try await NotesSession(home)
        let found = try await notes.note(note)
        try await notes.run { book throws(NotesError) in try await body(book, found.note) }
        // The step is done, whatever becomes of the rest.
        var failure: CommandFailure?
        if isSyncing {
            do { try await notes.syncTheRest() } catch let error as CommandFailure { failure = error }
        }
        let after = try await notes.book.facts(found.note)
        let new = after.leftOut.count > found.leftOut.count ? NotesPage.leftOut(after) : []
        let said = (["\(Paint.output.good("✓")) \(words(found))"] + new).joined(separator: "\n")
        guard let person else {
            output.emit(after.json, said)
            if let failure { throw failure }
            return
        }
        let comparison = try await notes.session.comparison(with: person)
        output.emit(after.json.adding(comparison.json), "\(said)\n  \(comparison.words(person))")
        if let failure { throw failure }
    }

    /// `signet notes share`
    struct Share: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "share", abstract: "Share a note with someone, to read or to write.",
            discussion: """
                Its key is encrypted to their devices, as the directory's log proves them. They can read what was \
                written since the note got its last key; with --with-history also what was written before, as far back \
                as this device can read it. For that, their signet has to be as new as yours.

                Example: signet notes share 3f2a bob@example.org --write
                """)

        @Argument(help: "The note.") var note: String
        @Argument(help: "Their handle.") var handle: String
        @Flag(help: "They may also change it.") var write = false
        @Flag(help: "They may also read what was written under earlier keys.") var withHistory = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let words = write ? "may read and change" : "may read"
            let older = withHistory ? ", and what it said before" : ""
            try await step(
                note, home, output, { "\(handle) \(words) \($0.heading)\(older)." }, with: handle, isSyncing: false
            ) {
                book, note throws(NotesError) in
                try await book.share(
                    note, with: handle, as: write ? .writer : .reader, withHistory: withHistory)
            }
        }
    }

    /// `signet notes unshare`
    struct Unshare: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "unshare", abstract: "Stop sharing a note with someone.",
            discussion: """
                The note gets a new key at once, and its last revision is sealed again. What they have read, or \
                copied, cannot be taken back. Comments and stars by devices that you have not accepted, or that were \
                removed before this device fetched them, are left out for everyone: accept new devices with 'signet \
                people trust' first.

                Example: signet notes unshare 3f2a bob@example.org
                """)

        @Argument(help: "The note.") var note: String
        @Argument(help: "Their handle.") var handle: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            let words = { (note: NoteFacts) in
                "\(handle) receives nothing from \(note.heading) from now on. What they have read cannot be taken back."
            }
            try await step(note, home, output, words) { book, note throws(NotesError) in
                try await book.unshare(note, from: handle)
            }
        }
    }

    /// `signet notes leave`
    struct Leave: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "leave", abstract: "Leave a note that someone shared with you.",
            discussion: """
                You receive nothing from it after that, and everyone who has it sees that you left. What you have read \
                stays on this device. Its owner may share it with you again.

                Example: signet notes leave 3f2a
                """)

        @Argument(help: "The note.") var note: String
        @Flag(help: "Leave it without asking.") var yes = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            if !yes {
                try Question.demand("Leave it, so that everyone who has it sees that?", orElse: "You did not leave it.")
            }
            try await step(note, home, output, { "You left \($0.heading)." }) { book, note throws(NotesError) in
                try await book.leave(note)
            }
        }
    }

    /// `signet notes rekey`
    struct Rekey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rekey", abstract: "Give a note another key, known to the same people.",
            discussion: """
                Use this when one of them lost a device, or has a new one that the key has not reached.

                Example: signet notes rekey 3f2a
                """)

        @Argument(help: "The note.") var note: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            try await step(note, home, output, { "\($0.heading) has a new key." }) {
                book, note throws(NotesError) in
                try await book.rekey(note)
            }
        }
    }

    /// `signet notes revert`
    struct Revert: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revert", abstract: "Restore what a note said before changes that you do not accept.",
            discussion: """
                Use this when a note was changed by a device that its author no longer has, or that you have not \
                accepted: such a change is not shown here, and no one can change the note after it. What you had is \
                written after it, for everyone who has the note. The change stays in its history. If it is theirs \
                after all, 'signet people trust' accepts it as it is.

                Example: signet notes revert 3f2a
                """)

        @Argument(help: "The note.") var note: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let result = Mutex<[Author]>([])
            let words = { (note: NoteFacts) in
                let reverted = result.withLock { $0 }
                let authors = Set(reverted.map(\.handle.description)).sorted().joined(separator: ", ")
                let count = Moment.count(UInt64(reverted.count), "change")
                return "\(note.heading) says again what you had: \(count) by \(authors) reverted."
            }
            try await step(note, home, output, words) { book, note throws(NotesError) in
                let reverted = try await book.revert(note)
                result.withLock { $0 = reverted }
            }
        }
    }

    /// `signet notes transfer`
    struct Transfer: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "transfer", abstract: "Give a note to one of its members; you stay as a member who may write.",
            discussion: "Example: signet notes transfer 3f2a bob@example.org")

        @Argument(help: "The note.") var note: String
        @Argument(help: "Their handle.") var handle: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let handle = try Handle.typed(handle)
            try await step(note, home, output, { "\($0.heading) now belongs to \(handle)." }) {
                book, note throws(NotesError) in
                try await book.transfer(note, to: handle)
            }
        }
    }

    /// `signet notes rm`
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rm", abstract: "Delete one of your notes, for everyone.",
            discussion: "Example: signet notes rm 3f2a")

        @Argument(help: "The note.") var note: String
        @Flag(help: "Delete it without asking.") var yes = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            if !yes { try Question.demand("Delete it for everyone?", orElse: "Nothing was deleted.") }
            try await step(note, home, output, { "\($0.heading) is deleted." }) { book, note throws(NotesError) in
                try await book.delete(note)
            }
        }
    }

    /// `signet notes members`
    struct Members: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "members", abstract: "Show who has a note, as its owner signed it.",
            discussion: "Example: signet notes members 3f2a")

        @Argument(help: "The note.") var note: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let found = try await NotesSession(home).note(note)
            var lines = [found.owner.map { "  \($0)  owner" }].compactMap { $0 }
            lines += found.members.map { "  \($0.handle)  \($0.role == .writer ? "reads and writes" : "reads")" }
            let gone = found.left.filter { handle in !found.members.contains { $0.handle == handle } }
            lines += gone.map { "  \($0)  left" }
            let doubtful = found.left.filter { handle in found.members.contains { $0.handle == handle } }
            lines += doubtful.map { "  The server says that \($0) left, but this device could not verify that." }
            output.emit(
                [
                    "left": .array(found.left.map { .string($0.description) }),
                    "members": .array(
                        found.members.map { ["handle": .string($0.handle.description), "role": .string($0.role.name)] }),
                    "owner": found.owner.map { .string($0.description) } ?? .null,
                ],
                lines.joined(separator: "\n"))
        }
    }
}
