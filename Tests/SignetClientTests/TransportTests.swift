// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import NIOCore
import NIOPosix
import PinnedHTTP
import SignetAPI
import SignetClient
import Testing

@Suite struct TransportTests {
    private static let quick = ConnectionDeadlines(
        connect: .seconds(20), handshake: .seconds(60), idle: .milliseconds(200), response: .milliseconds(600))
    private static let hasty = ConnectionDeadlines(
        connect: .seconds(20), handshake: .milliseconds(200), idle: .seconds(20), response: .seconds(20))
    private static let patient = ConnectionDeadlines(
        connect: .seconds(5), handshake: .seconds(20), idle: .seconds(20), response: .seconds(20))

    private static func get(_ mediaType: String? = nil, limit: Int = 100) -> TransportRequest {
        TransportRequest(
            method: "GET", path: "/x", limit: ResponseLimit(maximumByteCount: limit, mediaType: mediaType))
    }

    /// A client's result from a server that sends exactly these bytes.
    private func answer(
        _ bytes: String, then ending: RawServer.Ending = .silence, limit: Int = 100, mediaType: String? = nil,
        deadlines: ConnectionDeadlines = patient
    ) async throws -> Result<TransportResponse, TransportError> {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let server = try await RawServer(authority, answering: bytes, then: ending)
            let transport = try NIOTransport(to: authority.profile(port: server.port), deadlines: deadlines)
            let result = await Self.result(transport, Self.get(mediaType, limit: limit))
            await server.stop()
            return result
        }
    }

    private static func result(
        _ transport: NIOTransport, _ request: TransportRequest
    ) async -> Result<TransportResponse, TransportError> {
        do { return .success(try await transport.send(request)) } catch { return .failure(error) }
    }

    @Test func aCompleteAnswerArrives() async throws {
        let result = try await answer(
            "HTTP/1.1 200 OK\r\nContent-Type: Text/Plain; charset=utf-8\r\nContent-Length: 5\r\n\r\nhello",
            mediaType: "text/plain")
        #expect(
            result
                == .success(
                    TransportResponse(status: 200, mediaType: "text/plain", body: Array("hello".utf8))))
    }

    @Test func aRefusalArrivesWithItsRetryTime() async throws {
        let result = try await answer(
            "HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 2\r\n\r\n{}",
            mediaType: "application/json")
        #expect(
            result
                == .success(
                    TransportResponse(status: 429, mediaType: nil, retryAfter: 7, body: Array("{}".utf8))))
    }

    @Test func anAnnouncedLengthBeyondTheLimitIsRefusedBeforeTheBody() async throws {
        let result = try await answer("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n")
        #expect(result == .failure(.tooLong(limit: 100)))
    }

    @Test func chunksBeyondTheLimitAreRefused() async throws {
        let chunk = "33\r\n" + String(repeating: "x", count: 51) + "\r\n"
        let result = try await answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk)
        #expect(result == .failure(.tooLong(limit: 100)))
    }

    @Test func theBodyOfARefusalHasItsOwnLimit() async throws {
        let result = try await answer("HTTP/1.1 500 No\r\nContent-Length: 4097\r\n\r\n", limit: 1_000_000)
        #expect(result == .failure(.tooLong(limit: 4096)))
    }

    @Test func anotherMediaTypeIsRefused() async throws {
        let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"
        #expect(try await answer(page, mediaType: "application/json") == .failure(.unexpectedMediaType))
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\nContent-Le",
        "",
    ])
    func aTruncatedAnswerIsRefused(_ bytes: String) async throws {
        #expect(try await answer(bytes, then: .close) == .failure(.closedEarly))
    }

    @Test(arguments: [
        "\u{16}\u{3}\u{1}garbage\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/9.9 2000 OK\r\n\r\n",
    ])
    func garbageIsRefused(_ bytes: String) async throws {
        #expect(try await answer(bytes) == .failure(.malformedResponse))
    }

    @Test func aSilentServerTimesOut() async throws {
        #expect(try await answer("", deadlines: Self.quick) == .failure(.timedOut(.reading)))
    }

    @Test func aVerySlowAnswerTimesOut() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n"
        #expect(try await answer(head, then: .drip, deadlines: Self.quick) == .failure(.timedOut(.reading)))
    }

    /// One of the two deadlines passes before any answer can come.
    @Test(arguments: [(Duration.zero, Duration.seconds(20)), (.seconds(20), .zero)])
    func aRequestThatTheServerMayKeepIsWaitedForThatMuchLonger(idle: Duration, response: Duration) async throws {
        let none = ConnectionDeadlines(
            connect: .seconds(5), handshake: .seconds(20), idle: idle, response: response)
        let bytes = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let server = try await RawServer(authority, answering: bytes)
            let transport = try NIOTransport(to: authority.profile(port: server.port), deadlines: none)
            #expect(await Self.result(transport, Self.get()) == .failure(.timedOut(.reading)))
            let kept = TransportRequest(
                method: "GET", path: "/x", limit: ResponseLimit(maximumByteCount: 100, mediaType: nil),
                longestWait: .seconds(20))
            #expect(try await transport.send(kept).status == 200)
            await server.stop()
        }
    }

    @Test(arguments: [
        (429, "Content-Length: 5000\r\n\r\n"), (502, "Content-Length: 4097\r\nRetry-After: 7\r\n\r\n"),
        (503, "Transfer-Encoding: chunked\r\n\r\n1389\r\n" + String(repeating: "x", count: 5001)),
        (504, "Content-Length: 5000\r\n\r\n" + String(repeating: "x", count: 5000)),
    ])
    func theLongPageOfAProxyThatReachesNoServerIsDropped(status: Int, rest: String) async throws {
        let response = try await answer("HTTP/1.1 \(status) No\r\n" + rest).get()
        #expect(
            response
                == TransportResponse(
                    status: status, mediaType: nil, retryAfter: status == 502 ? 7 : nil, body: []))
    }

    // MARK: Which servers the client accepts

    /// Why a chain was refused; nil if something else happened.
    private static func reason(
        _ result: Result<TransportResponse, TransportError>
    ) -> ChainRefusal.Reason? {
        if case .failure(.refused(let refusal)) = result { refusal.reason } else { nil }
    }

    @Test func aServerOfAnotherAuthorityIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let (ours, theirs) = (try await TestAuthority(in: folder), try await TestAuthority(in: folder))
            #expect(Self.reason(try await answer(of: theirs, to: ours)) == .untrusted)
        }
    }

    @Test func anExpiredCertificateIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let old = try await TestAuthority(in: folder, now: Date(timeIntervalSince1970: 1_500_000_000))
            #expect(Self.reason(try await answer(of: old, to: old)) == .path(.expired(depth: 0)))
        }
    }

    @Test func aCertificateOfAnotherNameIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder, hosts: ["elsewhere.example"])
            #expect(Self.reason(try await answer(of: authority, to: authority)) == .path(.otherName))
        }
    }

    @Test func anAddressIsComparedWithTheAddressesOfTheCertificate() async throws {
        try await withTemporaryFolder { folder in
            let named = try await TestAuthority(in: folder, hosts: ["localhost"])
            let addressed = try await TestAuthority(in: folder, hosts: ["127.0.0.1"])
            #expect(Self.reason(try await answer(of: named, to: named, host: "127.0.0.1")) == .path(.otherName))
            #expect(
                try await answer(of: addressed, to: addressed, host: "127.0.0.1")
                    == .success(TransportResponse(status: 200, mediaType: nil, body: [])))
        }
    }

    private func answer(
        of server: TestAuthority, to client: TestAuthority, host: String = "localhost"
    ) async throws -> Result<TransportResponse, TransportError> {
        let raw = try await RawServer(server, answering: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let transport = try NIOTransport(
            to: client.profile(host: host, port: raw.port), deadlines: Self.patient)
        let result = await Self.result(transport, Self.get())
        await raw.stop()
        return result
    }

    /// So does a server that has as many connections as it takes.
    @Test(arguments: [true, false])
    func aConnectionThatIsClosedBeforeTLSIsNotTakenForAnotherProtocol(_ isClosedAtOnce: Bool) async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { child in
                    if isClosedAtOnce { return child.close() }
                    return child.eventLoop.makeCompletedFuture {
                        try child.pipeline.syncOperations.addHandler(ClosingHandler())
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let profile = authority.profile(port: server.localAddress?.port ?? 0)
            let transport = try NIOTransport(to: profile, deadlines: Self.patient)
            #expect(await Self.result(transport, Self.get()) == .failure(.closedInHandshake))
            try await server.close()
        }
    }

    @Test func aServerWithoutTLSIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .childChannelInitializer { child in
                    child.eventLoop.makeCompletedFuture {
                        try child.pipeline.syncOperations.addHandler(PlainGreetingHandler())
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            let profile = authority.profile(port: server.localAddress?.port ?? 0)
            let transport = try NIOTransport(to: profile, deadlines: Self.patient)
            #expect(await Self.result(transport, Self.get()) == .failure(.handshakeFailed))
            try await server.close()
        }
    }

    @Test func aServerThatSendsNoHandshakeTimesOut() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let server = try await RawServer(nil, answering: "")
            let transport = try NIOTransport(to: authority.profile(port: server.port), deadlines: Self.hasty)
            #expect(await Self.result(transport, Self.get()) == .failure(.timedOut(.handshake)))
            await server.stop()
        }
    }

    @Test func aPortWithoutAListenerIsUnreachable() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let server = try await RawServer(authority, answering: "")
            await server.stop()
            let transport = try NIOTransport(
                to: authority.profile(port: server.port), deadlines: Self.patient)
            #expect(await Self.result(transport, Self.get()) == .failure(.unreachable))
        }
    }

    @Test func aNameThatDoesNotExistIsNotFound() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let transport = try NIOTransport(
                to: authority.profile(host: "no-such-host.invalid", port: 1), deadlines: Self.patient)
            #expect(await Self.result(transport, Self.get()) == .failure(.nameNotFound))
        }
    }

    // MARK: Connections

    @Test func readsShareAConnectionAndWritesDoNot() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let server = try await RawServer(
                authority, answering: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let transport = try NIOTransport(
                to: authority.profile(port: server.port), deadlines: Self.patient)
            for _ in 0..<3 { _ = try await transport.send(Self.get()) }
            #expect(server.connectionCount == 1)
            let write = TransportRequest(
                method: "POST", path: Route.register.path,
                limit: ResponseLimit(maximumByteCount: 1, mediaType: nil))
            _ = try await transport.send(write)
            #expect(server.connectionCount == 2)
            await server.stop()
        }
    }

    @Test func aKeptConnectionThatTheServerEndedIsReplaced() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let server = try await RawServer(
                authority, answering: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", then: .close)
            let transport = try NIOTransport(
                to: authority.profile(port: server.port), deadlines: Self.patient)
            for _ in 0..<3 { #expect(try await transport.send(Self.get()).status == 200) }
            await server.stop()
        }
    }

    // MARK: Addresses

    @Test func validAddressesAreRead() throws {
        let table: [(String, String, Int)] = [
            ("https://example.org", "example.org", 443), ("https://localhost:8443", "localhost", 8443),
            ("https://127.0.0.1:1", "127.0.0.1", 1), ("https://[::1]:65535", "::1", 65_535),
        ]
        for (text, host, port) in table {
            let address = try ServerAddress(text)
            #expect(address.host == host)
            #expect(address.port == port)
        }
    }

    @Test(arguments: [
        "http://example.org", "https://", "https://example.org/", "https://example.org/path", "https://a@b",
        "https://example.org:", "https://example.org:0", "https://example.org:65536",
        "https://example.org:080",
        "https://[::1", "https://[localhost]", "https://exa mple.org", "https://example.org?x",
        "HTTPS://example.org",
    ])
    func otherAddressesAreRefused(_ text: String) {
        #expect(throws: TransportError.invalidAddress) { try ServerAddress(text) }
    }

    @Test func aTransportWithoutUsablePinsIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let profile = try await TestAuthority(in: folder).profile
            func transport(_ pins: [Pin]) throws -> NIOTransport {
                try NIOTransport(
                    to: DirectoryProfile(url: profile.url, tlsRoot: profile.tlsRoot, pins: pins, trust: profile.trust))
            }
            #expect(throws: TransportError.noPins) { try transport([]) }
            #expect(throws: TransportError.invalidPins(.tooFewPins(1))) { try transport([profile.pins[0]]) }
            #expect(throws: Never.self) { try transport(profile.pins) }
        }
    }

    @Test func aChainOfTheRootWithoutAPinnedKeyIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let server = try await RawServer(authority, answering: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            let profile = authority.profile(port: server.port)
            let others = [Pin(SPKIPin(hashing: [1])), Pin(SPKIPin(hashing: [2]), isBackup: true)]
            let transport = try NIOTransport(
                to: DirectoryProfile(url: profile.url, tlsRoot: profile.tlsRoot, pins: others, trust: profile.trust),
                deadlines: Self.patient)
            #expect(Self.reason(await Self.result(transport, Self.get())) == .noPinMatched)
            await server.stop()
        }
    }

    @Test func aRootThatIsNoCertificateIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await TestAuthority(in: folder)
            let profile = DirectoryProfile(
                url: "https://localhost", tlsRoot: [1, 2, 3], pins: authority.profile.pins,
                trust: authority.profile.trust)
            #expect(throws: TransportError.invalidRoot) { try NIOTransport(to: profile) }
        }
    }
}

/// Sends HTTP without TLS as soon as a client connects.
private final class PlainGreetingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(NIOAny(ByteBuffer(string: "HTTP/1.1 400 Bad Request\r\n\r\n")), promise: nil)
    }
}

/// Ends the connection when the first bytes come.
private final class ClosingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.close(promise: nil) }
}
