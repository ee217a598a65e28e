// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import NoteLog
import SealedNotes
import Signet

extension Notes {
    /// `signet notes ls`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ls", abstract: "List the notes that this device has.",
            discussion: "Example: signet notes ls --tag home")

        @Option(help: "Only notes with this tag.") var tag: String?
        @Flag(help: "Only notes that others share with you.") var shared = false
        @Flag(help: "Only your own notes.") var mine = false
        @Flag(help: "Deleted notes too.") var all = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let notes = await (try await NotesSession(home)).book.notes().filter { note in
                (tag.map { note.document?.tags.contains(Array($0.utf8)) ?? false } ?? true)
                    && (all || note.standing != .deleted) && (!shared || note.standing != .owner)
                    && (!mine || note.standing == .owner)
            }
            output.emit(["notes": .array(notes.map(\.json))], NotesPage.list(notes))
        }
    }

    /// `signet notes show`
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a note.",
            discussion: "Example: signet notes show 3f2a")

        @Argument(help: "The note.") var note: String
        @Option(help: "An earlier revision, by its number in 'signet notes log'.") var revision: UInt64?
        @Flag(help: "Print its text only, byte for byte: for pipes.") var body = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var notes = try await NotesSession(home)
            let found = try await notes.note(note)
            let document = try await document(of: found, &notes)
            if body {
                guard let document else { throw failure(found, notes) }
                return Output.write(document.body)
            }
            if revision == nil, !output.json {
                Output.line(NotesPage.page(found))
            } else {
                output.emit(json(found, document), NoteText.block(document?.body ?? []))
            }
            if document == nil { throw failure(found, notes) }
        }

        private func document(
            of found: NoteFacts, _ notes: inout NotesSession
        ) async throws -> NoteDocument? {
            guard let revision else { return found.document }
            return try await notes.run(isWatching: false) { book throws(NotesError) in
                try await book.document(found.note, revision: revision)
            }
        }

        private func failure(_ found: NoteFacts, _ notes: NotesSession) -> CommandFailure {
            CommandFailure(NotesError.locked(found.lock ?? .noKey(epoch: found.epoch)), session: notes.session)
        }

        private func json(_ found: NoteFacts, _ document: NoteDocument?) -> PrintedValue {
            guard case .object(var members) = found.json else { return .null }
            members["body"] = document.map { .text($0.body) } ?? .null
            return .object(members)
        }
    }

    /// `signet notes search`
    struct Search: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "Search titles, tags, texts and comments, on this device; the server is not involved.",
            discussion: "Example: signet notes search milk")

        @Argument(help: "What to look for, regardless of case.") var term: String
        @Flag(help: "Only at the beginning of a word.") var word = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let book = try await NotesSession(home).book
            var found: [(NoteFacts, SearchHit.Place)] = []
            for hit in await book.search(Array(term.utf8), atWordStart: word) {
                found.append((try await book.facts(hit.note), hit.place))
            }
            output.emit(
                ["hits": .array(found.map { ["in": .string("\($1)"), "note": .string($0.name)] })],
                found.isEmpty ? "Nothing found." : NotesPage.list(found.map(\.0)))
        }
    }

    /// `signet notes log`
    struct History: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log", abstract: "Show everything that happened to a note, as it was signed.",
            discussion: "Example: signet notes log 3f2a")

        @Argument(help: "The note.") var note: String
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var notes = try await NotesSession(home)
            let found = try await notes.note(note)
            let (control, revisions) = try await notes.run(isWatching: false) { book throws(NotesError) in
                try await book.history(found.note)
            }
            output.emit(
                [
                    "revisions": .array(revisions.map { Self.json($0.record) }),
                    "steps": .array(control.map(Self.json)),
                ],
                (control.map(Self.text) + revisions.map { Self.text($0.record) }).joined(separator: "\n"))
        }

        private static func json(_ entry: ControlEntry) -> PrintedValue {
            [
                "author": .string(entry.author.handle.description), "number": .number(entry.number),
                "step": .string(entry.action.words), "time": .number(entry.time),
            ]
        }

        private static func json(_ revision: RevisionRecord) -> PrintedValue {
            [
                "author": .string(revision.author.handle.description), "epoch": .number(UInt64(revision.epoch)),
                "number": .number(revision.number),
            ]
        }

        private static func text(_ entry: ControlEntry) -> String {
            "  step \(entry.number)  \(Moment.date(entry.time))  \(entry.author.handle) \(entry.action.words)"
        }

        private static func text(_ revision: RevisionRecord) -> String {
            "  revision \(revision.number)  by \(revision.author.handle), under key \(revision.epoch)"
        }
    }
}

extension ControlAction {
    var words: String {
        switch self {
        case .create: "made the note"
        case .share(let handle, let role): "shared it with \(handle) as \(role.name)"
        case .unshare(let handle, _): "stopped sharing it with \(handle) and gave it a new key"
        case .rekey: "gave it a new key"
        case .transfer(let handle): "gave it to \(handle)"
        case .delete: "deleted it"
        case .leave: "left it"
        }
    }
}
