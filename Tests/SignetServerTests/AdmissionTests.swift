// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyDirectory
import KeyTransparency
import SignetAPI
import Synchronization
import Testing

@testable import SignetServer

/// A part that takes long bodies from devices of accounts.
private struct Shelf: PartAnswering {
    enum Routes: PartRoute {
        case put

        var path: String { "/v1/shelf" }
        var access: PartAccess { .signed }
        var cost: UInt64 { 1 }
        var maximumRequestByteCount: Int { 1 << 20 }
        var maximumAnswerByteCount: Int { 16 }
    }

    var routes: [any PartRoute] { Routes.allCases }
    func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8] { Array("\(request.body.count)".utf8) }
    func close() async {}
}

/// What is refused before a body has arrived, and what a body or a request costs. Only heads are sent where the answer
/// must not wait for the body: a server that reads first would end those connections without an answer.
@Suite(.serialized, .timeLimit(.minutes(3))) struct AdmissionTests {
    /// The head of a request with a body of so many bytes.
    private func head(_ count: Int, _ signature: String? = nil, _ field: String? = nil) -> String {
        let signed = signature.map { "\(RequestSignature.headerName): \($0)\r\n" } ?? ""
        return "POST \(Shelf.Routes.put.path) HTTP/1.1\r\nHost: localhost\r\n\(signed)"
            + "\(field ?? "Content-Length: \(count)")\r\n\r\n"
    }

    private func signature(
        _ person: TestPerson, _ body: [UInt8], _ client: TestClient, time: UInt64 = TestPerson.now
    ) throws -> String {
        let content = RequestSignature.Content(Shelf.Routes.put, origin: client.origin, body: body)
        let signature = try RequestSignature(
            content, deviceKey: person.keys.signing, time: time, nonce: TestPerson.random(16)
        ) { try Array(person.signing.signature(for: $0)) }
        return String(decoding: signature.headerValue, as: UTF8.self)
    }

    private func withShelf(
        _ change: @escaping (inout ServerLimits) -> Void = { _ in },
        _ body: @escaping @Sendable (TestClient, TestPerson) async throws -> Void
    ) async throws {
        try await withServer(
            and: [Shelf()],
            {
                // On a busy machine a request takes long to arrive; the limits of time are not tested here.
                ($0.limits.idle, $0.limits.firstHead, $0.limits.body) = (.seconds(600), .seconds(600), .seconds(600))
                change(&$0.limits)
            }
        ) { client, _ in
            let alice = try TestPerson("alice@example.org")
            try await expectStatus(200, of: alice.register(client))
            try await body(client, alice)
        }
    }

    private func answer(toHead head: String, _ client: TestClient) async throws -> HTTPAnswer? {
        let connection = try await Connection.open(port: client.port, root: client.root, greeting: Array(head.utf8))
        let answer = await connection.readAnswer()
        await connection.close()
        return answer
    }

    @Test(arguments: [nil, "v1 nonsense"]) func aRequestWithoutASignatureIsRefusedBeforeItsBodyArrives(
        _ signature: String?
    ) async throws {
        try await withShelf { client, _ in
            let answer = try await answer(toHead: head(1 << 20, signature), client)
            #expect(answer?.status == 401)
            #expect(answer?.text == "{\"error\":\"not_signed\"}")
        }
    }

    @Test func aRequestOfAnotherTimeIsRefusedBeforeItsBodyArrives() async throws {
        try await withShelf { client, alice in
            let signature = try signature(alice, [], client, time: TestPerson.now - 1000)
            let answer = try await answer(toHead: head(10, signature), client)
            #expect(answer?.text == "{\"error\":\"wrong_time\"}")
        }
    }

    @Test func aLongRequestOfAnUnknownDeviceIsRefusedBeforeItsBodyArrives() async throws {
        try await withShelf { client, _ in
            let stranger = try TestPerson("mallory@example.org")
            let answer = try await answer(toHead: head(1 << 20, try signature(stranger, [], client)), client)
            #expect(answer?.text == "{\"error\":\"not_your_account\"}")
        }
    }

    /// The first body is announced and does not come; only the room for it is taken.
    @Test(arguments: ["all", "address"]) func longBodiesShareALimitOfBytes_andShortBodiesHaveNone(
        _ limit: String
    ) async throws {
        try await withShelf({ limits in
            if limit == "all" { limits.bodiesInFlight = 300_000 } else { limits.bodiesInFlightPerAddress = 300_000 }
        }) { client, alice in
            let body = [UInt8](repeating: 7, count: 200_000)
            let first = try await Connection.open(
                port: client.port, root: client.root,
                greeting: Array(head(200_000, try signature(alice, body, client)).utf8))
            var tries = 500
            while try await client.refusals()["bodies_in_flight"] == nil {
                tries -= 1
                try #require(tries > 0, "the room of the first body was never taken")
                let second = try await alice.call(Shelf.Routes.put, body, client)
                #expect(second?.status == 503 || second?.text == "200000")
            }
            #expect(try await alice.call(Shelf.Routes.put, [1, 2, 3], client)?.text == "3")
            try await expectStatus(200, of: try TestPerson("bob@example.org").register(client))
            try await first.send(body)
            #expect(await first.readAnswer()?.text == "200000")
            #expect(try await alice.call(Shelf.Routes.put, body, client)?.text == "200000")
            await first.close()
        }
    }

    @Test func aRequestRefusedForItsRateTakesNoNonce() async throws {
        let uptime = Mutex<UInt64>(1_000_000_000_000)
        let clock = ServerClock(time: { TestPerson.now }, uptime: { uptime.withLock { $0 } })
        try await withServer({
            $0.limits.accountRate = RequestRate(perSecond: 1, burst: 1)
            $0.clock = clock
        }) { client, _ in
            let alice = try TestPerson("alice@example.org")
            try await expectStatus(200, of: alice.register(client))
            try await expectStatus(200, of: alice.call(.listFriends, [], client))
            let signature = try alice.signature(.listFriends, [], client)
            try await expectStatus(429, of: client.call(.listFriends, [], signature: signature))
            uptime.withLock { $0 += 1_000_000_000 }
            try await expectStatus(200, of: client.call(.listFriends, [], signature: signature))
        }
    }

    @Test func anECallLookupCostsAsMuchAsTheDevicesItMayName() async throws {
        try await withServer(
            answering: MadeUpDirectory(), { $0.limits.addressRate = RequestRate(perSecond: 1, burst: 40) }
        ) { client in
            let names = (1...64).map { "\"p\($0)@example.org\"" }.joined(separator: ",")
            let statuses = [
                try await client.json(.eCallKeys, "{\"targets\":[\(names)]}")?.status,
                try await client.json(.eCallKeys, "{\"targets\":[\(names)]}")?.status,
                try await client.json(.eCallKeys, "{\"targets\":[\(names)]}")?.status,
                try await client.json(.eCallKeys, "{\"targets\":[\"p1@example.org\"]}")?.status,
            ]
            #expect(statuses == [200, 200, 429, 200])
        }
    }

    /// The attack: a client registers as many accounts as it can, which all stay for good, from as many addresses as
    /// its network has.
    @Test func registrationsOfANetworkAreLimited_andAnotherNetworkDoesNotWait() async throws {
        let uptime = Mutex<UInt64>(1_000_000_000_000)
        let clock = ServerClock(time: { TestPerson.now }, uptime: { uptime.withLock { $0 } })
        try await withServer({
            $0.limits.registrations = LoginLimits.Rate(burst: 2, secondsPerAttempt: 10)
            $0.clock = clock
        }) { client, _ in
            var (greedy, honest) = (client, client)
            (greedy.source, honest.source) = ("127.0.7.1", "127.0.8.1")
            let first = try TestPerson("p1@example.org")
            try await expectStatus(200, of: first.register(greedy))
            // A refused registration stores nothing, and does not count.
            for _ in 0..<3 { try await expectStatus(409, of: TestPerson("p1@example.org").register(greedy)) }
            greedy.source = "127.0.7.2"
            try await expectStatus(200, of: TestPerson("p2@example.org").register(greedy))
            greedy.source = "127.0.7.3"
            let refused = try await TestPerson("p3@example.org").register(greedy)
            #expect(refused?.status == 429)
            #expect(refused?.headers["retry-after"] == "10")
            try await expectStatus(200, of: TestPerson("alice@example.org").register(honest))
            try await expectStatus(200, of: first.call(.listFriends, [], greedy))
            uptime.withLock { $0 += 10_000_000_000 }
            try await expectStatus(200, of: TestPerson("p3@example.org").register(greedy))
            #expect(try await client.refusals() == ["registrations": 1])
        }
    }

    @Test func newConnectionsOfAnAddressAreLimited() async throws {
        let uptime = Mutex<UInt64>(1_000_000_000_000)
        let clock = ServerClock(time: { TestPerson.now }, uptime: { uptime.withLock { $0 } })
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.limits.connectionRate = RequestRate(perSecond: 1, burst: 2)
                $0.clock = clock
            }
        ) { client in
            for _ in 0..<2 { try await expectStatus(200, of: client.get("/health")) }
            let third = try await Connection.open(port: client.port, root: nil)
            #expect(await third.readToEnd().isEmpty)
            uptime.withLock { $0 += 2_000_000_000 }
            #expect(try await client.refusals() == ["connection_rate": 1])
        }
    }
}
