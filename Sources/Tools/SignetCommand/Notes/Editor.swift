// SPDX-License-Identifier: Apache-2.0

import Foundation
import Platform
import SealedNotes
import Signet

/// What a person changes of a note: title, tags, text. As a text: a line `Title: …`, a line `Tags: …`, an empty line, the text.
struct EditedNote: Equatable {
    /// No edited note is longer, in bytes.
    static let maximumByteCount = 900_000

    var title: [UInt8]
    var tags: [[UInt8]]
    var body: [UInt8]

    init(title: [UInt8], tags: [[UInt8]], body: [UInt8]) {
        self.title = title
        self.tags = tags
        self.body = body
    }

    init(_ document: NoteDocument) {
        self.init(title: document.title, tags: document.tags, body: document.body)
    }

    func apply(to document: inout NoteDocument) {
        document.title = title
        document.tags = tags
        document.body = body
    }

    /// The title and the tags are one line each, even if other people put line breaks into them.
    var text: [UInt8] { Array("Title: \(titleLine)\nTags: \(tagLine)\n\n".utf8) + body }

    private var titleLine: String { NoteText.line(title) }
    private var tagLine: String { tags.map(NoteText.line).joined(separator: ", ") }

    /// This text as an edit of `before`: lines that were left as they were shown change nothing.
    func edit(of before: EditedNote) -> EditedNote {
        var note = self
        if Self.isLeft(titleLine, before.titleLine) { note.title = before.title }
        if Self.isLeft(tagLine, before.tagLine) { note.tags = before.tags }
        return note
    }

    /// Spaces at the ends are not read back.
    private static func isLeft(_ line: String, _ shown: String) -> Bool {
        line.utf8.elementsEqual(trimmed(Array(shown.utf8)[...]))
    }

    /// nil unless it begins with the two lines and an empty one.
    init?(text: [UInt8]) {
        let lines = text.split(separator: UInt8(ascii: "\n"), maxSplits: 3, omittingEmptySubsequences: false)
        guard lines.count >= 3, let title = Self.value(lines[0], "Title:"), let tags = Self.value(lines[1], "Tags:"),
            lines[2].isEmpty
        else { return nil }
        self.title = title
        self.tags = tags.split(separator: UInt8(ascii: ",")).map(Self.trimmed).filter { !$0.isEmpty }
        body = lines.count > 3 ? Array(lines[3]) : []
    }

    private static func value(_ line: ArraySlice<UInt8>, _ name: String) -> [UInt8]? {
        line.starts(with: name.utf8) ? trimmed(line.dropFirst(name.utf8.count)) : nil
    }

    private static func trimmed(_ text: ArraySlice<UInt8>) -> [UInt8] {
        let space = UInt8(ascii: " ")
        return Array(text.drop { $0 == space }.reversed().drop { $0 == space }.reversed())
    }
}

/// Standard input, whole.
enum StandardInput {
    static func read(_ maximumByteCount: Int) throws -> [UInt8] {
        try InputFile.read("/dev/stdin", maximumByteCount: maximumByteCount)
    }
}

/// The user's editor on a file that is in memory only.
///
/// The file lies in a folder of its own on a file system that has no disk, for the user alone, with the files that the
/// editor puts beside it. The folder is gone when the editor ends, and when a signal ends signet; after the one signal
/// that nothing can catch, the next edit removes it.
enum Editor {
    private static let prefix = "signet-edit-"

    static func edit(_ note: EditedNote) throws -> EditedNote {
        let folder = try makeFolder()
        defer { remove(folder) }
        let file = DurableFile(path: folder + "/note.txt")
        do {
            try file.create(note.text)
            while true {
                try run(on: file.path)
                let text = try file.read(maximumByteCount: EditedNote.maximumByteCount)
                if let edited = EditedNote(text: text) { return edited.edit(of: note) }
                let fault = "The first lines are not 'Title:', 'Tags:' and an empty line."
                let unasked = CommandFailure(
                    .usage, "\(fault) Nothing was changed.", "Correct them, or give the text on the command line.")
                guard try Question.confirm("\(fault) Edit again?", unasked: unasked) else {
                    throw CommandFailure(.interrupted, "Nothing was changed.", "")
                }
            }
        } catch let error as FileFault { throw CommandFailure(error, path: file.path) }
    }

    /// Through the shell, as other programs start editors: `$EDITOR` may have options.
    private static func run(on path: String) throws {
        let command = Environment.value("VISUAL") ?? Environment.value("EDITOR") ?? "vi"
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", "exec \(command) \"$1\"", "signet", path]
        let sources = ignoringSignals(removing: path)
        defer { for source in sources { source.cancel() } }
        do { try process.run() } catch {
            throw CommandFailure(.environment, "There is no shell to start your editor.", "Use - to pipe the text in.")
        }
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw CommandFailure(
                .interrupted, "Your editor exited with an error. Nothing was changed.",
                "EDITOR is '\(PrintedValue.printable(command))'.")
        }
    }

    /// While the editor runs, the keyboard's signals are the editor's; those that end signet remove the file first.
    private static func ignoringSignals(removing path: String) -> [any DispatchSourceSignal] {
        [SIGINT, SIGQUIT, SIGTERM, SIGHUP].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                guard number == SIGTERM || number == SIGHUP else { return }
                remove(URL(filePath: path).deletingLastPathComponent().path())
                _exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    private static func makeFolder() throws -> String {
        for place in [Environment.value("XDG_RUNTIME_DIR"), "/dev/shm"].compactMap({ $0 }) where isInMemory(place) {
            removeLeftovers(in: place)
            let folder = "\(place)/\(prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))"
            if mkdir(folder, 0o700) == 0 { return folder }
        }
        throw CommandFailure(
            .environment, "There is no place in memory to edit the note in, and it must not be written to a disk.",
            "Use - to pipe the text in and 'signet notes show --body' to pipe it out.")
    }

    /// Whether the file system that holds a folder has no disk below it.
    private static func isInMemory(_ path: String) -> Bool {
        guard let table = try? DurableFile(path: "/proc/self/mounts").read(maximumByteCount: 1 << 20),
            let resolved = realpath(path, nil)
        else { return false }
        defer { free(resolved) }
        let place = String(cString: resolved) + "/"
        var (longest, kind) = ("", Substring())
        for line in String(decoding: table, as: UTF8.self).split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 2 else { continue }
            let point = fields[1] == "/" ? "/" : fields[1] + "/"
            // Of two at one place the later counts.
            if place.hasPrefix(point), point.count >= longest.count { (longest, kind) = (String(point), fields[2]) }
        }
        return kind == "tmpfs" || kind == "ramfs"
    }

    /// Folders of signets that were killed.
    private static func removeLeftovers(in place: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? [] where name.hasPrefix(prefix) {
            let process = name.dropFirst(prefix.count).prefix { $0 != "-" }
            guard let number = Int32(process), kill(number, 0) != 0, errno == ESRCH else { continue }
            remove("\(place)/\(name)")
        }
    }

    private static func remove(_ folder: String) { try? FileManager.default.removeItem(atPath: folder) }
}
