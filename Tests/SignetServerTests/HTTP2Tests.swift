// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import NIOCore
import NIOEmbedded
import SignetAPI
import Synchronization
import Testing

@testable import SignetServer

/// HTTP/2 on a real socket under real TLS: what a client may take of the server, each limit alone, with frames written by hand.
@Suite(.serialized, .timeLimit(.minutes(3))) struct HTTP2Tests {
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
        // No deadline ends the connection.
        try await withServer(answering: MadeUpDirectory(), { $0.limits.firstHead = .seconds(3600) }) { client in
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

    @Test func aClientThatClosesItsSideIsDisconnected() async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.idle = .seconds(5) }) { client in
            let connection = try await HTTP2Client(client)
            try await connection.ask("GET", "/health", on: 1)
            #expect(await connection.answer(on: 1) == "ok\n")
            try await connection.finishSending()
            while await connection.read() != nil {}
            let refusals = try await client.refusals()
            #expect(refusals == [:])
        }
    }

    // MARK: A server that stops

    /// Tells a server to stop while a client is connected.
    ///
    /// - Throws: `CancellationError` if the server had to cut the client off after ten seconds.
    private func stopping(
        _ directory: MadeUpDirectory = MadeUpDirectory(),
        _ change: (inout HTTPSServer.Configuration) -> Void = { $0.limits.drain = .seconds(10) },
        _ connect: @Sendable (TestClient) async throws -> Void, then finish: @Sendable () async throws -> Void
    ) async throws {
        let authority = try DevelopmentAuthority(hosts: [.name("localhost")], at: TestPerson.now)
        let server = try server(answering: directory, as: authority, change)
        let (ports, report) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run(stoppingOnSignals: false) { report.yield($0) } }
        for await port in ports {
            try await connect(TestClient(port: port, root: authority.root))
            break
        }
        running.cancel()
        try await finish()
        try await running.value
    }

    @Test(arguments: [false, true])
    func anIdleConnectionEndsWithTheServer_thoughTheClientAnswersNothing(hasAsked: Bool) async throws {
        let opened = Mutex<HTTP2Client?>(nil)
        try await stopping { client in
            let connection = try await HTTP2Client(client)
            if hasAsked {
                try await connection.ask("GET", "/health", on: 1)
                #expect(await connection.answer(on: 1) == "ok\n")
            } else {
                _ = await connection.read(.settings)
            }
            opened.withLock { $0 = connection }
        } then: {
            let connection = try #require(opened.withLock { $0 })
            #expect(await connection.read(.goAway)?.payload == [0, 0, 0, hasAsked ? 1 : 0, 0, 0, 0, 0])
            while await connection.read() != nil {}
        }
    }

    @Test func aRequestThatHasBegunIsAnsweredByAServerThatStops_andALaterOneIsNot() async throws {
        let opened = Mutex<HTTP2Client?>(nil)
        try await stopping { client in
            let connection = try await HTTP2Client(client)
            try await connection.ask("POST", Route.lookup.path, on: 1, body: Array(anyLookup.prefix(5)), isWhole: false)
            // The server has the head once it has answered what came after it.
            try await connection.ask("GET", "/health", on: 3)
            #expect(await connection.answer(on: 3) == "ok\n")
            opened.withLock { $0 = connection }
        } then: {
            let connection = try #require(opened.withLock { $0 })
            #expect(await connection.read(.goAway)?.payload == [0, 0, 0, 3, 0, 0, 0, 0])
            try await connection.ask("GET", "/health", on: 5)
            try await connection.send(
                Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: Array(anyLookup.dropFirst(5))))
            #expect(await connection.answer(on: 1) == "found")
            while let frame = await connection.read() { #expect(frame.stream != 5) }
        }
    }

    @Test func aConnectionWithoutAHandshakeEndsWithTheServer() async throws {
        let opened = Mutex<Connection?>(nil)
        try await stopping(MadeUpDirectory()) {
            // Nothing else ends it.
            $0.limits.drain = .seconds(3600)
            $0.limits.handshake = .seconds(3600)
        } _: { client in
            let connection = try await Connection.open(port: client.port, root: nil)
            // Connections are accepted in the order in which they come.
            let health = try await client.get(Route.health.path)
            #expect(health?.status == 200)
            opened.withLock { $0 = connection }
        } then: {
            #expect(await opened.withLock { $0 }?.readToEnd().isEmpty == true)
        }
    }

    @Test func aStreamThatNobodyTakesIsClosed() async throws {
        let channel = NIOAsyncTestingChannel()
        try await channel.testingEventLoop.executeInContext {
            _ = RequestStream(try .init(wrappingChannelSynchronously: channel))
        }
        try await channel.closeFuture.get()
    }

    // MARK: What a client may take

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

    @Test func moreRequestsAtOnceThanTheServerTakesAreRefused_thoughTheClientAcknowledgesNothing() async throws {
        try await withServer(answering: MadeUpDirectory(isHolding: true), { $0.limits.drain = .seconds(1) }) { client in
            let connection = try await HTTP2Client(client)
            for index: UInt32 in 0...32 {
                try await connection.ask("POST", Route.lookup.path, on: 2 * index + 1, body: anyLookup)
            }
            let refusedStream: UInt8 = 7
            let reset = await connection.read(.reset)
            #expect(reset?.stream == 65)
            #expect(reset?.payload == [0, 0, 0, refusedStream])
            await connection.close()
        }
    }

    @Test func aClientThatBreaksTheLimitItHasAcknowledgedIsDisconnected() async throws {
        try await withServer(
            answering: MadeUpDirectory(isHolding: true),
            {
                // A stream whose answer is overdue would make room.
                $0.limits.answer = .seconds(60)
                $0.limits.drain = .seconds(1)
            }
        ) { client in
            let connection = try await HTTP2Client(client)
            try await connection.acknowledgeSettings()
            for index: UInt32 in 0..<32 {
                try await connection.ask("POST", Route.lookup.path, on: 2 * index + 1, body: anyLookup)
            }
            // The server may be gone before all of it is sent.
            try? await connection.ask("POST", Route.lookup.path, on: 65, body: anyLookup)
            #expect(await connection.read(.goAway) != nil)
            while await connection.read() != nil {}
        }
    }

    @Test func aClientMayResetEachStreamWhoseAnswerItHas() async throws {
        try await withServer(answering: MadeUpDirectory()) { client in
            let connection = try await HTTP2Client(client)
            for index: UInt32 in 0..<250 {
                try await connection.ask("GET", "/health", on: 2 * index + 1)
                #expect(await connection.answer(on: 2 * index + 1) == "ok\n")
                try await connection.send(Frame(kind: .reset, stream: 2 * index + 1, payload: [0, 0, 0, 5]))
            }
            await connection.close()
        }
    }

    @Test func requestsThatAreTakenBackAreNotWorkedOnBeyondTheLimit() async throws {
        let directory = MadeUpDirectory(isHolding: true)
        try await withServer(answering: directory, { $0.limits.drain = .seconds(1) }) { client in
            let connection = try await HTTP2Client(client)
            for index: UInt32 in 0..<100 {
                try await connection.ask("POST", Route.lookup.path, on: 2 * index + 1, body: anyLookup)
                try await connection.send(Frame(kind: .reset, stream: 2 * index + 1, payload: [0, 0, 0, 8]))
            }
            try await connection.send(Frame(kind: .ping, payload: [UInt8](repeating: 1, count: 8)))
            #expect(await connection.read(.ping) != nil)
            await connection.close()
        }
        #expect(directory.mostLookups == 32)
    }

    @Test func aHeaderListOverTheLimitThatTheClientHasAcknowledgedEndsTheConnection() async throws {
        try await withServer(
            answering: MadeUpDirectory(),
            {
                $0.limits.headerByteCount = 1000
                $0.limits.idle = .seconds(5)
            }
        ) { client in
            let connection = try await HTTP2Client(client)
            try await connection.acknowledgeSettings()
            try await connection.ask("GET", "/health", on: 1, fields: [("x", String(repeating: "a", count: 1000))])
            #expect(await connection.read(.goAway) != nil)
            while await connection.read() != nil {}
        }
    }

    @Test(arguments: [
        [("x", String(repeating: "a", count: 1000))], [(String, String)](repeating: ("a", "b"), count: 65),
    ])
    func headersOverTheLimitAreRefused_thoughTheClientAcknowledgesNothing(_ fields: [(String, String)]) async throws {
        try await withServer(answering: MadeUpDirectory(), { $0.limits.headerByteCount = 1000 }) { client in
            let connection = try await HTTP2Client(client)
            try await connection.ask("GET", "/health", on: 1, fields: fields)
            let badRequest: UInt8 = 0x8C
            #expect(await connection.read(.headers, on: 1)?.payload.first == badRequest)
            try await connection.ask("GET", "/health", on: 3)
            #expect(await connection.answer(on: 3) == "ok\n")
            await connection.close()
        }
    }

    /// A thousand frames, and what has to come before them.
    private static func flood(of kind: String) -> [Frame] {
        let head = HTTP2Client.fields([
            (":method", "POST"), (":scheme", "https"), (":path", Route.lookup.path), (":authority", "localhost"),
        ])
        let asked = Frame(kind: .headers, flags: Frame.endHeaders, stream: 1, payload: head)
        let many = 0..<UInt32(1000)
        return switch kind {
        case "reset":
            many.flatMap { index in
                [
                    Frame(
                        kind: .headers, flags: Frame.endHeaders | Frame.endStream, stream: 2 * index + 1, payload: head),
                    Frame(kind: .reset, stream: 2 * index + 1, payload: [0, 0, 0, 8]),
                ]
            }
        case "ping": many.map { _ in Frame(kind: .ping, payload: [UInt8](repeating: 0, count: 8)) }
        case "settings": many.map { _ in Frame(kind: .settings) }
        case "priority": many.map { _ in Frame(kind: .priority, stream: 1, payload: [0, 0, 0, 0, 1]) }
        case "data": [asked] + many.map { _ in Frame(kind: .data, stream: 1) }
        default:
            [Frame(kind: .headers, stream: 1, payload: head)]
                + many.map { _ in Frame(kind: .continuation, stream: 1, payload: HTTP2Client.fields([("a", "b")])) }
        }
    }

    @Test(arguments: ["reset", "ping", "settings", "priority", "data", "continuation"])
    func aFloodEndsTheConnection(of kind: String) async throws {
        try await withServer(answering: MadeUpDirectory(isHolding: true), { $0.limits.drain = .seconds(1) }) { client in
            let connection = try await HTTP2Client(client)
            // The server stops reading at some point, so that what is sent may fail.
            try? await connection.send(Self.flood(of: kind))
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
