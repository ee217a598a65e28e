// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Platform
import SealedNotes
import Signet

extension Notes {
    /// `signet notes attach`
    struct Attach: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "attach", abstract: "Attach a file to a note, or remove one.",
            discussion: """
                It is sealed piece by piece, with its name. Everyone who has the note has the file.

                Example: signet notes attach 3f2a photo.png --type image/png
                """)

        @Argument(help: "The note.") var note: String
        @Argument(help: "The file; with --remove, its name in the note.") var file: String
        @Option(help: ArgumentHelp("Its media type.", valueName: "type")) var type = "application/octet-stream"
        @Flag(help: "Remove the file from the note.") var remove = false
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            var notes = try await NotesSession(home)
            let found = try await notes.note(note)
            if remove {
                let manifest = try found.file(file)
                try await notes.run { book throws(NotesError) in try await book.detach(manifest, from: found.note) }
            } else {
                let source = try SourceFile(file)
                guard source.byteCount <= AttachmentManifest.maximumByteCount else {
                    throw CommandFailure(.badFile, "\(PrintedValue.printable(file)) is longer than 4 GiB.", "Split it.")
                }
                let (name, type) = (Array(URL(filePath: file).lastPathComponent.utf8), Array(type.utf8))
                try await notes.run { book throws(NotesError) in
                    try await book.attach(
                        name: name, mediaType: type, byteCount: source.byteCount, to: found.note,
                        reading: { source.piece($0) })
                }
            }
            let isSent = try await notes.send(unless: false)
            output.emit(
                ["file": .string(file), "note": .string(found.name), "sent": .bool(isSent)],
                "\(Paint.output.good("✓")) \(PrintedValue.printable(file)) is \(remove ? "out of" : "in") \(found.heading)."
            )
        }
    }

    /// `signet notes fetch`
    struct Fetch: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "fetch", abstract: "Fetch a file attached to a note, and open it.",
            discussion: "Example: signet notes fetch 3f2a photo.png photo.png")

        @Argument(help: "The note.") var note: String
        @Argument(help: "The file's name in the note.") var file: String
        @Argument(help: "Where to put it; - for standard output.") var target: String
        @OptionGroup var home: HomeOptions

        func run() async throws {
            var notes = try await NotesSession(home)
            let found = try await notes.note(note)
            let manifest = try found.file(file)
            if target == "-" {
                return try await notes.run { book throws(NotesError) in
                    try await book.fetch(manifest, of: found.note) { bytes in
                        Output.write(bytes)
                        return !Output.isUnread
                    }
                }
            }
            try OutputFile.check(target, outside: home.folder)
            let sink = try TargetFile(target)
            try await notes.run { book throws(NotesError) in
                try await book.fetch(manifest, of: found.note) { sink.write($0) }
            }
            try sink.finish()
            Output.line("\(Paint.output.good("✓")) \(PrintedValue.printable(target)), \(manifest.byteCount) bytes.")
        }
    }
}

extension NoteFacts {
    fileprivate func file(_ name: String) throws -> AttachmentManifest {
        guard let file = document?.attachments.last(where: { $0.name == Array(name.utf8) }) else {
            throw CommandFailure(
                .usage, "\(heading) has no file '\(PrintedValue.printable(name))'.",
                "'signet notes show' names its files."
            )
        }
        return file
    }
}

/// A file that is read in pieces.
struct SourceFile: @unchecked Sendable {
    let byteCount: UInt64
    // Used by one reader at a time.
    private let handle: FileHandle

    init(_ path: String) throws {
        guard let handle = FileHandle(forReadingAtPath: path), let end = try? handle.seekToEnd() else {
            throw CommandFailure(
                .badFile, "There is no file \(PrintedValue.printable(path)) to read.", "Check the name.")
        }
        self.handle = handle
        byteCount = end
    }

    /// nil if the file has become shorter.
    func piece(_ index: Int) -> [UInt8]? {
        let start = UInt64(index) * UInt64(AttachmentManifest.chunkByteCount)
        let count = min(UInt64(AttachmentManifest.chunkByteCount), byteCount - start)
        guard let bytes = bytes(at: start, count: Int(count)), bytes.count == count else { return nil }
        return bytes
    }

    /// As many bytes from some place on, fewer at the end; nil if they cannot be read.
    func bytes(at offset: UInt64, count: Int) -> [UInt8]? {
        guard count > 0, offset < byteCount else { return [] }
        guard (try? handle.seek(toOffset: offset)) != nil else { return nil }
        var found: [UInt8] = []
        while found.count < count {
            guard let bytes = try? handle.read(upToCount: count - found.count), !bytes.isEmpty else { break }
            found += bytes
        }
        return found
    }
}

/// A file that is written in pieces beside its place, under an unused name, and moved there when it is complete.
final class TargetFile: @unchecked Sendable {
    private let path: String
    private let temporary: String
    // Used by one writer at a time.
    private let handle: FileHandle
    private var hasFailed = false

    init(_ path: String) throws {
        self.path = path
        temporary = "\(path).\(UInt64.random(in: 0 ... .max)).part"
        guard !FileManager.default.fileExists(atPath: path) else {
            throw CommandFailure(FileFault.exists, path: path)
        }
        let number = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw CommandFailure(FileFault.notPermitted, path: path) }
        handle = FileHandle(fileDescriptor: number, closeOnDealloc: true)
    }

    func write(_ bytes: [UInt8]) -> Bool {
        do { try handle.write(contentsOf: bytes) } catch { hasFailed = true }
        return !hasFailed
    }

    func finish() throws {
        do {
            guard !hasFailed else { throw FileFault.noSpace }
            try handle.synchronize()
            try handle.close()
            try FileManager.default.moveItem(atPath: temporary, toPath: path)
        } catch {
            try? FileManager.default.removeItem(atPath: temporary)
            throw CommandFailure(FileFault.noSpace, path: path)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: temporary) }
}
