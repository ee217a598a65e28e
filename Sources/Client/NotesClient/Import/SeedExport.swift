// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SecureCell

/// What the seed's app left in its database, as Firebase exports it: JSON of `posts`, `user-posts`, `post-comments`.
///
/// Spec: the data model of the SecureNotes app of 2018. A body is a Themis Seal cell under the key `secret-` and the
/// author's user id, base64 and percent-encoded; titles and comments are in clear.
public struct SeedExport: Sendable {
    /// The longest export that is read, in bytes.
    public static let maximumByteCount = 256 << 20

    /// In order of their ids, which is the order in which they were made.
    public let posts: [SeedPost]

    /// Reads an export. Posts without an author are none.
    ///
    /// - Throws: ``SeedExportError``.
    public init(decoding bytes: [UInt8]) throws(SeedExportError) {
        let database: Database
        do { database = try JSONDecoder().decode(Database.self, from: Data(bytes)) } catch { throw .notAnExport }
        var entries = database.posts ?? [:]
        for posts in (database.userPosts ?? [:]).values { entries.merge(posts) { first, _ in first } }
        guard !entries.isEmpty else { throw .noPosts }
        posts = entries.sorted { $0.key < $1.key }.compactMap { id, post in
            SeedPost(id, post, comments: database.comments?[id] ?? [:])
        }
    }

    /// How many of the posts their server could read.
    public var readableCount: Int { posts.count { $0.body != nil } }

    fileprivate struct Database: Decodable {
        let posts: [String: Post]?
        let userPosts: [String: [String: Post]]?
        let comments: [String: [String: Comment]]?

        private enum CodingKeys: String, CodingKey {
            case posts
            case userPosts = "user-posts"
            case comments = "post-comments"
        }
    }

    fileprivate struct Post: Decodable {
        let uid: String?
        let author: String?
        let title: String?
        let body: String?
        let stars: [String: Bool]?
    }

    fileprivate struct Comment: Decodable {
        let author: String?
        let text: String?
    }
}

/// A post of the seed's app.
public struct SeedPost: Sendable {
    /// Its id.
    public let id: String
    /// Its author's user id.
    public let user: String
    /// The name that its author chose.
    public let author: String
    /// UTF-8.
    public let title: [UInt8]
    /// UTF-8, opened with the key that anyone who knows the user's id can make, or found in clear; nil if it does not
    /// open.
    public let body: [UInt8]?
    /// Whether the body stood in the database in clear.
    public let wasInClear: Bool
    /// Whether its author starred it.
    public let isStarred: Bool
    /// Comments with their authors' names, in order.
    public let comments: [(author: String, text: String)]
    /// When it was made, in seconds since 1970, as its id says; nil if it is not a push id.
    public let created: UInt64?

    fileprivate init?(_ id: String, _ post: SeedExport.Post, comments: [String: SeedExport.Comment]) {
        guard let user = post.uid, let text = post.body else { return nil }
        self.id = id
        self.user = user
        author = post.author ?? ""
        title = Array((post.title ?? "").utf8)
        isStarred = post.stars?[user] ?? false
        self.comments = comments.sorted { $0.key < $1.key }.map { ($0.value.author ?? "", $0.value.text ?? "") }
        created = Self.time(of: id)
        let cell = try? PercentBase64.decode(Array(text.utf8), reading: .compatible)
        // A cell begins with its algorithm; the app put in clear what it could not seal.
        guard let cell, cell.starts(with: [0, 1, 1, 0x40]) else {
            (body, wasInClear) = (Array(text.utf8), true)
            return
        }
        let key = SymmetricKey(data: Array("secret-\(user)".utf8))
        (body, wasInClear) = (try? Seal.open(cell, key: key, reading: .compatible), false)
    }

    /// The first eight characters of a push id are milliseconds since 1970, in 64 digits.
    private static func time(of id: String) -> UInt64? {
        let digits = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz".utf8)
        guard id.utf8.count == 20 else { return nil }
        var milliseconds: UInt64 = 0
        for character in id.utf8.prefix(8) {
            guard let digit = digits.firstIndex(of: character) else { return nil }
            milliseconds = milliseconds << 6 | UInt64(digit)
        }
        return milliseconds / 1000
    }
}

/// Why bytes are not an export. Nothing but another file helps.
public enum SeedExportError: Error, Hashable, Sendable {
    /// Not JSON, or of another shape.
    case notAnExport
    /// The export has no posts.
    case noPosts
}
