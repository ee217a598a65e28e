// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import LogEngine
import NotesAPI
import SignetAPI
import Testing
import TransparencyLog

@testable import SignetServer

/// A front end that has not come as far as others, over a real TLS socket: on every route with a known size it says so.
@Suite struct FrontEndRouteTests {
    /// Serves a directory as one of several, whose clients wait for nothing, or as the only one.
    private func withServer(
        amongSeveral: Bool, _ body: @escaping @Sendable (TestClient, _ size: UInt64) async throws -> Void
    ) async throws {
        try await withDataDirectory { data in
            _ = try FrontEndSecret.announce(in: data.keys)
            let stored = try await StoredDirectory.open(
                data, frontEnd: amongSeveral ? FrontEnd { _ in } : nil, logger: silent)
            let parts = try await StandardParts.open(data, beside: stored, logger: silent)
            let server = try HTTPSServer(
                answering: DirectoryAdapter(stored.directory), and: parts, identity: stored.identity,
                configuration: configuration { _ in }, logger: silent)
            let size = stored.directory.log.published.head.size
            try await run(server) { try await body(TestClient(port: $0, root: stored.profile.tlsRoot), size) }
            for part in parts { await part.close() }
            await stored.directory.close()
        }
    }

    private static let behind = #"{"error":"behind"}"#
    private static let checkpoint = Route.logPrefix + "/checkpoint"

    /// One size more, and the largest: on each route.
    @Test func everyRouteWithAKnownSizeSaysThatItIsBehind() async throws {
        try await withServer(amongSeveral: true) { client, _ in
            let alice = try TestPerson("alice@example.org")
            for known in [1000, UInt64.max] {
                let lookup = LookupRequest(handle: alice.handle, knownSize: known)
                let question = MilestonesRequest(handle: alice.handle, size: known, after: 0).encoded
                let answers = [
                    try await client.call(.lookup, lookup.encoded),
                    try await client.call(.history, HistoryRequest(lookup).encoded),
                    try await client.call(.milestones, question),
                    try await client.call(PinsRoute.pins, PinsRequest(size: known).encoded),
                    try await client.get(Self.checkpoint, knowing: "\(known)"),
                ]
                for answer in answers {
                    #expect(answer?.status == 503)
                    #expect(answer?.text == Self.behind)
                    #expect(answer?.headers["retry-after"] == "1")
                }
            }
            let tile = try Tile(.hashes(level: 0), index: 0, width: Tile.fullWidth)
            let path = Route.logPrefix + "/" + String(decoding: tile.path, as: UTF8.self)
            #expect(try await client.get(path)?.text == Self.behind)
        }
    }

    /// What is long is judged before its body comes: who signed it may be a device that another front end has taken.
    @Test(arguments: [(nil, "not_your_account"), ("1000", "behind")] as [(String?, String)])
    func aLongRequestIsNotRefusedForGoodBeforeTheFrontEndHasCaughtUp(known: String?, error: String) async throws {
        try await withServer(amongSeveral: true) { client, _ in
            let stranger = try TestPerson("mallory@example.org")
            let content = RequestSignature.Content(NoteRoute.putChunks, origin: client.origin, body: [])
            let size = known.map { "\(KnownSize.headerName): \($0)\r\n" } ?? ""
            let head =
                "POST \(NoteRoute.putChunks.path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n"
                + "\(RequestSignature.headerName): \(try stranger.signature(content))\r\n\(size)\r\n"
            let connection = try await Connection.open(port: client.port, root: client.root, greeting: Array(head.utf8))
            let answer = await connection.readAnswer()
            await connection.close()
            #expect(answer?.text == #"{"error":"\#(error)"}"#)
        }
    }

    /// The same server, when it is the only one: it shows what it has, and never says that it is behind.
    @Test func theOnlyServerIsNeverBehind() async throws {
        try await withServer(amongSeveral: false) { client, _ in
            let alice = try TestPerson("alice@example.org")
            let lookup = LookupRequest(handle: alice.handle, knownSize: 1000)
            #expect(try await client.call(.lookup, lookup.encoded)?.status == 200)
            #expect(try await client.call(.history, HistoryRequest(lookup).encoded)?.status == 200)
            #expect(try await client.get(Self.checkpoint, knowing: "1000")?.status == 200)
            let tile = try Tile(.hashes(level: 0), index: 0, width: Tile.fullWidth)
            let path = Route.logPrefix + "/" + String(decoding: tile.path, as: UTF8.self)
            #expect(try await client.get(path)?.status == 404)
        }
    }

    @Test func aHeaderThatIsNoSizeIsPassedOver() async throws {
        try await withServer(amongSeveral: true) { client, size in
            for text in ["", "x", "-1", "+9999", "099999", "18446744073709551616", "\(size)", "0"] {
                let answer = try await client.get(Self.checkpoint, knowing: text)
                #expect(answer?.status == 200, "\(text)")
            }
        }
    }

    /// A front end without the secret would refuse what others have sealed.
    @Test func oneOfSeveralDoesNotStartWithoutTheSecret() async throws {
        try await withDataDirectory { data in
            do {
                _ = try await StoredDirectory.open(data, frontEnd: FrontEnd(), logger: silent)
                Issue.record("started")
            } catch StoredDirectoryError.keys(.missing(.shared)) {}
        }
    }
}
