// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import KeyTransparency
import NoteLog
import SealedNotes
import SignetClient

/// The outcome of posts that were imported.
public struct TakenPosts: Hashable, Sendable {
    /// How many became notes.
    public private(set) var count = 0
    /// How many were here already.
    public private(set) var hereAlreadyCount = 0
    /// How many did not open.
    public private(set) var notOpenedCount = 0
    /// The ids of those of which something was too long for a note, and which are not here, or not wholly.
    public private(set) var leftOut: [String] = []

    fileprivate mutating func add(_ outcome: Outcome, of post: SeedPost) {
        switch outcome {
        case .new: count += 1
        case .here: hereAlreadyCount += 1
        case .closed: notOpenedCount += 1
        case .tooLong: leftOut.append(post.id)
        }
    }

    fileprivate enum Outcome {
        case new, here, closed, tooLong
    }
}

extension NoteBook {
    /// Makes notes of posts, each once: a tag says which post a note was, so that the same import again adds only what is
    /// missing.
    ///
    /// - Throws: ``NotesError``. What was taken until then stays.
    public func take(_ posts: [SeedPost]) async throws(NotesError) -> TakenPosts {
        var known: [[UInt8]: NoteFacts] = [:]
        for note in notes() { for tag in note.document?.tags ?? [] { known[tag] = note } }
        var taken = TakenPosts()
        for post in posts { taken.add(try take(post, known[post.tag]), of: post) }
        return taken
    }

    private func take(_ post: SeedPost, _ there: NoteFacts?) throws(NotesError) -> TakenPosts.Outcome {
        guard let body = post.body else { return .closed }
        let made = there == nil ? try make(post, body) : there?.note
        guard let note = made else { return .tooLong }
        let comments = post.comments.map { Array("\($0.author): \($0.text)".utf8) }
        let short = comments.filter { $0.count <= ChildContent.maximumTextByteCount }
        let here = Set(there?.comments.map(\.text) ?? [])
        for text in short where !here.contains(text) { try comment(text, on: note) }
        if post.isStarred, there?.stars.contains(author.handle) != true { try star(note) }
        if short.count < comments.count { return .tooLong }
        return there == nil ? .new : .here
    }

    /// nil if it is too long for a note.
    private func make(_ post: SeedPost, _ body: [UInt8]) throws(NotesError) -> NoteID? {
        let tags = [Array("securenotes".utf8), post.tag]
        do { return try create(title: post.title, body: body, tags: tags, created: post.created) } catch {
            guard case .sealed(.tooLong) = error else { throw error }
            return nil
        }
    }
}

extension SeedPost {
    /// The tag of the note that a post becomes: a short hash of its author's user id and its own.
    fileprivate var tag: [UInt8] {
        let hash = SHA256.hash(data: Array(user.utf8) + [0] + Array(id.utf8))
        return Array("securenotes-".utf8) + Hex.encode(Array(hash.prefix(8)))
    }
}
