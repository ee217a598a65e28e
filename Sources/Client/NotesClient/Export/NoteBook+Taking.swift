// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import KeyTransparency
import NoteLog
import SealedNotes
import SignetClient

/// The outcome of importing the notes of an export.
public struct TakenNotes: Hashable, Sendable {
    /// How many were made.
    public internal(set) var count = 0
    /// How many were here already.
    public internal(set) var hereAlreadyCount = 0
    /// How many files were sent.
    public internal(set) var fileCount = 0
    /// Titles of notes of which something was too long, and which are not here, or not wholly. UTF-8.
    public internal(set) var leftOut: [[UInt8]] = []
    /// Names of files that are not in the export, or were not sent since that takes a network. UTF-8.
    public internal(set) var filesLeftOut: [[UInt8]] = []
}

extension NoteBook {
    /// Makes notes of an export's, each under a new key of this account's, and each once: one of this account's is here, and a tag
    /// says of the others which they were, so that the same import again adds only what is missing.
    ///
    /// What others commented becomes a comment of this account's that begins with their handle.
    ///
    /// - Parameters:
    ///   - isSending: whether files are sent, which takes a network; without, the notes alone are made.
    ///   - read: as when it was opened.
    /// - Throws: ``NotesError``. What was taken until then stays.
    public func take(
        _ bundle: OpenedBundle, isSending: Bool, reading read: BundleSource
    ) async throws(NotesError) -> TakenNotes {
        var (taken, target): (TakenNotes, BundledTarget?) = (TakenNotes(), nil)
        var there: Set<Int> = []
        var (reader, number) = (BundleReader(bundle.content), 0)
        var known: [[UInt8]: NoteID] = [:]
        for note in notes() where note.standing == .owner {
            for tag in note.document?.tags ?? [] { known[tag] = note.note }
        }
        while let item = try bundled({ () throws(BundleError) in try reader.next(read) }) {
            switch item {
            case .note(let note):
                taken.filesLeftOut += try missing(of: target, without: there)
                (target, there) = (try take(note, &known, &taken), [])
            case .fileBegins(let place):
                defer { number += 1 }
                guard let target, Int(place) < target.files.count, number < bundle.files.count else {
                    throw .bundle(.malformed)
                }
                let file = target.files[Int(place)]
                there.insert(Int(place))
                guard let note = target.note, try !has(note, target.files, Int(place)) else { continue }
                guard isSending, bundle.files[number] == file.bytes else {
                    taken.filesLeftOut.append(Array(file.name.utf8))
                    continue
                }
                var content = reader
                let isTaken = try await attach(file, to: note) {
                    file.bytes == 0 ? [] : (try? content.nextPiece(read)) ?? nil
                }
                reader = content
                if isTaken { taken.fileCount += 1 } else { taken.filesLeftOut.append(Array(file.name.utf8)) }
            case .fileEnds: break
            }
        }
        taken.filesLeftOut += try missing(of: target, without: there)
        return taken
    }

    /// Names of files that the export has none of, and the note neither.
    private func missing(
        of target: BundledTarget?, without there: Set<Int>
    ) throws(NotesError) -> [[UInt8]] {
        guard let target, let note = target.note else { return [] }
        var names: [[UInt8]] = []
        for place in target.files.indices where !there.contains(place) {
            if try !has(note, target.files, place) { names.append(Array(target.files[place].name.utf8)) }
        }
        return names
    }

    /// Where the files of a note go: nowhere, if it is this account's own, or was left out.
    private struct BundledTarget {
        let note: NoteID?
        let files: [BundledNote.File]
    }

    private func take(
        _ bundled: BundledNote, _ known: inout [[UInt8]: NoteID], _ taken: inout TakenNotes
    ) throws(NotesError) -> BundledTarget {
        guard let tag = bundled.tag, let name = bundled.name else { throw .bundle(.malformed) }
        guard !isHere(name) else {
            taken.hereAlreadyCount += 1
            return BundledTarget(note: nil, files: bundled.attachments)
        }
        let there = known[tag]
        guard let note = there == nil ? try make(bundled, tag) : there else {
            taken.leftOut.append(Array(bundled.titleBytes))
            return BundledTarget(note: nil, files: bundled.attachments)
        }
        if there == nil { taken.count += 1 } else { taken.hereAlreadyCount += 1 }
        known[tag] = note
        let facts = try facts(note)
        let here = Set(facts.comments.map(\.text))
        for text in bundled.comments(of: author.handle.description) where !here.contains(text) {
            guard text.count <= ChildContent.maximumTextByteCount else {
                taken.leftOut.append(Array(bundled.titleBytes))
                continue
            }
            try comment(text, on: note)
        }
        if bundled.stars.contains(author.handle.description) { try star(note) }
        return BundledTarget(note: note, files: bundled.attachments)
    }

    /// - Returns: false if its name is too long, or the note has as many files as may be.
    private func attach(
        _ file: BundledNote.File, to note: NoteID, reading read: () -> [UInt8]?
    ) async throws(NotesError) -> Bool {
        do {
            try await attach(
                name: Array(file.name.utf8), mediaType: Array(file.type.utf8), byteCount: file.bytes, to: note
            ) { _ in read() }
            return true
        } catch {
            guard case .sealed(.tooLong) = error else { throw error }
            return false
        }
    }

    /// Whether the note itself opens here.
    private func isHere(_ note: NoteID) -> Bool {
        guard let facts = try? facts(note), facts.document != nil else { return false }
        switch facts.standing {
        case .owner, .writer, .reader: return true
        case .removed, .left, .deleted, .unknown: return false
        }
    }

    /// Whether the note has as many files of the name and the length as the export has up to this one.
    private func has(_ note: NoteID, _ files: [BundledNote.File], _ place: Int) throws(NotesError) -> Bool {
        let file = files[place]
        let alike = files[...place].count { $0.bytes == file.bytes && $0.name == file.name }
        let here = try facts(note).document?.attachments.count {
            $0.byteCount == file.bytes && $0.name == Array(file.name.utf8)
        }
        return here ?? 0 >= alike
    }

    /// nil if it is too long for a note.
    private func make(_ note: BundledNote, _ tag: [UInt8]) throws(NotesError) -> NoteID? {
        let tags = note.tags.map { Array($0.utf8) } + [tag]
        do {
            return try create(
                title: Array(note.titleBytes), body: Array(note.bodyBytes), tags: tags, created: note.created)
        } catch {
            guard case .sealed(.tooLong) = error else { throw error }
            return nil
        }
    }

    private func bundled<Value>(_ step: () throws(BundleError) -> Value) throws(NotesError) -> Value {
        do { return try step() } catch { throw .bundle(error) }
    }
}

extension NoteID {
    /// What a note is marked by that was made of this one.
    var tag: [UInt8] { Array("signet-".utf8) + Hex.encode(Array(bytes.prefix(8))) }
}

extension BundledNote {
    /// By which the note that it becomes is known.
    fileprivate var tag: [UInt8]? { name.map(\.tag) }

    /// The texts of the comments, those of others with who said it.
    fileprivate func comments(of reader: String) -> [[UInt8]] {
        comments.map { Array(($0.author == reader ? $0.text : "\($0.author): \($0.text)").utf8) }
    }
}
