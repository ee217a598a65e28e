// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import NoteLog
import PinnedHTTP
import SecretMemory
import SignetClient
import Synchronization
import Testing

@testable import NotesClient

/// How long people wait for a server that is far away: how many requests go one after the other.
@Suite(.serialized) struct NoteRequestTests {
    /// Counts requests of which each began after another had ended.
    private final class CountingTransport: HTTPTransport {
        private struct Count {
            var depth = 0
            var paths: [String] = []
        }

        private let inner: any HTTPTransport
        private let count = Mutex(Count())

        init(_ inner: any HTTPTransport) { self.inner = inner }

        func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
            let depth = count.withLock { count in
                count.paths.append(request.path)
                return count.depth + 1
            }
            defer { count.withLock { $0.depth = max($0.depth, depth) } }
            return try await inner.send(request)
        }

        /// What was counted since the last time.
        func take() -> (depth: Int, paths: [String]) {
            count.withLock { count in
                defer { count = Count() }
                return (count.depth, count.paths)
            }
        }
    }

    @Test func sharingIsThreeRequestsOneAfterTheOther() async throws {
        try await Town.withServer { town, _ in
            let bob = try Handle(typed: Array(Town.bob.utf8))
            let folder = HomeFolder(path: town["alice"].path())
            let keystore = try Keystore(
                decoding: folder.keystore.read(maximumByteCount: Keystore.maximumByteCount, isSecret: true))
            let secrets = try keystore.open(with: SecretBytes(copying: Program.passphrase.utf8))
            let (trust, notes) = try (
                SQLiteStore.open(at: folder.storePath), NotesStore.open(at: folder.path + "/notes.sqlite")
            )
            let profile = try folder.profile()
            let transport = CountingTransport(try NIOTransport(to: profile))
            let client = try Client(
                of: profile, over: transport, remembering: trust,
                owner: .init(handle: secrets.handle, deviceKey: secrets.keys.signing))
            let book = try await NoteBook(client, secrets: secrets, store: notes)
            _ = try await book.sync()
            // A root of the notes that comes into the log between two of the requests is asked for once more.
            var counts: [(first: Int, second: Int)] = []
            for number in 1...12 where counts.last.map({ max($0.first, $0.second) > 3 }) ?? true {
                counts.append(try await requests(of: book, sharing: "Plan \(number)", with: bob, counted: transport))
            }
            #expect(counts.last.map { max($0.first, $0.second) <= 3 } == true, "\(counts)")
            try notes.close()
            try trust.close()

            expect(0, try await town.signet("bob", "notes", "sync"))
            let read = try await town.signet("bob", "notes", "show", "Plan \(counts.count)", "--json").object()
            #expect(read["body"] as? String == "at nine" && read["standing"] as? String == "writer")
        }
    }

    /// How many requests go one after the other when a new note is shared, and when it is shared once more.
    private func requests<Store>(
        of book: NoteBook<Store>, sharing title: String, with bob: Handle, counted transport: CountingTransport
    ) async throws -> (first: Int, second: Int) {
        let note = try await book.create(title: Array(title.utf8), body: Array("at nine".utf8))
        _ = try await book.sync()
        _ = transport.take()
        try await book.share(note, with: bob, as: .reader)
        let first = transport.take()
        // The first question has the server log where notes stand, in an epoch of its own.
        _ = try await book.sync()
        _ = transport.take()
        // Others have it now: nothing is sealed before the log has been asked.
        try await book.share(note, with: bob, as: .writer)
        let second = transport.take()
        #expect(second.paths.contains("/v1/notes/logged-heads"), "\(second.paths)")
        return (first.depth, second.depth)
    }
}
