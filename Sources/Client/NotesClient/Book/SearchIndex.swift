// SPDX-License-Identifier: Apache-2.0

public import NoteLog
import SealedNotes

/// Where a search term was found.
public struct SearchHit: Hashable, Sendable {
    /// In which note.
    public let note: NoteID
    /// In what of it, the first that holds the term.
    public let place: Place

    /// A part of a note.
    public enum Place: Int, Hashable, Sendable, CaseIterable {
        /// The title.
        case title
        /// A tag.
        case tag
        /// The text.
        case body
        /// A comment.
        case comment
    }
}

/// What all notes say, in lower case, in memory only.
struct SearchIndex: Sendable {
    private struct Entry {
        let note: NoteID
        /// One text for each ``SearchHit/Place``, its parts after line feeds.
        let texts: [[UInt8]]
    }

    private let entries: [Entry]

    init(_ notes: [NoteFacts]) {
        entries = notes.map { facts in
            let document = facts.document
            let texts = [
                [document?.title ?? []], document?.tags ?? [], [document?.body ?? []], facts.comments.map(\.text),
            ]
            return Entry(note: facts.note, texts: texts.map(Self.folded))
        }
    }

    /// Notes that hold the term, in the order of the notes.
    ///
    /// - Parameter atWordStart: whether the term must begin a word.
    func search(_ term: [UInt8], atWordStart: Bool) -> [SearchHit] {
        let term = Self.folded([term]).dropFirst()
        guard let term = WordFinder(Array(term)) else { return [] }
        return entries.compactMap { entry in
            let place = SearchHit.Place.allCases.first { place in
                Self.holds(entry.texts[place.rawValue], term, atWordStart)
            }
            return place.map { SearchHit(note: entry.note, place: $0) }
        }
    }

    private static func folded(_ parts: [[UInt8]]) -> [UInt8] {
        var all: [UInt8] = []
        all.reserveCapacity(parts.reduce(parts.count) { $0 + $1.count })
        for part in parts {
            all.append(UInt8(ascii: "\n"))
            append(part, to: &all)
        }
        return all
    }

    /// Passes over the bytes without a branch: there are megabytes of them.
    private static func append(_ text: [UInt8], to all: inout [UInt8]) {
        guard text.withUnsafeBufferPointer({ $0.reduce(0, |) }) < 0x80 else {
            all += Array(String(decoding: text, as: UTF8.self).lowercased().utf8)
            return
        }
        let start = all.count
        all += text
        all.withUnsafeMutableBufferPointer { bytes in
            for index in start..<bytes.count {
                let byte = bytes[index]
                bytes[index] = byte | (byte &- UInt8(ascii: "A") < 26 ? 0x20 : 0)
            }
        }
    }

    private static func holds(_ text: [UInt8], _ term: WordFinder, _ atWordStart: Bool) -> Bool {
        text.withUnsafeBytes { text in
            var start = 0
            while let found = term.first(in: text, from: start) {
                // A text begins with a line feed, so that something stands before every place.
                if !atWordStart || found == 0 || !isWord(text[found - 1]) { return true }
                start = found + 1
            }
            return false
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte >= 0x80 || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
}

/// Finds one term in many texts: sixteen places at a time are those where the term's first and last byte stand, and only there is the rest
/// compared.
struct WordFinder {
    private let term: [UInt8]

    /// nil for no bytes.
    init?(_ term: [UInt8]) {
        guard !term.isEmpty else { return nil }
        self.term = term
    }

    /// The first place at or after `start`.
    func first(in text: UnsafeRawBufferPointer, from start: Int) -> Int? {
        let last = term.count - 1
        let (head, end) = (SIMD16(repeating: term[0]), SIMD16(repeating: term[last]))
        var place = start
        while place + last + 16 <= text.count {
            let heads = text.loadUnaligned(fromByteOffset: place, as: SIMD16<UInt8>.self) .== head
            let ends = text.loadUnaligned(fromByteOffset: place + last, as: SIMD16<UInt8>.self) .== end
            let both = unsafeBitCast(heads .& ends, to: SIMD2<UInt64>.self)
            for half in 0..<2 {
                // The first place is in the lowest byte, which is all ones or zero.
                var left = UInt64(littleEndian: both[half])
                while left != 0 {
                    let offset = left.trailingZeroBitCount / 8
                    if stands(at: place + half * 8 + offset, of: text) { return place + half * 8 + offset }
                    left &= ~(0xFF << (offset * 8))
                }
            }
            place += 16
        }
        while place + last < text.count {
            if stands(at: place, of: text) { return place }
            place += 1
        }
        return nil
    }

    private func stands(at place: Int, of text: UnsafeRawBufferPointer) -> Bool {
        text[place..<(place + term.count)].elementsEqual(term)
    }
}

extension NoteBook {
    /// Looks through titles, tags, texts and comments of all notes, regardless of case. The server takes no part in it.
    ///
    /// - Parameters:
    ///   - term: UTF-8.
    ///   - atWordStart: whether the term must begin a word.
    public func search(_ term: [UInt8], atWordStart: Bool = false) -> [SearchHit] {
        opened.search(term, atWordStart: atWordStart, for: author.handle)
    }
}
