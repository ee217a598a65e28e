// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import Crypto
import DeviceIdentity
import Foundation
import KeyPinning
import Logging
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import PinScenarios
import RelyingParty
import SiteServer
import Synchronization
import Testing

/// A client that holds sockets open, silent or slow, keeps no other client from signing in at a site.
@Suite struct SiteConnectionTests {
    /// Long enough that a busy machine closes none of the connections held open here.
    private static let unhurried = ConnectionProgress.Times(
        handshake: .seconds(600), firstHead: .seconds(600), idle: .seconds(600), body: .seconds(600),
        answer: .seconds(600))

    /// The deadlines are absolute: slow bytes would restart an idle timer for ever.
    @Test(.timeLimit(.minutes(1)), arguments: [false, true]) func aSlowConnectionIsClosed(isDripping: Bool) async throws
    {
        var limits = SiteLimits()
        limits.times = .init(
            handshake: .milliseconds(200), firstHead: .seconds(1), idle: .seconds(1), body: .seconds(1),
            answer: .seconds(600))
        try await ServedSite.with(limits) { site in
            // The beginning of a TLS record that takes many seconds to complete at this rate.
            let handshake = try await SiteSocket.open(site.port, isSecure: false, saying: [0x16, 3, 1, 0x20, 0])
            if isDripping { handshake.drip() }
            _ = await handshake.readToEnd()
            let whole = "POST \(SiteRoute.register.path) HTTP/1.1\r\nhost: a\r\ncontent-length: 162\r\n\r\n"
            for head in ["POST /", whole] {
                let socket = try await SiteSocket.open(site.port, saying: Array(head.utf8))
                if isDripping { socket.drip() }
                _ = await socket.readToEnd()
            }
        }
    }

    @Test func anAddressIsLimitedToItsShare_andAnotherSignsIn() async throws {
        var limits = SiteLimits()
        (limits.connections, limits.connectionsPerAddress, limits.times) = (16, 4, Self.unhurried)
        try await ServedSite.with(limits) { site in
            var idle: [SiteSocket] = []
            for _ in 0..<4 { idle.append(try await .held(by: site.port, from: "127.0.0.9")) }
            for _ in 0..<10 { #expect(try await site.answer(.challenge, from: "127.0.0.9").isEmpty) }
            try await site.expectSignIn(from: "127.0.0.1")
            for socket in idle { await socket.close() }
        }
    }

    @Test func connectionsOfAllAddressesAreLimited() async throws {
        var limits = SiteLimits()
        (limits.connections, limits.connectionsPerAddress, limits.times) = (3, 3, Self.unhurried)
        try await ServedSite.with(limits) { site in
            var idle: [SiteSocket] = []
            for host in 2...4 {
                idle.append(try await .held(by: site.port, from: "127.0.0.\(host)"))
            }
            #expect(try await site.answer(.challenge, from: "127.0.0.9").isEmpty)
            for socket in idle { await socket.close() }
        }
    }

    @Test func theRateOfNewConnectionsOfAnAddressIsLimited() async throws {
        let uptime = Mutex<UInt64>(1_000_000_000_000)
        var limits = SiteLimits()
        (limits.connectionsPerSecond, limits.connectionBurst, limits.times) = (1, 4, Self.unhurried)
        limits.uptime = { uptime.withLock { $0 } }
        try await ServedSite.with(limits) { site in
            try await site.expectSignIn(from: "127.0.0.9")
            #expect(try await site.answer(.challenge, from: "127.0.0.9").isEmpty)
            try await site.expectSignIn(from: "127.0.0.1")
            uptime.withLock { $0 += 1_000_000_000 }
            #expect(try await site.ask(.challenge, [], from: "127.0.0.9").count == 32)
        }
    }

    @Test func theConnectionLimitLeavesDescriptorsForFiles() {
        let limits = SiteLimits()
        #expect((16...1024).contains(limits.connections))
        #expect(limits.connectionsPerAddress * 4 <= limits.connections)
    }
}

/// A site with TLS on a loopback port.
private struct ServedSite {
    let port: Int
    private let host: VerifiedHost

