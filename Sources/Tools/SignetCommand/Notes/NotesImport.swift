// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SealedNotes
import Signet

extension Notes {
    /// `signet notes import`
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract:
                "Import a sealed export, or the posts of the SecureNotes app of 2018, each note under a new key "
                + "of its own.",
            discussion:
                """
                A sealed export is made by 'signet notes export', in either form; nothing is imported from it unless \
                all of it opens. For the app of 2018, give what Firebase exports from its database; it says how many \
                posts its server could have read. Anything too long for a note is named and left out. Given again, it \
                imports only what is not here yet.

                Example: signet notes import notes.export
                """)

        @Argument(help: "The export.") var file: String
        @Option(help: ArgumentHelp("Read the export's passphrase from the first line of this file.", valueName: "file"))
        var exportPassphraseFile: String?
        @Option(help: "The user whose posts to import: a user ID or an author's name. Needed when there are several.")
        var user: String?
        @OptionGroup var offline: OfflineOptions
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let source = try SourceFile(file)
            if let start = source.bytes(at: 0, count: 64), OpenedBundle.isBundle(start) {
                return try await takeBundle(source)
            }
            let export: SeedExport
            do {
                export = try SeedExport(
                    decoding: InputFile.read(file, maximumByteCount: SeedExport.maximumByteCount))
            } catch let error as SeedExportError { throw CommandFailure(.badFile, error.sentence(file)) }
            let posts = try chosen(export)
            var notes = try await NotesSession(home)
            let isOffline = offline.offline
            let taken = try await notes.run(isWatching: !isOffline) { book throws(NotesError) in
                if await !book.hasAccountKey, !isOffline { _ = try await book.sync() }
                return try await book.take(posts)
            }
            for name in taken.leftOut {
                Output.error("\(Paint.error.warning("left out:")) \(PrintedValue.printable(name)): too long for a note")
            }
            let isSent = try await notes.send(unless: isOffline)
            say(export, posts.count, taken, isSent)
        }

        private func takeBundle(_ source: SourceFile) async throws {
            guard user == nil else {
                throw CommandFailure(.usage, "A sealed export belongs to one person.", "Leave out --user.")
            }
            let passphrase = try Passphrase.secret(
                file: exportPassphraseFile, option: "--export-passphrase-file", variable: "SIGNET_EXPORT_PASSPHRASE",
                prompt: "Passphrase of the export: ")
            let bundle: OpenedBundle
            do {
                bundle = try OpenedBundle(passphrase: passphrase) { source.bytes(at: $0, count: $1) }
            } catch { throw CommandFailure(NotesError.bundle(error).status, error.sentence) }
            var notes = try await NotesSession(home)
            let isOffline = offline.offline
            let taken = try await notes.run(isWatching: !isOffline) { book throws(NotesError) in
                if await !book.hasAccountKey, !isOffline { _ = try await book.sync() }
                return try await book.take(bundle, isSending: !isOffline) { source.bytes(at: $0, count: $1) }
            }
            for name in taken.leftOut {
                Output.error("\(Paint.error.warning("left out:")) \(NoteText.line(name)): too long for a note")
            }
            for name in taken.filesLeftOut {
                Output.error(
                    "\(Paint.error.warning("left out:")) file \(NoteText.line(name)): not in the export, or it needs the server"
                )
            }
            let isSent = try await notes.send(unless: isOffline)
            output.emit(
                [
                    "files": .number(UInt64(taken.fileCount)),
                    "filesLeftOut": .array(taken.filesLeftOut.map { .text($0) }),
                    "hereAlready": .number(UInt64(taken.hereAlreadyCount)), "imported": .number(UInt64(taken.count)),
                    "leftOut": .array(taken.leftOut.map { .text($0) }), "sent": .bool(isSent),
                ],
                """
                \(Paint.output.good("✓")) \(Moment.count(UInt64(taken.count), "note")) and \
                \(Moment.count(UInt64(taken.fileCount), "file")) imported, each sealed under a new key.\
                \(taken.hereAlreadyCount > 0 ? " \(taken.hereAlreadyCount) are already here." : "")
                """)
        }

        private func chosen(_ export: SeedExport) throws -> [SeedPost] {
            let users = Set(export.posts.map(\.user))
            guard let user else {
                guard users.count == 1 else {
                    let names = Set(export.posts.map { "\($0.user) (\($0.author))" }).sorted()
                    throw CommandFailure(
                        .usage, "The export has posts by \(users.count) users.",
                        "Say which ones are yours with --user: \(PrintedValue.printable(names.joined(separator: ", ")))"
                    )
                }
                return export.posts
            }
            let posts = export.posts.filter { $0.user == user || $0.author == user }
            guard !posts.isEmpty else {
                throw CommandFailure(
                    .usage, "The export has no posts by '\(PrintedValue.printable(user))'.", "Check the name.")
            }
            return posts
        }

        private func say(_ export: SeedExport, _ chosen: Int, _ taken: TakenPosts, _ isSent: Bool) {
            let (total, notOpened) = (export.posts.count, taken.notOpenedCount)
            output.emit(
                [
                    "hereAlready": .number(UInt64(taken.hereAlreadyCount)), "imported": .number(UInt64(taken.count)),
                    "leftOut": .array(taken.leftOut.map { .string($0) }), "notOpened": .number(UInt64(notOpened)),
                    "posts": .number(UInt64(total)), "sent": .bool(isSent),
                    "serverCouldRead": .number(UInt64(export.readableCount)),
                ],
                """
                \(Paint.output.good("✓")) \(Moment.count(UInt64(taken.count), "note")) imported, each sealed under a new key.\
                \(taken.hereAlreadyCount > 0 ? " \(taken.hereAlreadyCount) are already here." : "")\
                \(notOpened > 0 ? " \(notOpened) could not be opened and were left out." : "")
                  \(export.readableCount) of \(total) posts in that file could be read by its server: their keys follow from \
                the users' IDs, or they were stored unencrypted. Anyone who has that file can still read them.
                """)
        }
    }
}

extension SeedExportError {
    fileprivate func sentence(_ path: String) -> Sentence {
        switch self {
        case .notAnExport:
            Sentence("\(path) is not an export of the app's database.", "Firebase exports it as one JSON file.")
        case .noPosts: Sentence("There are no posts in \(path).", "Check that it is the export of the whole database.")
        }
    }
}
