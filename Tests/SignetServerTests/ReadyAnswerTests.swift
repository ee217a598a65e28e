// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import KeyDirectory
import NIOCore
import NIOEmbedded
import NIOHTTP1
import SignetAPI
import Testing

@testable import SignetServer

/// Answers from memory on the connection's own thread: which requests get one, and which are passed on whole.
@Suite struct ReadyAnswerTests {
    private let lookup = HTTPRequestHead(version: .http1_1, method: .POST, uri: Route.lookup.path)
    private let checkpoint = HTTPRequestHead(version: .http1_1, method: .GET, uri: "\(Route.logPrefix)/checkpoint")
    private let friends = HTTPRequestHead(version: .http1_1, method: .POST, uri: Route.listFriends.path)

    /// A connection, and the requests sent through it.
    private struct Asked {
        let channel: EmbeddedChannel
        let metrics: ServerMetrics

        init(_ directory: MadeUpDirectory = MadeUpDirectory(isReady: true), burst: UInt32 = 0) throws {
            var configuration = HTTPSServer.Configuration()
            configuration.limits.addressRate = RequestRate(perSecond: burst == 0 ? 0 : 1, burst: burst)
            configuration.clock = ServerClock(time: { 1000 }, uptime: { 5_000_000_000 })
            metrics = ServerMetrics()
            let exchange = HTTPExchange(
                answering: directory, PartTable([]), signals: nil, configuration: configuration, metrics: metrics,
                reporting: LogWatch(directory) {})
            channel = EmbeddedChannel(
                handler: ReadyAnswerHandler(ReadyAnswers(exchange), for: ConnectionClient(ClientAddress(nil))))
        }

