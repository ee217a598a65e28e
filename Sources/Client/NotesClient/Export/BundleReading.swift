// SPDX-License-Identifier: Apache-2.0

import Foundation
public import SecretMemory
import SecureCell
public import SignetClient

/// Reads a file at some place: as many bytes as it is asked for, fewer at the end; nil if it cannot.
public typealias BundleSource = (_ offset: UInt64, _ count: Int) -> [UInt8]?

/// A sealed export whose passphrase was right, and every byte of which was looked at: what is inside is what was sealed.
public struct OpenedBundle: Sendable {
    /// The longest export in Themis' form that is read, in bytes: one that has to be in memory as a whole.
    public static let maximumCellByteCount = 1 << 30

    /// How many notes are inside.
    public let noteCount: Int
    /// Of each file of notes in order how many bytes it has; nil if not all of it was there to be exported.
    let files: [UInt64?]
    let content: Content

    /// How many files of notes are inside, whole.
    public var fileCount: Int { files.count { $0 != nil } }

    enum Content {
        case pieces(NotesBundle)
        case cell([BundledNote])
    }

    /// The first line of an export in Themis' form.
    private static let cellFormat = Array("signet-notes-bundle/v1\n".utf8)
    private static let cellContext = Array("signet-notes-bundle/v1".utf8)

    /// Whether bytes from the start of a file are those of a sealed export, of this or another form.
    public static func isBundle(_ start: [UInt8]) -> Bool { start.starts(with: Array("signet-notes-bundle/".utf8)) }

    /// Opens an export and reads all of it once; nothing of it is kept.
    ///
    /// - Throws: ``BundleError``.
    public init(passphrase: SecretBytes, reading read: BundleSource) throws(BundleError) {
        guard let head = read(0, NotesBundle.headByteCount) else { throw .notRead }
        guard !head.starts(with: Self.cellFormat) else {
            let notes = try Self.notes(inCell: read, passphrase)
            (content, noteCount, files) = (.cell(notes), notes.count, [])
            return
        }
        content = .pieces(try NotesBundle(decoding: head, passphrase: passphrase))
        var (reader, noteCount) = (BundleReader(content), 0)
        var files: [UInt64?] = []
        while let item = try reader.next(read) {
            switch item {
            case .note: noteCount += 1
            case .fileBegins:
                var byteCount: UInt64 = 0
                while let piece = try reader.nextPiece(read) { byteCount += UInt64(piece.count) }
                files.append(byteCount)
            case .fileEnds(let isWhole): if !isWhole, let last = files.indices.last { files[last] = nil }
            }
        }
        (self.noteCount, self.files) = (noteCount, files)
    }

    private static func notes(
        inCell read: BundleSource, _ passphrase: SecretBytes
    ) throws(BundleError) -> [BundledNote] {
        guard passphrase.count > 0 else { throw .emptyPassphrase }
        guard let file = read(0, maximumCellByteCount + 1) else { throw .notRead }
        guard file.count <= maximumCellByteCount else { throw .tooMuchWork }
        let cell = Array(file.dropFirst(cellFormat.count))
        let opened: [UInt8]
        do {
            opened = try passphrase.withBytes { bytes throws(CellError) in
                try PassphraseSeal.open(cell, passphrase: bytes.bindMemory(to: UInt8.self).span, context: cellContext)
            }
        } catch {
            switch error {
            case .iterationsOutOfBounds: throw .tooMuchWork
            case .notAuthentic: throw .wrongPassphraseOrDamaged
            default: throw .damaged
            }
        }
        struct Notes: Decodable { let notes: [BundledNote] }
        let found: [BundledNote]
        do { found = try JSONDecoder().decode(Notes.self, from: Data(opened)).notes } catch { throw .malformed }
        guard found.allSatisfy({ $0.name != nil }) else { throw .malformed }
        return found
    }
}

