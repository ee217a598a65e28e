// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import NoteLog
import SealedNotes
import Signet

extension Notes {
    /// `signet notes new`
    struct New: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "new", abstract: "Write a note.",
            discussion: """
                Without a text your $EDITOR opens, in memory: no readable file is left behind.

                Example: signet notes new Groceries "Milk and bread" --tag home
                """)

        @Argument(help: "Its title.") var title: String
        @Argument(help: "Its text, or - to read it from standard input.") var text: String?
        @Option(name: [.customLong("tag")], help: "A tag; may be repeated.") var tags: [String] = []
        @OptionGroup var offline: OfflineOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var notes = try await NotesSession(home)
            var draft = EditedNote(title: Array(title.utf8), tags: tags.map { Array($0.utf8) }, body: [])
            if let text {
                draft.body = text == "-" ? try StandardInput.read(EditedNote.maximumByteCount) : Array(text.utf8)
            } else {
                draft = try Editor.edit(draft)
            }
            let (made, isOffline) = (draft, offline.offline)
            let note = try await notes.run(isWatching: !isOffline) { book throws(NotesError) in
                // The first note of a device needs the account's key, which is made, or fetched, once.
                if await !book.hasAccountKey, !isOffline { _ = try await book.sync() }
                return try await book.create(title: made.title, body: made.body, tags: made.tags)
            }
            let isSent = try await notes.send(unless: isOffline)
            output.emit(
                ["note": .string(note.hexadecimal), "sent": .bool(isSent)],
                "\(Paint.output.good("✓")) \(note.hexadecimal.prefix(8))  \(NoteText.line(made.title))"
                    + (isSent ? "" : "  (waiting to be sent)"))
        }
    }

    /// `signet notes edit`
    struct Edit: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "edit", abstract: "Change a note, in your $EDITOR or with text that is piped in.",
            discussion: """
                Without options your $EDITOR opens, in memory: no readable file is left behind. If others change the \
                note in the meantime, both changes are merged, line by line; where they conflict, yours becomes a note \
                of its own.

                Examples:
                  signet notes edit 3f2a
                  signet notes edit 3f2a "Milk, bread and cheese"
                """)

        @Argument(help: "The note.") var note: String
        @Argument(help: "Its new text, or - to read it from standard input.") var text: String?
        @Option(help: "Its new title.") var title: String?
        @Option(name: [.customLong("tag")], help: "Its tags from now on; may be repeated.") var tags: [String] = []
        @Flag(help: "Remove all tags.") var untagged = false
        @OptionGroup var offline: OfflineOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var notes = try await NotesSession(home)
            let found = try await notes.note(note)
            guard let document = found.document else {
                throw CommandFailure(
                    NotesError.locked(found.lock ?? .noKey(epoch: found.epoch)), session: notes.session)
            }
            let edited = try edited(EditedNote(document))
            try await notes.run(isWatching: !offline.offline) { book throws(NotesError) in
                try await book.edit(found.note) { edited.apply(to: &$0) }
            }
            let isSent = try await notes.send(unless: offline.offline)
            output.emit(
                ["note": .string(found.name), "sent": .bool(isSent)],
                "\(Paint.output.good("✓")) \(found.shortName)  \(NoteText.line(edited.title))"
                    + (isSent ? "" : "  (waiting to be sent)"))
        }

        private func edited(_ before: EditedNote) throws -> EditedNote {
            var note = before
            if let title { note.title = Array(title.utf8) }
            if !tags.isEmpty || untagged { note.tags = tags.map { Array($0.utf8) } }
            switch text {
            case "-": note.body = try StandardInput.read(EditedNote.maximumByteCount)
            case .some(let text): note.body = Array(text.utf8)
            case nil: if note == before { note = try Editor.edit(note) }
            }
            return note
        }
    }

    /// `signet notes comment`
    struct Comment: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "comment", abstract: "Comment on a note.",
            discussion: """
                Example: signet notes comment 3f2a "I have the milk."
                """)

        @Argument(help: "The note.") var note: String
        @Argument(help: "What you say, or - to read it from standard input.") var text: String
        @OptionGroup var offline: OfflineOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var notes = try await NotesSession(home)
            let found = try await notes.note(note)
            let text = text == "-" ? try StandardInput.read(ChildContent.maximumTextByteCount) : Array(text.utf8)
            try await notes.run(isWatching: !offline.offline) { book throws(NotesError) in
                try await book.comment(text, on: found.note)
            }
            let isSent = try await notes.send(unless: offline.offline)
            output.emit(
                ["note": .string(found.name), "sent": .bool(isSent)],
                "\(Paint.output.good("✓")) You commented on \(found.heading)."
                    + (isSent ? "" : "  (waiting to be sent)"))
        }
    }

    /// `signet notes star`
    struct Star: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "star", abstract: "Star a note, or take your star back.",
            discussion: "Example: signet notes star 3f2a")

        @Argument(help: "The note.") var note: String
        @Flag(help: "Take your star back.") var off = false
        @OptionGroup var offline: OfflineOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var notes = try await NotesSession(home)
            let found = try await notes.note(note)
            try await notes.run(isWatching: !offline.offline) { book throws(NotesError) in
                try await book.star(found.note, isSet: !off)
            }
            let isSent = try await notes.send(unless: offline.offline)
            output.emit(
                ["note": .string(found.name), "sent": .bool(isSent), "starred": .bool(!off)],
                "\(Paint.output.good("✓")) \(off ? "Your star is off" : "You starred") \(found.heading)."
                    + (isSent ? "" : "  (waiting to be sent)"))
        }
    }
}
