// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import Foundation
import KeyTransparency
import SealedNotes
import SecretMemory
import SecureCell
import Signet

extension Notes {
    /// `signet notes export`
    struct Export: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export",
            abstract: "Write all notes that open here into one sealed file, or unsealed into a folder.",
            discussion: """
                'signet notes import' opens the sealed file with its passphrase; it contains the notes' attached \
                files, fetched as needed. With --themis it is a Themis Secure Cell, without files, so that other \
                programs can open it too; Documentation/notes.md says how. The folder has one Markdown file per note, \
                which anyone who gets at it can read.

                Example: signet notes export notes.export
                """)

        @Argument(help: "The file or folder to make.") var target: String
        @Flag(help: "Write a folder of Markdown files, which are not sealed.") var markdown = false
        @Flag(help: "Write a Themis Secure Cell, whose passphrase is much easier to guess, without the notes' files.")
        var themis = false
        @Flag(help: "Leave out the notes' files, which need the server.") var withoutFiles = false
        @Flag(help: "Write it without asking.") var yes = false
        @Option(help: ArgumentHelp("Read the export's passphrase from the first line of this file.", valueName: "file"))
        var exportPassphraseFile: String?
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func validate() throws {
            guard !markdown || !themis else { throw ValidationError("Choose one of --markdown and --themis.") }
        }

        func run() async throws {
            try OutputFile.check(markdown ? target + "/note" : target, outside: home.folder)
            guard markdown || themis else { return try await exportSealed() }
            let all = await (try await NotesSession(home)).book.notes()
            let notes = all.filter { $0.document != nil }
            var failed = 0
            if markdown {
                if !yes {
                    try Question.demand(
                        "Anyone who gets at \(target) can read the notes there. Write them?",
                        orElse: "Nothing was written.")
                }
                failed = try write(notes, into: target)
            } else {
                try write(cell(notes))
            }
            say(notes.count - failed, closed: all.count - notes.count, failed: failed)
            if failed > 0 {
                throw CommandFailure(.environment, "\(failed) notes were not written.", "They are named above.")
            }
        }

        private func say(_ count: Int, closed: Int, failed: Int = 0, files: Int = 0) {
            let words =
                Moment.count(UInt64(count), "note") + (files > 0 ? ", \(Moment.count(UInt64(files), "file"))" : "")
            output.emit(
                [
                    "closed": .number(UInt64(closed)), "exported": .number(UInt64(count)),
                    "failed": .number(UInt64(failed)), "files": .number(UInt64(files)), "target": .string(target),
                ],
                "\(Paint.output.good("✓")) \(words) in \(PrintedValue.printable(target))"
                    + (closed > 0 ? "; \(closed) closed here and left out." : "."))
        }

        // MARK: Sealed

        private func passphrase() throws -> SecretBytes {
            let passphrase = try Passphrase.newSecret(
                file: exportPassphraseFile, option: "--export-passphrase-file", variable: "SIGNET_EXPORT_PASSPHRASE",
                prompt: "Passphrase of the export: ")
            guard passphrase.count > 0 else {
                throw CommandFailure(.usage, "The passphrase is empty.", "Choose one with at least a few words.")
            }
            try Passphrase.check(passphrase)
            return passphrase
        }

        private func exportSealed() async throws {
            guard !DurableFile(path: target).exists else { throw CommandFailure(.exists, path: target) }
            let passphrase = try passphrase()
            var notes = try await NotesSession(home)
            let (withFiles, target) = (!withoutFiles, target)
            let report = try await notes.run(isWatching: false) { book throws(NotesError) in
                let file: TargetFile
                do { file = try TargetFile(target) } catch { throw .bundle(.notWritten) }
                let report = try await book.export(under: passphrase, isWithFiles: withFiles) { file.write($0) }
                do { try file.finish() } catch { throw .bundle(.notWritten) }
                return report
            }
            say(
                report.noteCount, closed: report.closedCount, failed: report.missingFiles.count,
                files: report.fileCount)
            for (note, name) in report.missingFiles {
                Output.error(
                    "\(Paint.error.warning("not exported:")) file \(NoteText.line(name)) of \(note.shortName), which the server does not show"
                )
            }
            guard report.missingFiles.isEmpty else {
                throw CommandFailure(
                    .notProven, "\(Moment.count(UInt64(report.missingFiles.count), "file")) could not be exported.",
                    "They are named above; the notes and all other files are in \(PrintedValue.printable(target)).")
            }
        }

        private func cell(_ notes: [NoteFacts]) throws -> [UInt8] {
            let passphrase = try passphrase()
            let text = PrintedValue.object(["notes": .array(notes.map(\.export))]).text
            do {
                let cell = try passphrase.withBytes { bytes in
                    try PassphraseSeal.seal(
                        Array(text.utf8), passphrase: bytes.bindMemory(to: UInt8.self).span,
                        context: ThemisBundle.context)
                }
                return ThemisBundle.format + cell
            } catch { throw CommandFailure(.bug, "The export could not be sealed.", CommandFailure.bugRemedy) }
        }

        private func write(_ bytes: [UInt8]) throws {
            do { try DurableFile(path: target).create(bytes) } catch { throw CommandFailure(error, path: target) }
        }

        // MARK: Readable

        /// One note that cannot be written keeps none of the others back.
        ///
        /// - Returns: how many were not written.
        private func write(_ notes: [NoteFacts], into folder: String) throws -> Int {
            guard mkdir(folder, 0o700) == 0 else {
                throw CommandFailure(errno == EEXIST ? .exists : .notPermitted, path: folder)
            }
            var failed = 0
            for note in notes {
                let path = "\(folder)/\(note.fileName).md"
                do { try DurableFile(path: path).create(Array(note.markdown.utf8)) } catch {
                    Output.error(
                        "\(Paint.error.warning("not written:")) \(note.shortName): \(error.sentence(path).what)")
                    failed += 1
                }
            }
            return failed
        }
    }
}