/// Goes through an opened export. Each piece is authenticated before anything of it is looked at.
struct BundleReader {
    private let content: OpenedBundle.Content
    private var opened: [UInt8] = []
    private var start = 0
    private var offset = UInt64(NotesBundle.headByteCount)
    private var index: UInt64 = 0
    private var isAtEnd = false
    private var isInFile = false
    private var isFileOver = false
    private var noteCount: UInt32 = 0
    private var fileCount: UInt32 = 0
    /// How many files the last note names.
    private var namedCount = 0
    /// Of an export in Themis' form.
    private var taken = 0

    init(_ content: OpenedBundle.Content) { self.content = content }

    /// The next note, or the beginning or end of a file; nil at the end. What of a file was not asked for is ignored.
    mutating func next(_ read: BundleSource) throws(BundleError) -> BundleItem? {
        guard case .pieces(let bundle) = content else { return nextOfCell() }
        if isInFile {
            while try nextPiece(read) != nil {}
            (isInFile, isFileOver) = (false, false)
            let mark = try byte(bundle, read)
            guard mark <= 1 else { throw .malformed }
            return .fileEnds(isWhole: mark == 1)
        }
        switch try byte(bundle, read) {
        case BundleItem.noteMark:
            noteCount += 1
            let note = try BundledNote(decoding: try bytes(try length(bundle, read), bundle, read))
            namedCount = note.attachments.count
            return .note(note)
        case BundleItem.fileMark:
            let number = try byte(bundle, read)
            guard Int(number) < namedCount else { throw .malformed }
            (isInFile, fileCount) = (true, fileCount + 1)
            return .fileBegins(number)
        case BundleItem.endMark:
            let counts = (try length(bundle, read), try length(bundle, read))
            guard counts == (Int(noteCount), Int(fileCount)), start == opened.count, isAtEnd else { throw .malformed }
            return nil
        default: throw .malformed
        }
    }

    /// The next piece of the file that began; nil when there is no more.
    mutating func nextPiece(_ read: BundleSource) throws(BundleError) -> [UInt8]? {
        guard case .pieces(let bundle) = content, isInFile, !isFileOver else { return nil }
        let mark = try length(bundle, read)
        guard mark <= NotesBundle.pieceByteCount else { throw .malformed }
        isFileOver = mark == 0
        guard !isFileOver else { return nil }
        return try bytes(mark, bundle, read)
    }

    private mutating func nextOfCell() -> BundleItem? {
        guard case .cell(let notes) = content, taken < notes.count else { return nil }
        defer { taken += 1 }
        return .note(notes[taken])
    }

    private mutating func byte(_ bundle: NotesBundle, _ read: BundleSource) throws(BundleError) -> UInt8 {
        try bytes(1, bundle, read)[0]
    }

    private mutating func length(_ bundle: NotesBundle, _ read: BundleSource) throws(BundleError) -> Int {
        try bytes(4, bundle, read).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Nothing is allocated for a length that the export does not have.
    private mutating func bytes(
        _ count: Int, _ bundle: NotesBundle, _ read: BundleSource
    ) throws(BundleError) -> [UInt8] {
        while opened.count - start < count {
            guard !isAtEnd else { throw .malformed }
            opened.removeFirst(start)
            start = 0
            opened += try openNext(bundle, read)
        }
        defer { start += count }
        return Array(opened[start..<start + count])
    }

    private mutating func openNext(_ bundle: NotesBundle, _ read: BundleSource) throws(BundleError) -> [UInt8] {
        let whole = NotesBundle.pieceByteCount + NotesBundle.tagByteCount
        // One byte more says whether another piece follows.
        guard let found = read(offset, whole + 1) else { throw .notRead }
        isAtEnd = found.count <= whole
        let content = try bundle.open(Array(found.prefix(whole)), piece: index, isLast: isAtEnd)
        offset += UInt64(whole)
        index += 1
        return content
    }
}
