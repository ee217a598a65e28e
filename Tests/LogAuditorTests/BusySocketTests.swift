// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import KeyTransparency
import NIOCore
import NIOPosix
import ProtocolTesting
import SignetClient
import Testing
import TransparencyLog

@testable import LogAuditor

/// Clients that hold sockets open, silent or sending a byte at a time, do not keep a cosigner from answering others.
@Suite struct BusySocketTests {
    let folder: TemporaryFolder
    let log: ForgedLog
    let source = ServedLog()

    init() throws {
        folder = try TemporaryFolder()
        log = try ForgedLog()
        try log.grow(epochs: 2, people: 3)
        try source.serve(log)
        _ = try AuditorKey.create(KeyName(Array("auditor.example/map".utf8)), at: folder.below("key"))
    }

    private func server(_ limits: CosignerLimits) async throws -> CosignerServer {
        let auditor = try Auditor(
            of: log.policy(), at: source, keeping: AuditFolder(path: folder.below("state")),
            clock: { ForgedLog.now })
        let cosigner = try AuditCosigner(
            auditor, of: log.policy(), key: AuditorKey(path: folder.below("key")), clock: { 1_800_000_000 })
        return try await CosignerServer(cosigner, host: "127.0.0.1", port: 0, limits: limits)
    }

    private func request() throws -> [UInt8] {
        let body = try AddCheckpointRequest(
            oldSize: 0, consistency: ConsistencyProof(hashes: []), note: log.checkpoint()
        ).encoded
        return Array(
            "POST /add-checkpoint HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: \(body.count)\r\n\r\n"
                .utf8)
            + body
    }

    /// A silent connection that the server counts, for it has answered on it. Connecting alone says less: connections are counted in the order in which the server's event loops reach them.
    private func held(by server: CosignerServer, from host: String = "127.0.0.1") async throws -> Socket {
        let socket = try await Socket.open(server.port, from: host, saying: "GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        #expect(await socket.readSome().starts(with: Array("HTTP/1.1 404 ".utf8)))
        return socket
    }

    /// A busy machine is silent for long: connections that a test holds open stay open.
    private static let unhurried = ConnectionProgress.Times(
        handshake: .seconds(600), firstHead: .seconds(600), idle: .seconds(600), body: .seconds(600),
        answer: .seconds(600))

    /// The limits are absolute: bytes that come one at a time would restart an idle timer for ever.
    @Test(.timeLimit(.minutes(1)), arguments: [false, true]) func aSlowRequestEndsTheConnection(
        isDripping: Bool
    ) async throws {
        var limits = CosignerLimits()
        limits.times = .init(
            handshake: .milliseconds(200), firstHead: .milliseconds(200), idle: .milliseconds(200),
            body: .milliseconds(200), answer: .seconds(600))
        let server = try await server(limits)
        for beginning in ["POST /add", "POST /add-checkpoint HTTP/1.1\r\nhost: a\r\ncontent-length: 90000\r\n\r\n"] {
            let socket = try await Socket.open(server.port, saying: beginning)
            if isDripping { socket.drip() }
            #expect(await socket.readToEnd().isEmpty)
        }
        await server.stop()
    }

    @Test func anAddressOverItsShareIsRefused_andAnotherIsAnswered() async throws {
        var limits = CosignerLimits()
        limits.connectionsPerAddress = 4
        limits.times = Self.unhurried
        let server = try await server(limits)
        var idle: [Socket] = []
        for _ in 0..<4 { idle.append(try await held(by: server)) }
        // The fifth of the same address gets no answer; another address is served.
        #expect(await (try Socket.open(server.port, from: "127.0.0.1", saying: request())).readToEnd().isEmpty)
        let honest = try await Socket.open(server.port, from: "127.0.0.2", saying: request())
        #expect(await honest.readToEnd().starts(with: Array("HTTP/1.1 200 OK\r\n".utf8)))
        for socket in idle { await socket.close() }
        await server.stop()
    }

    @Test func aConnectionOverTheLimitIsClosed_untilOneIsFree() async throws {
        var limits = CosignerLimits()
        limits.connections = 3
        limits.times = Self.unhurried
        let server = try await server(limits)
        var idle: [Socket] = []
        for host in 1...3 { idle.append(try await held(by: server, from: "127.0.0.\(host)")) }
        #expect(await (try Socket.open(server.port, from: "127.0.0.9", saying: request())).readToEnd().isEmpty)
        await idle[0].close()
        // The server counts a close when it sees it.
        var answer: [UInt8] = []
        for _ in 0..<1000 where answer.isEmpty {
            answer = await (try Socket.open(server.port, from: "127.0.0.9", saying: request())).readToEnd()
        }
        #expect(answer.starts(with: Array("HTTP/1.1 200 OK\r\n".utf8)))
        for socket in idle.dropFirst() { await socket.close() }
        await server.stop()
    }

    @Test func theLimitOfConnectionsLeavesRoomForTheCosignersFiles() {
        #expect((8...512).contains(CosignerLimits().connections))
        #expect(CosignerLimits().connectionsPerAddress < 512)
    }
}

/// A connection as bytes.
private final class Socket: Sendable {
    private let channel: any Channel
    private let received: AsyncStream<[UInt8]>

    private init(_ channel: any Channel, _ received: AsyncStream<[UInt8]>) {
        self.channel = channel
        self.received = received
    }

    static func open(_ port: Int, from host: String = "127.0.0.1", saying text: String) async throws -> Socket {
        try await open(port, from: host, saying: Array(text.utf8))
    }

    static func open(_ port: Int, from host: String, saying bytes: [UInt8]) async throws -> Socket {
        let (received, report) = AsyncStream.makeStream(of: [UInt8].self)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Receiver(report))
                }
            }
            .bind(to: SocketAddress(ipAddress: host, port: 0))
            .connect(host: "127.0.0.1", port: port).get()
        try? await channel.writeAndFlush(ByteBuffer(bytes: bytes))
        return Socket(channel, received)
    }

    /// A byte every few milliseconds, until the connection is closed.
    func drip() {
        let channel = channel
        let task = channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(5)) { _ in
            channel.writeAndFlush(ByteBuffer(bytes: [UInt8(ascii: "O")]), promise: nil)
        }
        channel.closeFuture.whenComplete { _ in task.cancel() }
    }

    func readSome() async -> [UInt8] { await received.first { _ in true } ?? [] }

    func readToEnd() async -> [UInt8] {
        var all: [UInt8] = []
        for await part in received { all += part }
        return all
    }

    func close() async { try? await channel.close() }
}

private final class Receiver: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private let report: AsyncStream<[UInt8]>.Continuation

    init(_ report: AsyncStream<[UInt8]>.Continuation) { self.report = report }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        report.yield(Array(unwrapInboundIn(data).readableBytesView))
    }

    func channelInactive(context: ChannelHandlerContext) { report.finish() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
