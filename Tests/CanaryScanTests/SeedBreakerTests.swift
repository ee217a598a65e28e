// SPDX-License-Identifier: Apache-2.0

import CanaryScan
import Crypto
import Foundation
import SecureCell
import Testing

/// Z4: the scheme of the seed's app fails the scan that ours has to pass.
struct SeedBreakerTests {
    struct Post: Decodable { let uid, plaintext_utf8, body_field: String }
    struct Golden: Decodable { let seed_app_posts: [Post] }

    /// Posts that the app's own code and the Themis library made.
    private func posts() throws -> [Post] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Vectors/themis/themis.json")
        return try JSONDecoder().decode(Golden.self, from: Data(contentsOf: file)).seed_app_posts
    }

    /// The app's database as its server has it: title, author and user in clear, the body sealed.
    private func database(_ posts: [Post]) throws -> [UInt8] {
        var rows: [String: Any] = [:]
        for (number, post) in posts.enumerated() {
            rows["-LJ\(number)"] = [
                "uid": post.uid, "author": "anna", "title": "title \(number)", "body": post.body_field,
                "starCount": "0",
            ]
        }
        return Array(try JSONSerialization.data(withJSONObject: ["posts": rows]))
    }

    @Test func theSeedsDatabaseAloneRevealsEveryPost() throws {
        let posts = try posts()
        #expect(posts.count == 4)
        let database = try database(posts)
        let opened = SeedBreaker.opened(in: database)
        #expect(Set(opened) == Set(posts.map { Array($0.plaintext_utf8.utf8) }))
        // The scan that finds no secret at our server finds every post in what the breaker opens of this database.
        let scanner = try #require(CanaryScanner(posts.map { Canary($0.uid, Array($0.plaintext_utf8.utf8)) }))
        #expect(scanner.findings(in: database, at: "database").isEmpty)
        let found = scanner.findings(in: opened.flatMap { $0 }, at: "database")
        #expect(Set(found.map(\.canary)) == Set(posts.map(\.uid)))
    }

    @Test func theSeedStoresTitlesInTheClear() throws {
        let scanner = try #require(CanaryScanner([Canary("title", Array("title 3\"".utf8))]))
        #expect(try !scanner.findings(in: database(posts()), at: "database").isEmpty)
    }

    @Test func breaker_opensCellsInBinary() throws {
        let key = SymmetricKey(data: Array("secret-bob12345".utf8))
        let cell = try Seal.seal(Array("hello".utf8), key: key)
        #expect(SeedBreaker.opened(in: Array("bob12345\0".utf8) + cell + [1, 2, 3]) == [Array("hello".utf8)])
    }

    @Test func breaker_doesNotOpenACellUnderARandomKey() throws {
        let cell = try Seal.seal(Array("hello".utf8), key: SymmetricKey(size: .bits256))
        #expect(SeedBreaker.opened(in: Array("bob12345\0".utf8) + cell).isEmpty)
    }
}
