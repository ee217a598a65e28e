// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Foundation
import KeyDirectory
import KeyTransparency
import SignetAPI
import Testing
import TransparencyLog

@testable import SignetServer

/// Every route over real TLS, with a real log and database behind it.
@Suite(.serialized) struct RouteTests {
    @Test func aNativeLookupOfARegisteredPersonVerifies() async throws {
        try await withServer { client, stored in
            let alice = try TestPerson("alice@example.org")
            let receipt = try await alice.register(client)
            #expect(receipt?.status == 200)
            #expect(receipt?.headers["content-type"] == Route.nativeMediaType)
            let answer = try await client.call(
                .lookup, LookupRequest(handle: alice.handle, knownSize: 0).encoded)
            #expect(answer?.status == 200)
            let verifier = LookupVerifier(trust: stored.profile.trust)
            let found = try verifier.verify(
                answer?.body ?? [], for: alice.handle, knowing: nil, at: TestPerson.now)
            guard case .registered(let lookup) = found else {
                Issue.record("not registered")
                return
            }
            #expect(lookup.state.devices.map(\.keys) == [alice.keys.listed])
            #expect(try StateReceipt(decoding: receipt?.body ?? []).size <= lookup.view.head.size)
        }
    }

    @Test func anECallLookupAnswersWithKeysProofsAndHashes() async throws {
        try await withServer { client, stored in
            let alice = try TestPerson("alice@example.org")
            try await expectStatus(200, of: alice.register(client))
            let answer = try await client.json(.eCallKeys, #"{"targets":["alice@example.org"]}"#)
            #expect(answer?.status == 200)
            #expect(answer?.headers["content-type"] == "application/json")
            let list = try JSONSerialization.jsonObject(with: Data(answer?.body ?? [])) as? [[String: String]]
            #expect(list?.count == 1)
            let entry = try #require(list?.first)
            #expect(Set(entry.keys) == ["publicKey", "proof", "vrfHash"])
            let key = try Base64.decode(Array(try #require(entry["publicKey"]).utf8))
            #expect(key == alice.keys.signing)
            let proof = try TlogProof(decoding: Array(try #require(entry["proof"]).utf8))
            let leaf = Array("\(entry["vrfHash"] ?? "")\n\(entry["publicKey"] ?? "")\n".utf8)
            _ = try proof.verify(entry: leaf, policy: stored.profile.trust.policy)
        }
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"targets":[]}"#, #"{"publicKeyHashs":[]}"#, #"{"targets":"alice@example.org"}"#,
        #"{"targets":["alice@example.org"],"publicKeyHashs":["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="]}"#,
        #"{"targets":[\#(Array(repeating: #""alice@example.org""#, count: 65).joined(separator: ","))]}"#,
        #"{"targets":["alice@example.org"]"#, #"{"targets":[1]}"#, "\u{FEFF}{\"targets\":7}",
        String(repeating: "[", count: 60_000),
    ])
    func anECallLookupWithoutExactlyOneListIsRefused(_ body: String) async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            let answer = try await client.json(.eCallKeys, body)
            #expect(answer?.status == 400)
            #expect(answer?.text == #"{"error":"bad_request"}"#)
        }
    }

    @Test func anECallLookupWithAnUnknownFieldIsAnswered() async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            try await expectStatus(200, of: client.json(.eCallKeys, #"{"targets":["a@b.c"],"version":2}"#))
        }
    }

    @Test func aBlockedFriendRequestLeavesTheList() async throws {
        try await withServer { client, _ in
            let (alice, bob) = (try TestPerson("alice@example.org"), try TestPerson("bob@example.org"))
            for person in [alice, bob] { try await expectStatus(200, of: person.register(client)) }
            _ = try await alice.call(.addFriend, Array(#"{"handle":"bob@example.org"}"#.utf8), client)
            let body = Array(#"{"handle":"alice@example.org"}"#.utf8)
            try await expectStatus(200, of: bob.call(.blockFriend, body, client))
            try await expectStatus(404, of: bob.call(.blockFriend, body, client))
            #expect(try await bob.call(.listFriends, [], client)?.text == #"{"friends":[]}"#)
        }
    }

    @Test func anAcceptedFriendRequestIsListed() async throws {
        try await withServer { client, _ in
            let (alice, bob) = (try TestPerson("alice@example.org"), try TestPerson("bob@example.org"))
            for person in [alice, bob] { try await expectStatus(200, of: person.register(client)) }
            let added = try await alice.call(.addFriend, Array(#"{"handle":"bob@example.org"}"#.utf8), client)
            #expect(added?.status == 200)
            let accepted = try await bob.call(
                .acceptFriend, Array(#"{"handle":"alice@example.org"}"#.utf8), client)
            #expect(accepted?.status == 200)
            let list = try await bob.call(.listFriends, [], client)
            #expect(list?.text == #"{"friends":[{"handle":"alice@example.org","status":"accepted"}]}"#)
            let before = Array(#"{"handle":"aa@example.org"}"#.utf8)
            let itself = Array(#"{"handle":"alice@example.org"}"#.utf8)
            #expect(try await bob.call(.listFriendsAfter, before, client)?.text == list?.text)
            #expect(try await bob.call(.listFriendsAfter, itself, client)?.text == #"{"friends":[]}"#)
            try await expectStatus(400, of: bob.call(.listFriendsAfter, [], client))
            try await expectStatus(401, of: client.call(.listFriendsAfter, itself))
            let hashes = try JSONDecoder().decode(FriendAnswer.self, from: Data(added?.body ?? [])).publicKeyHashs
            let body = try JSONEncoder().encode(ECallRequest(publicKeyHashs: hashes))
            let found = try await client.call(.eCallKeys, Array(body))
            let entries = try JSONDecoder().decode([ECallEntry].self, from: Data(found?.body ?? []))
            #expect(entries.map(\.publicKey) == [String(decoding: Base64.encode(bob.keys.signing), as: UTF8.self)])
        }
    }

    @Test func aRepeatedSignedRequestIsRefused() async throws {
        try await withServer { client, _ in
            let alice = try TestPerson("alice@example.org")
            try await expectStatus(200, of: alice.register(client))
            let signature = try alice.signature(.listFriends, [], client)
            try await expectStatus(200, of: client.call(.listFriends, signature: signature))
            let second = try await client.call(.listFriends, signature: signature)
            #expect(second?.status == 401)
            #expect(second?.text == #"{"error":"replayed"}"#)
        }
    }

    @Test func requestsNotSignedByADeviceOfAnAccountAreRefused() async throws {
        try await withServer { client, _ in
            let (alice, stranger) = (try TestPerson("alice@example.org"), try TestPerson("eve@example.org"))
            try await expectStatus(200, of: alice.register(client))
            func refusal(_ signature: String?) async throws -> String? {
                try await client.call(.listFriends, signature: signature)?.text
            }
            #expect(try await refusal(nil) == #"{"error":"not_signed"}"#)
            #expect(try await refusal("v1 a b c d") == #"{"error":"not_signed"}"#)
            #expect(try await refusal(stranger.signature(.listFriends, [], client)) == #"{"error":"not_your_account"}"#)
            #expect(try await refusal(alice.signature(.addFriend, [], client)) == #"{"error":"not_signed"}"#)
            let old = try alice.signature(.listFriends, [], client, time: TestPerson.now - 1000)
            #expect(try await refusal(old) == #"{"error":"wrong_time"}"#)
            var elsewhere = client
            elsewhere.origin = Array("example.com/signet".utf8)
            #expect(try await refusal(alice.signature(.listFriends, [], elsewhere)) == #"{"error":"not_signed"}"#)
        }
    }

    @Test func theTilesOfTheLogHashToItsCheckpointAndHaveTheSpecifiedHeaders() async throws {
        try await withServer { client, stored in
            for name in ["alice", "bob", "carol"] {
                try await expectStatus(200, of: TestPerson("\(name)@example.org").register(client))
            }
            let note = try #require(try await client.get("/log/checkpoint"))
            #expect(note.headers["content-type"] == "text/plain; charset=utf-8")
            #expect(note.headers["cache-control"] == "no-cache")
            let head = try stored.profile.trust.policy.verify(SignedNote(decoding: note.body)).checkpoint.head
            #expect(head.size == 10)
            let tile = try #require(try await client.get("/log/tile/0/000.p/10"))
            #expect(tile.headers["content-type"] == "application/octet-stream")
            #expect(tile.headers["cache-control"] == "public, max-age=31536000, immutable")
            let bundle = try #require(try await client.get("/log/tile/entries/000.p/10"))
            #expect(bundle.headers["content-type"] == "application/octet-stream")
            let leaves = try EntryBundle(decoding: bundle.body, width: 10).leafHashes
            #expect(tile.body == leaves.flatMap(\.bytes))
            var tree = MerkleTree()
            for leaf in leaves { tree.append(leaf) }
            #expect(try tree.root(size: 10) == head.root)
        }
    }

    @Test func otherPathsOfAPublishedFileAreNotFound() async throws {
        try await withServer { client, _ in
            for name in ["alice", "bob", "carol"] {
                try await expectStatus(200, of: TestPerson("\(name)@example.org").register(client))
            }
            try await expectStatus(200, of: client.get("/log/tile/0/000.p/10"))
            for path in Self.pathsOfNothing {
                let answer = try await client.get(path)
                #expect(answer?.status == 404, "\(path)")
                #expect(answer?.text == #"{"error":"not_found"}"#, "\(path)")
            }
        }
    }

    private static let pathsOfNothing = [
        "/log/tile/0/000", "/log/tile/0/000.p/11", "/log/tile/1/000.p/1", "/log/tile/entries/001.p/1",
        "/log/tile/00/000.p/10", "/log/tile/0/0.p/10", "/log/tile/0/000.p/010", "/log/tile/0/x000/000.p/10",
        "/log/tile/0/000.p/10/", "/log/tile/0/000.p/10?a", "/log//tile/0/000.p/10", "/log/./checkpoint",
        "/log/%63heckpoint", "/log/checkpoint/", "/log/checkpoint?", "/log", "/log/", "/LOG/checkpoint",
        "/log/tile/64/000.p/1", "/log/tile/-1/000.p/1", "/log/tile/0/\(String(repeating: "x999/", count: 9))999",
        "/log/../records/directory.sqlite", "/", "/v1/lookup/", "//v1/lookup", "/health?x=1", "*",
    ]

    @Test(arguments: Route.allCases) func aMethodOtherThanTheRoutesIsNotAllowed(_ route: Route) async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            let connection = try await Connection.open(port: client.port, root: client.root)
            try await connection.send("DELETE \(route.path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
            let answer = await connection.readAnswer()
            await connection.close()
            #expect(answer?.status == 405)
            #expect(answer?.headers["allow"] == route.method)
        }
    }

    @Test func anAnswerToHEADHasNoBody() async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            let connection = try await Connection.open(port: client.port, root: client.root)
            try await connection.send(
                "HEAD /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let answer = String(decoding: await connection.readToEnd(), as: UTF8.self)
            #expect(answer.hasPrefix("HTTP/1.1 405 ") && answer.hasSuffix("\r\n\r\n"))
        }
    }

    @Test func severalRequestsShareAConnection() async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            let connection = try await Connection.open(port: client.port, root: client.root)
            let request = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try await connection.send(request + request)
            try await connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            let answers = String(decoding: await connection.readToEnd(), as: UTF8.self)
            #expect(answers.components(separatedBy: "HTTP/1.1 200 OK").count == 4)
        }
    }

    @Test func healthAndMetricsReportTheStateOfTheLog() async throws {
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.clock = ServerClock(time: { 130 }, uptime: { 0 })
            }
        ) { client in
            let health = try await client.get("/health")
            #expect(health?.text == "ok\n")
            #expect(health?.headers["date"] == "Thu, 01 Jan 1970 00:02:10 GMT")
            try await expectStatus(200, of: client.call(.lookup, anyLookup))
            let metrics = try await client.get("/metrics")
            #expect(metrics?.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let lines = Set(metrics?.text.split(separator: "\n").map(String.init) ?? [])
            for line in [
                "signet_log_entries 3", "signet_log_published_entries 2", "signet_log_checkpoint_age_seconds 30",
                "signet_log_alive 1", "signet_connections_open 1", "signet_connections_total 3",
                "# TYPE signet_requests_total counter", "# TYPE signet_request_seconds histogram",
                #"signet_requests_total{route="lookup",status="200"} 1"#,
                #"signet_request_seconds_bucket{route="lookup",le="+Inf"} 1"#,
                #"signet_request_seconds_count{route="lookup"} 1"#,
            ] { #expect(lines.contains(line), "\(line)") }
        }
    }

    @Test func aLogThatFailedStopsTheServer() async throws {
        await #expect(throws: ServerStop.logFailed) {
            try await withServer(answering: MadeUpDirectory(failure: .stopped)) { client in
                #expect(try await client.get("/health")?.status == 503)
                let answer = try await client.call(.lookup, anyLookup)
                #expect(answer == nil || answer?.status == 503)
                // A stopped server accepts no connection.
                while (try? await Connection.open(port: client.port, root: client.root)) != nil {}
                for await _ in AsyncStream<Void>.makeStream().stream {}
            }
        }
    }

    /// It has the files open, and nobody else has all of what is in them.
    @Test(.timeLimit(.minutes(2))) func aLogThatFailedWhileItsFilesAreAwayStopsTheServerWhenTheyAreBack() async throws {
        let directory = MadeUpDirectory(failure: .stopped, displaced: ["records/log/checkpoint.lock"])
        await #expect(throws: ServerStop.logFailed) {
            try await withServer(answering: directory) { client in
                let answer = try await client.call(.lookup, anyLookup)
                #expect(answer == nil || answer?.status == 503)
                // Until it has looked for them more than once.
                while directory.askedConditions < 3, (try? await client.get("/nothing"))?.status == 404 {
                    try await Task.sleep(for: .milliseconds(100))
                }
                let said = try await client.get("/ready")
                #expect(said?.text.contains("records/log/checkpoint.lock") == true)
                directory.putBack()
                while (try? await Connection.open(port: client.port, root: client.root)) != nil {}
                for await _ in AsyncStream<Void>.makeStream().stream {}
            }
        }
    }

    /// A request that waits for the log outlasts the drain: the server ends by what made it end, and not as if it had been told to.
    @Test(.timeLimit(.minutes(2))) func aLogThatFailedStopsTheServer_alsoWhereRequestsAreCutOff() async throws {
        let directory = MadeUpDirectory(isHolding: true, failure: .stopped)
        await #expect(throws: ServerStop.logFailed) {
            try await withServer(
                answering: directory,
                {
                    $0.limits.drain = .seconds(1)
                    $0.republishInterval = .seconds(1)
                }
            ) { client in
                _ = try? await client.call(.lookup, anyLookup)
                for await _ in AsyncStream<Void>.makeStream().stream {}
            }
        }
        #expect(directory.mostLookups == 1, "a request was in progress")
    }

    @Test func aDatabaseErrorIsAnswered503WithRetryAfter() async throws {
        try await withServer(answering: MadeUpDirectory(failure: .database)) { client in
            let answer = try await client.call(.lookup, anyLookup)
            #expect(answer?.status == 503)
            #expect(answer?.headers["retry-after"] == "1")
            #expect(answer?.text == #"{"error":"unavailable"}"#)
        }
    }
}