    static func with(_ limits: SiteLimits, _ body: (ServedSite) async throws -> Void) async throws {
        let genuine = try #require(try PinScenario.all(at: Date()).first { $0.mustPass })
        let path = FileManager.default.temporaryDirectory.appending(component: "site-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let host = try VerifiedHost(Array("localhost".utf8), port: 8450, evidence: .ownName)
        var site = try HTTPSSite(
            at: host, members: SiteDatabase(path: path), recoveryDelay: 0,
            certificateChain: genuine.presented.flatMap { PEMBlock.text($0) }, privateKey: Array(genuine.keyPEM.utf8))
        site.limits = limits
        let (ports, report) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup { [site] group in
            group.addTask {
                defer { report.finish() }
                try await site.run(
                    host: "127.0.0.1", port: 0, logger: Logger(label: "site") { _ in SwiftLogNoOpLogHandler() }
                ) { report.yield($0) }
            }
            let port = try #require(await ports.first { _ in true })
            try await body(ServedSite(port: port, host: host))
            group.cancelAll()
            // A cancelled server may throw.
            while !group.isEmpty { _ = await group.nextResult() }
        }
    }

    /// Registers a member, who then signs in.
    func expectSignIn(from address: String) async throws {
        let (key, recovery) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let publicKey = Array(key.publicKey.compressedRepresentation)
        let sign: ([UInt8]) throws -> [UInt8] = { Array(try key.signature(for: $0).rawRepresentation) }
        let registration = try SiteRegistration(
            at: host, challenge: await ask(.challenge, [], from: address), publicKey: publicKey,
            recoveryKey: Array(recovery.publicKey.compressedRepresentation), signing: sign)
        let registered = try SiteAnswer(decoding: await ask(.register, registration.encoded, from: address))
        guard case .registered(let account) = registered else {
            Issue.record("not registered")
            return
        }
        let challenge = try await ask(.challenge, [], from: address)
        let signature = try SiteSignIn(at: host, challenge: challenge, publicKey: publicKey, signing: sign).signature
        let body = SignedChallenge(publicKey: publicKey, challenge: challenge, signature: signature).encoded
        let answer = try SiteAnswer(decoding: await ask(.signIn, body, from: address))
        #expect(answer == .signedIn(account: account, recoveryDue: nil))
    }

    /// The whole answer; empty if the connection is refused.
    func answer(_ route: SiteRoute, _ body: [UInt8] = [], from address: String) async throws -> [UInt8] {
        let head = "POST \(route.path) HTTP/1.1\r\nhost: localhost\r\ncontent-length: \(body.count)\r\n\r\n"
        return await (try SiteSocket.open(port, from: address, saying: Array(head.utf8) + body)).readToEnd()
    }

    /// The body of an answer.
    func ask(_ route: SiteRoute, _ body: [UInt8], from address: String) async throws -> [UInt8] {
        let answer = try await answer(route, body, from: address)
        let separator = Array("\r\n\r\n".utf8)
        let start = try #require(answer.firstRange(of: separator))
        return Array(answer[start.upperBound...])
    }
}

/// A connection as bytes, under TLS or bare.
private final class SiteSocket: Sendable {
    private let channel: any Channel
    private let received: AsyncStream<[UInt8]>
    private let secured: EventLoopFuture<Void>

    private init(_ channel: any Channel, _ received: AsyncStream<[UInt8]>, _ secured: EventLoopFuture<Void>) {
        self.channel = channel
        self.received = received
        self.secured = secured
    }

    static func open(
        _ port: Int, from host: String = "127.0.0.1", isSecure: Bool = true, saying bytes: [UInt8] = []
    ) async throws -> SiteSocket {
        let (received, report) = AsyncStream.makeStream(of: [UInt8].self)
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        let context = try NIOSSLContext(configuration: configuration)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let secured = loop.makePromise(of: Void.self)
        let connecting = try ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if isSecure {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: context, serverHostname: nil))
                    }
                    try channel.pipeline.syncOperations.addHandler(SiteReceiver(report, secured: secured))
                }
            }
            .bind(to: SocketAddress(ipAddress: host, port: 0))
            .connect(host: "127.0.0.1", port: port)
        connecting.whenFailure { secured.fail($0) }
        let channel = try await connecting.get()
        if !bytes.isEmpty { try? await channel.writeAndFlush(ByteBuffer(bytes: bytes)) }
        return SiteSocket(channel, received, secured.futureResult)
    }

    /// A silent connection that the site counts: its event loop has taken part in the handshake. Connecting alone says less, for connections are counted in the order in which the site's event loops reach them.
    static func held(by port: Int, from host: String) async throws -> SiteSocket {
        let socket = try await open(port, from: host)
        try await socket.secured.get()
        return socket
    }

    /// A byte every few milliseconds, until the connection is closed.
    func drip() {
        let channel = channel
        let task = channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(5)) { _ in
            channel.writeAndFlush(ByteBuffer(bytes: [UInt8(ascii: "O")]), promise: nil)
        }
        channel.closeFuture.whenComplete { _ in task.cancel() }
    }

    func readToEnd() async -> [UInt8] {
        var all: [UInt8] = []
        for await part in received { all += part }
        return all
    }

    func close() async { try? await channel.close() }
}

private final class SiteReceiver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let report: AsyncStream<[UInt8]>.Continuation
    private let secured: EventLoopPromise<Void>

    init(_ report: AsyncStream<[UInt8]>.Continuation, secured: EventLoopPromise<Void>) {
        self.report = report
        self.secured = secured
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { secured.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        report.yield(Array(unwrapInboundIn(data).readableBytesView))
    }

    func channelInactive(context: ChannelHandlerContext) {
        report.finish()
        secured.fail(ChannelError.eof)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
