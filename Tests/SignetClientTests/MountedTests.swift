// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NotesClient
import PinnedHTTP
import SecretMemory
import SignetAPI
import SignetClient
import Testing

@testable import Signet
@testable import SignetServer

/// The directory mounted in an app's own server, over real connections.
@Suite struct MountedTests {
    private static func answer(
        _ profile: DirectoryProfile, _ method: String, _ path: String
    ) async throws -> TransportResponse {
        try await NIOTransport(to: profile).send(
            TransportRequest(
                method: method, path: path, limit: ResponseLimit(maximumByteCount: 100_000, mediaType: nil)))
    }

    @Test func accountsMessagesAndNotesWorkInAnAppsServer() async throws {
        try await MountedDirectory.run { profile, folder in
            let passphrase = SecretBytes(copying: "a passphrase that nobody guesses: heron, kettle".utf8)
            let alice = try await Account.create(
                Handle("alice@example.org"), at: profile, in: HomeFolder(path: folder + "/alice"),
                passphrase: passphrase)
            let bob = try await Account.create(
                Handle("bob@example.org"), at: profile, in: HomeFolder(path: folder + "/bob"), passphrase: passphrase)
            _ = try await alice.add(bob.handle)
            _ = try await bob.accept(alice.handle)
            let message = try await alice.seal("hello".utf8, to: [bob.handle], for: "test")
            let opened = try await bob.open(message.encoded, for: "test")
            #expect(opened.content.body == Array("hello".utf8))
            let note = try await alice.notes { book throws(NotesError) in
                let note = try await book.create(title: Array("cake".utf8), body: Array("cellar".utf8))
                _ = try await book.sync()
                return note
            }
            let titles = try await alice.notes { book throws(NotesError) in try await book.facts(note).document?.title }
            #expect(titles == Array("cake".utf8))
            // The daily check finds no fault, in the server's pins either: a mounted directory logs them too.
            await alice.look()
            await alice.close()
            await bob.close()
            for await event in alice.events { Issue.record("\(event)") }
        }
    }

    /// The file has one book at a time, and parts of an app may use the notes at the same time.
    @Test func notesAreOpenedOnceForConcurrentUses() async throws {
        try await MountedDirectory.run { profile, folder in
            let alice = try await Account.create(
                Handle("alice@example.org"), at: profile, in: HomeFolder(path: folder + "/alice"),
                passphrase: SecretBytes(copying: "a passphrase that nobody guesses: heron, kettle".utf8))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        _ = try await alice.notes { book throws(NotesError) in
                            try await book.create(title: Array("\(number)".utf8), body: [])
                        }
                    }
                }
                try await group.waitForAll()
            }
            let count = try await alice.notes { book throws(NotesError) in await book.notes().count }
            #expect(count == 8)
            await alice.close()
        }
    }

    /// A book in use stays open until its use ends; the next use opens one with the new file.
    @Test func notesAreOpenedAgainWithANewDirectoryFileAfterTheirLastUse() async throws {
        try await MountedDirectory.run { profile, folder in
            let home = HomeFolder(path: folder + "/alice")
            let alice = try await Account.create(
                Handle("alice@example.org"), at: profile, in: home,
                passphrase: SecretBytes(copying: "a passphrase that nobody guesses: heron, kettle".utf8))
            let other = DirectoryProfile(
                url: profile.url, server: profile.server.with(pins: profile.pins.reversed()), mark: profile.mark,
                trust: profile.trust)
            let first = try await alice.notes { book throws(NotesError) in
                let kept: Void? = try? await home.directory.replace(with: other.encoded)
                #expect(kept != nil)
                await alice.look()
                let inside = try? await alice.notes { book throws(NotesError) in book }
                #expect(inside === book)
                return book
            }
            #expect(await alice.home.profile == other)
            let next = try await alice.notes { book throws(NotesError) in book }
            #expect(next !== first)
            await alice.close()
        }
    }

    @Test func otherPathsAreAnsweredByTheApp() async throws {
        try await MountedDirectory.run { profile, _ in
            for path in ["/", "/hello", "/health", "/metrics", "/v1/nothing", "/signals"] {
                let status = try await Self.answer(profile, "GET", path).status
                #expect(status == 418, "\(path)")
            }
            let statuses = [
                try await Self.answer(profile, "GET", "/log/checkpoint").status,
                try await Self.answer(profile, "GET", "/log/nothing").status,
            ]
            #expect(statuses == [200, 404])
        }
    }

    @Test func theRateLimitsApplyInTheAppsServer() async throws {
        var limits = ServerLimits()
        limits.addressRate = RequestRate(perSecond: 1, burst: 3)
        try await MountedDirectory.run(limits: limits) { profile, _ in
            // All at once: one after the other, a slow machine might send no more than one in a second.
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 { group.addTask { try await Self.answer(profile, "GET", "/log/checkpoint").status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses.count { $0 == 200 } >= 3 && statuses.contains(429))
            #expect(statuses.allSatisfy { $0 == 200 || $0 == 429 })
            let own = try await Self.answer(profile, "GET", "/hello").status
            #expect(own == 418, "the app's own")
        }
    }
}