        func ask(_ head: HTTPRequestHead, _ bodies: [UInt8]...) throws {
            try channel.writeInbound(HTTPServerRequestPart.head(head))
            for body in bodies { try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(bytes: body))) }
            try channel.writeInbound(HTTPServerRequestPart.end(nil))
        }

        /// What was written: the status and the body of each answer.
        func answers() throws -> [String] {
            var (answers, body) = ([String](), [UInt8]())
            while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
                switch part {
                case .head(let head): answers.append("\(head.status.code)")
                case .body(.byteBuffer(let bytes)): body += bytes.readableBytesView
                case .body: break
                case .end:
                    answers[answers.count - 1] += " " + String(decoding: body, as: UTF8.self)
                    body = []
                }
            }
            return answers
        }

        /// The parts that were passed on: method and path, length of a body, or end.
        func passedOn() throws -> [String] {
            var parts: [String] = []
            while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
                switch part {
                case .head(let head): parts.append("\(head.method) \(head.uri)")
                case .body(let bytes): parts.append("\(bytes.readableBytes)")
                case .end: parts.append("end")
                }
            }
            return parts
        }

        func count(_ line: String) -> Bool {
            let log = LogCondition(isAlive: true, size: 0, publishedSize: 0, checkpointTime: 0)
            return String(decoding: metrics.text(log, at: 0), as: UTF8.self).contains(line + "\n")
        }
    }

    @Test func answersInMemoryNeedNoTask() throws {
        let asked = try Asked()
        try asked.ask(lookup, anyLookup)
        try asked.ask(checkpoint)
        #expect(try asked.answers() == ["200 ready\n", "200 ready\n"])
        #expect(try asked.passedOn().isEmpty)
        #expect(asked.count(#"signet_requests_total{route="lookup",status="200"} 1"#))
        #expect(asked.count(#"signet_requests_total{route="checkpoint",status="200"} 1"#))
    }

    @Test func aWholeAnswerHasTheBytesThatTheEncoderWrites() throws {
        let date = "Thu, 01 Jan 1970 00:16:40 GMT"
        let note = Array("note\n".utf8)
        for answer in [.native([1, 2, 3]), .checkpoint(note), .tile([]), Answer.tooManyRequests(after: 5_000_000_000)] {
            let channel = EmbeddedChannel(handler: HTTPResponseEncoder())
            let body = IOData.byteBuffer(ByteBuffer(bytes: answer.body))
            for part in [.head(answer.head(at: date)), .body(body), HTTPServerResponsePart.end(nil)] {
                try channel.writeOutbound(part)
            }
            var expected: [UInt8] = []
            while let bytes = try channel.readOutbound(as: ByteBuffer.self) { expected += bytes.readableBytesView }
            let encoded = answer.encoded(at: date, by: channel.allocator)
            #expect(Array(encoded.readableBytesView) == expected)
        }
    }

    @Test func aRequestWithoutAnAnswerInMemoryIsPassedOnWhole() throws {
        let asked = try Asked(MadeUpDirectory())
        try asked.ask(lookup, anyLookup)
        #expect(try asked.passedOn() == ["POST /v1/lookup", "\(anyLookup.count)", "end"])
        #expect(try asked.answers().isEmpty)
        #expect(asked.count(#"signet_requests_total{route="lookup",status="200"} 0"#))
    }

    @Test func aMalformedLookupIsPassedOnWhole() throws {
        let asked = try Asked()
        try asked.ask(lookup, [1, 2, 3])
        #expect(try asked.passedOn() == ["POST /v1/lookup", "3", "end"])
    }

    @Test func answersKeepTheOrderOfTheirRequests() throws {
        let asked = try Asked()
        try asked.ask(friends)
        try asked.ask(checkpoint)
        #expect(try asked.answers().isEmpty)
        #expect(try asked.passedOn() == ["POST \(friends.uri)", "end", "GET \(checkpoint.uri)", "end"])
        for _ in 0..<2 {
            try asked.ask(checkpoint)
            #expect(try asked.passedOn().count == 2)
            try answerFromATask(asked)
            #expect(try asked.answers() == ["204 "])
        }
        for _ in 0..<2 { try answerFromATask(asked) }
        #expect(try asked.answers() == ["204 ", "204 "])
        try asked.ask(checkpoint)
        #expect(try asked.answers() == ["200 ready\n"])
    }

    private func answerFromATask(_ asked: Asked) throws {
        try asked.channel.writeOutbound(
            HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .noContent)))
        try asked.channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }

    @Test func noAnswerFromMemoryIsWrittenToAnUnwritableConnection() throws {
        let asked = try Asked()
        asked.channel.isWritable = false
        try asked.ask(checkpoint)
        #expect(try asked.answers().isEmpty)
        #expect(try asked.passedOn() == ["GET \(checkpoint.uri)", "end"])
    }

    @Test func aLongBodyIsPassedOnWhole() throws {
        let asked = try Asked()
        try asked.ask(lookup, [UInt8](repeating: 1, count: 1000), [UInt8](repeating: 2, count: 25), [3])
        #expect(try asked.passedOn() == ["POST /v1/lookup", "1000", "25", "1", "end"])
        #expect(try asked.answers().isEmpty)
    }

    @Test(arguments: [("Connection", "close"), ("Expect", "100-continue")])
    func aRequestWithAConnectionOrExpectFieldIsPassedOn(_ field: (name: String, value: String)) throws {
        let asked = try Asked()
        var head = checkpoint
        head.headers.add(name: field.name, value: field.value)
        try asked.ask(head)
        #expect(try asked.passedOn() == ["GET \(checkpoint.uri)", "end"])
    }

    @Test func aRequestOfHTTP1_0IsPassedOn() throws {
        let asked = try Asked()
        var head = checkpoint
        head.version = .http1_0
        head.headers.add(name: "Connection", value: "keep-alive")
        try asked.ask(head)
        #expect(try asked.passedOn() == ["GET \(checkpoint.uri)", "end"])
    }

    @Test func anAnswerFromMemoryCountsForTheRateOfTheAddress() throws {
        let asked = try Asked(burst: 1)
        try asked.ask(checkpoint)
        try asked.ask(checkpoint)
        #expect(try asked.answers() == ["200 ready\n", #"429 {"error":"too_many_requests"}"#])
        #expect(asked.count(#"signet_refusals_total{limit="address_rate"} 1"#))
    }

    /// The task that answers the request takes the token.
    @Test func aRequestThatIsPassedOnTakesNoTokenHere() throws {
        let asked = try Asked(burst: 1)
        try asked.ask(lookup, [1, 2, 3])
        #expect(try asked.passedOn().count == 3)
        try answerFromATask(asked)
        try asked.ask(checkpoint)
        #expect(try asked.answers() == ["204 ", "200 ready\n"])
    }

    @Test func aRefusalByTheDirectoryIsAnswered() throws {
        let asked = try Asked(MadeUpDirectory(failure: .refused(.unavailable), isReady: true))
        try asked.ask(lookup, anyLookup)
        #expect(try asked.answers() == [#"503 {"error":"unavailable"}"#])
    }

    /// A stopping server waits for requests that have begun, so the handlers that delay its end have to see them.
    @Test func aRequestInProgressIsPassedOnWhenTheServerStops() throws {
        let asked = try Asked()
        try asked.channel.writeInbound(HTTPServerRequestPart.head(lookup))
        try asked.channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(bytes: anyLookup.prefix(4))))
        #expect(try asked.passedOn().isEmpty)
        asked.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        #expect(try asked.passedOn() == ["POST /v1/lookup", "4"])
        try asked.channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(bytes: anyLookup.dropFirst(4))))
        try asked.channel.writeInbound(HTTPServerRequestPart.end(nil))
        #expect(try asked.passedOn() == ["\(anyLookup.count - 4)", "end"])
    }

    /// Over real TLS: a client cannot tell an answer from memory from an answer of a task.
    @Test func answersFromMemoryAndFromATaskHaveTheSameHeaders() async throws {
        let (heads, report) = AsyncStream.makeStream(of: [String: String].self)
        for isReady in [false, true] {
            try await withServer(answering: MadeUpDirectory(isReady: isReady)) { client in
                let answer = try await client.call(.lookup, anyLookup)
                #expect(answer?.text == (isReady ? "ready\n" : "found"))
                var head = answer?.headers ?? [:]
                head["date"] = head["date"].map { _ in "" }
                head["content-length"] = head["content-length"].map { _ in "" }
                report.yield(head)
            }
        }
        var iterator = heads.makeAsyncIterator()
        let (waiting, ready) = (await iterator.next(), await iterator.next())
        #expect(waiting == ready && waiting?.count == 5)
    }

    @Test(.timeLimit(.minutes(1))) func aLogThatFailedStopsTheServer_forAnswersFromMemoryToo() async throws {
        let authority = try DevelopmentAuthority(hosts: [.name("localhost")], at: TestPerson.now)
        let server = try server(answering: MadeUpDirectory(failure: .stopped, isReady: true), as: authority)
        let (ports, report) = AsyncStream.makeStream(of: Int.self)
        async let asked: Int? = {
            for await port in ports {
                return try await TestClient(port: port, root: authority.root).call(.lookup, anyLookup)?.status
            }
            return nil
        }()
        await #expect(throws: ServerStop.logFailed) {
            try await server.run(stoppingOnSignals: false) { report.yield($0) }
        }
        let status = try await asked
        #expect(status == nil || status == 503)
    }
}
