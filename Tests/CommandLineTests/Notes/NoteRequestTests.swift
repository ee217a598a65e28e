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

/// The number of sequential requests, which determines how long people wait for a distant server.
@Suite(.serialized) struct NoteRequestTests {
    /// Counts sequential requests.
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

        /// The counts since the last call.
        func take() -> (depth: Int, paths: [String]) {
            count.withLock { count in
                defer { count = Count() }
                return (count.depth, count.paths)
            }
        }
    }

    @Test func sharingTakesThreeSequentialRequests() async throws {
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
            // A notes root that is logged between two of the requests causes a further request, so the test tries
            // again.
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

    /// The number of sequential requests for sharing a new note, and for sharing it again.
    private func requests<Store>(
        of book: NoteBook<Store>, sharing title: String, with bob: Handle, counted transport: CountingTransport
    ) async throws -> (first: Int, second: Int) {
        let note = try await book.create(title: Array(title.utf8), body: Array("at nine".utf8))
        _ = try await book.sync()
        _ = transport.take()
        try await book.share(note, with: bob, as: .reader)
        let first = transport.take()
        // The first request makes the server log the notes' heads in another epoch.
        _ = try await book.sync()
        _ = transport.take()
        // Others have the note now: the log is asked before sealing.
        try await book.share(note, with: bob, as: .writer)
        let second = transport.take()
        #expect(second.paths.contains("/v1/notes/logged-heads"), "\(second.paths)")
        return (first.depth, second.depth)
    }
}
