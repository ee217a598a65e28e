// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import SignetAPI
import SignetServer
import Synchronization
import Testing

/// HTTP/2 on a real socket under real TLS: what a client may take of the server, each limit alone, with frames written by hand.
@Suite(.serialized) struct HTTP2Tests {
    private typealias Frame = HTTP2Client.Frame

    @Test func requestsOfOneConnectionAreAnsweredOnTheirStreams() async throws {
        try await withServer(answering: MadeUpDirectory(isReady: true)) { client in
            let connection = try await HTTP2Client(client)
            try await connection.ask("GET", "/health", on: 1)
            #expect(await connection.answer(on: 1) == "ok\n")
            try await connection.ask("POST", Route.lookup.path, on: 3, body: anyLookup)
            #expect(await connection.answer(on: 3) == "ready\n")
            try await connection.ask("POST", Route.lookup.path, on: 5, body: Array("nothing".utf8))
            #expect(await connection.answer(on: 5) == "{\"error\":\"bad_request\"}")
            await connection.close()
        }
    }

    @Test func aClientThatOffersBothIsAnsweredInHTTP2_andOneThatOffersNoneInHTTP1() async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            let both = try await Connection.open(
                port: client.port, root: client.root, greeting: Array("GET /health HTTP/1.1\r\n\r\n".utf8),
                offering: ["http/1.1", "h2"])
            // The server's SETTINGS come first, and the request of the other version ends the connection.
            #expect(await both.readToEnd().dropFirst(3).first == Frame.Kind.settings.rawValue)
            let one = try await client.get(Route.health.path)
            #expect(one?.text == "ok\n")
        }
    }

    @Test func aConnectionWithoutARequestIsClosed() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.firstHead = .seconds(1) }) { client in
            let connection = try await HTTP2Client(client)
            while await connection.read() != nil {}
            let refusals = try await client.refusals()
            #expect(refusals == ["head_time": 1])
        }
    }

    @Test func headersThatDoNotEndEndTheConnection() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.firstHead = .seconds(1) }) { client in
            let connection = try await HTTP2Client(client)
            try await connection.send(
                Frame(kind: .headers, stream: 1, payload: HTTP2Client.fields([(":method", "GET")])))
            while await connection.read() != nil {}
            let refusals = try await client.refusals()
            #expect(refusals == ["head_time": 1])
        }
    }

    @Test func anIdleConnectionIsClosed_thoughTheClientAnswersNothing() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.idle = .seconds(1) }) { client in
            let connection = try await HTTP2Client(client)
            try await connection.ask("GET", "/health", on: 1)
            #expect(await connection.answer(on: 1) == "ok\n")
            while await connection.read() != nil {}
            let refusals = try await client.refusals()
            #expect(refusals == ["idle_time": 1])
        }
    }

    @Test func aServerThatStopsDoesNotWaitForAClientThatAnswersNothing() async throws {
        let connection = Mutex<HTTP2Client?>(nil)
        try await withServer(answering: MadeUpDirectory(), { $0.limits.drain = .seconds(1) }) { client in
            let opened = try await HTTP2Client(client)
            try await opened.ask("GET", "/health", on: 1)
            #expect(await opened.answer(on: 1) == "ok\n")
            connection.withLock { $0 = opened }
        }
        let opened = try #require(connection.withLock { $0 })
        #expect(await opened.read(.goAway) != nil)
        while await opened.read() != nil {}
    }

    @Test func aBodyThatDoesNotEndEndsTheConnection() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.body = .seconds(1) }) { client in
            let connection = try await HTTP2Client(client)
            try await connection.ask("POST", Route.lookup.path, on: 1, body: Array("abc".utf8), isWhole: false)
            while await connection.read() != nil {}
            let refusals = try await client.refusals()
            #expect(refusals == ["body_time": 1])
        }
    }

    @Test func anAnswerThatIsNotTakenEndsTheConnection() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.answer = .seconds(1) }) { client in
            let initialWindowSize: UInt16 = 4
            let connection = try await HTTP2Client(client, settings: [(initialWindowSize, 0)])
            try await connection.ask("GET", "/health", on: 1)
            #expect(await connection.read(.data) == nil)
            let refusals = try await client.refusals()
            #expect(refusals == ["answer_time": 1])
        }
    }

    @Test func aRequestWithoutAnAnswerInTimeEndsTheConnection() async throws {
        try await withServer(
            answering: MadeUpDirectory(isHolding: true),
            {
                $0.limits.answer = .seconds(1)
                $0.limits.drain = .seconds(1)
            }
        ) { client in
            let connection = try await HTTP2Client(client)
            try await connection.ask("POST", Route.lookup.path, on: 1, body: anyLookup)
            #expect(await connection.answer(on: 1) == nil)
            let refusals = try await client.refusals()
            #expect(refusals == ["answer_time": 1])
        }
    }

    @Test func aBodyOneByteOverTheLimitIsRefused_andOtherStreamsGoOn() async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            let connection = try await HTTP2Client(client)
            try await connection.ask(
                "POST", Route.lookup.path, on: 1, fields: [("content-length", "65537")],
                body: [UInt8](repeating: 0x61, count: 2000), isWhole: false)
            #expect(await connection.answer(on: 1) == "{\"error\":\"too_large\"}")
            try await connection.ask("GET", "/health", on: 3)
            #expect(await connection.answer(on: 3) == "ok\n")
            await connection.close()
            let refusals = try await client.refusals()
            #expect(refusals == ["body_size": 1])
        }
    }

    @Test func anAddressOverItsRateIsRefusedOnEveryStream() async throws {
        try await withServer(
            answering: MadeUpDirectory(isReady: true),
            {
                $0.limits.addressRate = RequestRate(perSecond: 1, burst: 2)
                $0.clock = ServerClock(time: { TestPerson.now }, uptime: { 1_000_000_000_000 })
            }
        ) { client in
            let connection = try await HTTP2Client(client)
            var answers: [String?] = []
            for stream: UInt32 in [1, 3, 5] {
                try await connection.ask("POST", Route.lookup.path, on: stream, body: anyLookup)
                answers.append(await connection.answer(on: stream))
            }
            #expect(answers == ["ready\n", "ready\n", "{\"error\":\"too_many_requests\"}"])
            await connection.close()
        }
    }

    @Test func moreRequestsAtOnceThanTheServerTakesAreRefused() async throws {
        try await withServer(answering: MadeUpDirectory(isHolding: true), { $0.limits.drain = .seconds(1) }) { client in
            let connection = try await HTTP2Client(client)
            try await connection.acknowledgeSettings()
            for index: UInt32 in 0...32 {
                try await connection.ask("POST", Route.lookup.path, on: 2 * index + 1, body: anyLookup)
            }
            let refusedStream: UInt32 = 7
            let reset = await connection.read(.reset)
            #expect(reset?.stream == 65)
            #expect(reset?.payload == [0, 0, 0, UInt8(refusedStream)])
            await connection.close()
        }
    }

    @Test func aHeaderListOverTheLimitIsRefused() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.headerByteCount = 1000 }) { client in
            let connection = try await HTTP2Client(client)
            try await connection.acknowledgeSettings()
            try await connection.ask("GET", "/health", on: 1, fields: [("x", String(repeating: "a", count: 1000))])
            #expect(await connection.answer(on: 1) == nil)
            await connection.close()
        }
    }

    @Test(arguments: ["reset", "ping", "settings", "continuation"])
    func aFloodEndsTheConnection(of kind: String) async throws {
        try await withServer(answering: MadeUpDirectory(isHolding: true), { $0.limits.drain = .seconds(1) }) { client in
            let connection = try await HTTP2Client(client)
            // The server stops reading at some point, so that what is sent may fail.
            for index: UInt32 in 0..<1000 {
                let stream = 2 * index + 1
                switch kind {
                case "reset":
                    try? await connection.ask("POST", Route.lookup.path, on: stream, body: anyLookup)
                    try? await connection.send(Frame(kind: .reset, stream: stream, payload: [0, 0, 0, 8]))
                case "ping": try? await connection.send(Frame(kind: .ping, payload: [UInt8](repeating: 0, count: 8)))
                case "settings": try? await connection.send(Frame(kind: .settings))
                default:
                    if index == 0 {
                        try await connection.send(
                            Frame(kind: .headers, stream: 1, payload: HTTP2Client.fields([(":method", "GET")])))
                    }
                    try? await connection.send(
                        Frame(kind: .continuation, stream: 1, payload: HTTP2Client.fields([("a", "b")])))
                }
            }
            while await connection.read() != nil {}
            let health = try await client.get(Route.health.path)
            #expect(health?.status == 200)
        }
    }

    @Test func signalsAreNotCarriedByAStream() async throws {
        try await withServer { client, _ in
            let connection = try await HTTP2Client(client)
            try await connection.ask("GET", RelayAddress.path, on: 1)
            #expect(await connection.answer(on: 1) == "{\"error\":\"not_found\"}")
            await connection.close()
        }
    }
}