/// The export in Themis' form: this line, then a Secure Cell (Seal, passphrase) with this context. Inside: JSON.
enum ThemisBundle {
    static let format = Array("signet-notes-bundle/v1\n".utf8)
    static let context = Array("signet-notes-bundle/v1".utf8)
}

extension NoteFacts {
    /// As `show --json`, with texts in base64 as well, byte for byte.
    fileprivate var export: PrintedValue {
        guard case .object(var members) = json, let document else { return .null }
        members["body"] = .text(document.body)
        members["bodyBytes"] = .base64(document.body)
        members["titleBytes"] = .base64(document.title)
        return .object(members)
    }

    /// Letters and digits of the title in at most 100 bytes, and the name: a character may have any number of marks, and no
    /// file system takes more than 255 bytes.
    fileprivate var fileName: String {
        var words = ""
        for character in heading.lowercased().split(whereSeparator: { !$0.isLetter && !$0.isNumber }).joined(
            separator: "-")
        {
            guard words.utf8.count + character.utf8.count <= 100 else { break }
            words.append(character)
        }
        return words.isEmpty ? shortName : "\(words)-\(shortName)"
    }

    fileprivate var markdown: String {
        var lines = ["# \(heading)", ""]
        lines.append(
            "From \(owner?.description ?? "someone")"
                + (members.isEmpty
                    ? "" : ", shared with " + members.map { "\($0.handle) (\($0.role.name))" }.joined(separator: ", ")))
        if let tags = document?.tags, !tags.isEmpty {
            lines.append("Tags: " + tags.map(NoteText.line).joined(separator: ", "))
        }
        lines += ["", String(decoding: document?.body ?? [], as: UTF8.self)]
        for comment in comments {
            lines += [
                "", "---", "\(comment.author), \(Moment.utc(comment.time)):", "",
                String(decoding: comment.text, as: UTF8.self),
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
