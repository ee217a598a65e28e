// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import KeyTransparency
import NoteLog
import SealedNotes

/// Seals an export as it is made, and hands it on piece by piece.
struct BundleWriter {
    private let bundle: NotesBundle
    private var waiting: [UInt8] = []
    private var index: UInt64 = 0
    private var noteCount: UInt32 = 0
    private var fileCount: UInt32 = 0

    init(_ bundle: NotesBundle) { self.bundle = bundle }

    mutating func write(_ note: BundledNote, _ write: ([UInt8]) -> Bool) throws(BundleError) {
        guard let json = note.encoded, let count = UInt32(exactly: json.count) else { throw .notSealed }
        var writer = ByteWriter()
        writer.write(BundleItem.noteMark)
        writer.write(count)
        noteCount += 1
        try append(writer.bytes + json, write)
    }

    /// - Parameter number: of the file among those that its note names, from 0.
    mutating func beginFile(_ number: UInt8, _ write: ([UInt8]) -> Bool) throws(BundleError) {
        fileCount += 1
        try append([BundleItem.fileMark, number], write)
    }

    /// - Parameter content: 1 to 65,536 bytes of the file.
    mutating func writeFile(_ content: [UInt8], _ write: ([UInt8]) -> Bool) throws(BundleError) {
        guard !content.isEmpty else { return }
        var writer = ByteWriter()
        writer.write(UInt32(content.count))
        try append(writer.bytes + content, write)
    }

    mutating func endFile(isWhole: Bool, _ write: ([UInt8]) -> Bool) throws(BundleError) {
        try append([0, 0, 0, 0, isWhole ? 1 : 0], write)
    }

    mutating func end(_ write: ([UInt8]) -> Bool) throws(BundleError) {
        var writer = ByteWriter()
        writer.write(BundleItem.endMark)
        writer.write(noteCount)
        writer.write(fileCount)
        try append(writer.bytes, write)
        guard write(try bundle.seal(waiting, piece: index, isLast: true)) else { throw .notWritten }
    }

    /// Hands on what is certainly not the last piece.
    private mutating func append(_ bytes: [UInt8], _ write: ([UInt8]) -> Bool) throws(BundleError) {
        waiting += bytes
        var start = 0
        while waiting.count - start > NotesBundle.pieceByteCount {
            let content = Array(waiting[start..<start + NotesBundle.pieceByteCount])
            guard write(try bundle.seal(content, piece: index, isLast: false)) else { throw .notWritten }
            start += content.count
            index += 1
        }
        waiting.removeFirst(start)
    }
}

/// The items of an export, one after the other.
///
/// Wire form inside: of each note u8 1, u32 length, JSON; then of each of its files u8 2, u8 number among the files that the note
/// names, pieces (u32 length, at most 65,536, bytes), u32 0, and u8 1 if that was all of it, else 0. In the end u8 0, u32 count
/// of the notes, u32 count of the files.
enum BundleItem {
    case note(BundledNote)
    case fileBegins(UInt8)
    case fileEnds(isWhole: Bool)

    static let endMark: UInt8 = 0
    static let noteMark: UInt8 = 1
    static let fileMark: UInt8 = 2
}

/// A note as an export says it, in JSON.
struct BundledNote: Codable {
    struct Comment: Codable {
        let author: String
        let text: String
        let time: UInt64
    }

    struct File: Codable {
        let bytes: UInt64
        let name: String
        let type: String
    }

    struct Member: Codable {
        let handle: String
        let role: String
    }

    /// 32 hex digits.
    let note: String
    let owner: String?
    let members: [Member]
    /// In seconds since 1970.
    let created: UInt64?
    let modified: UInt64?
    let title: String?
    /// As `title` and `body`, byte for byte.
    let titleBytes: Data
    let bodyBytes: Data
    let body: String?
    let tags: [String]
    let stars: [String]
    let comments: [Comment]
    let attachments: [File]

    /// nil of a note that stays closed.
    init?(_ facts: NoteFacts) {
        guard let document = facts.document else { return nil }
        func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
        note = text(Hex.encode(facts.note.bytes))
        owner = facts.owner?.description
        members = facts.members.map {
            Member(handle: $0.handle.description, role: $0.role == .writer ? "writer" : "reader")
        }
        (created, modified) = (document.created, document.modified)
        (title, body) = (text(document.title), text(document.body))
        (titleBytes, bodyBytes) = (Data(document.title), Data(document.body))
        tags = document.tags.map(text)
        stars = facts.stars.map(\.description).sorted()
        comments = facts.comments.map { Comment(author: $0.author.description, text: text($0.text), time: $0.time) }
        attachments = document.attachments.map {
            File(bytes: $0.byteCount, name: text($0.name), type: text($0.mediaType))
        }
    }

    var encoded: Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try? encoder.encode(self)
    }

    /// - Throws: ``BundleError/malformed``.
    init(decoding bytes: [UInt8]) throws(BundleError) {
        do { self = try JSONDecoder().decode(BundledNote.self, from: Data(bytes)) } catch { throw .malformed }
        guard name != nil else { throw .malformed }
    }

    /// nil if it belongs to no note.
    var name: NoteID? {
        guard let bytes = try? Hex.decode(Array(note.utf8)) else { return nil }
        return NoteID(bytes)
    }
}
