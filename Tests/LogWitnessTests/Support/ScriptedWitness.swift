// SPDX-License-Identifier: Apache-2.0

import LogWitness
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization
import TransparencyLog

/// An HTTP server that answers requests to cosign as a script says.
final class ScriptedWitness: Sendable {
    enum Step: Sendable {
        case answer(Int, [UInt8])
        /// Answers, and closes the connection afterwards.
        case answerAndClose(Int, [UInt8])
        /// Closes the connection without an answer.
        case hangUp
        /// Does not answer, and keeps the connection open.
        case keepSilent
    }

    typealias Script = @Sendable (_ body: [UInt8]) -> Step

    private let channel: any Channel
    private let counts: Counts
    let url: [UInt8]
    var requestCount: Int { counts.requests.withLock { $0 } }
    var connectionCount: Int { counts.connections.withLock { $0 } }

    private final class Counts: Sendable {
        let requests = Mutex(0)
        let connections = Mutex(0)
    }

    init(_ script: @escaping Script) async throws {
        let counts = Counts()
        self.counts = counts
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                counts.connections.withLock { $0 += 1 }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        ScriptHandler { body in
                            counts.requests.withLock { $0 += 1 }
                            return script(body)
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        url = Array("http://127.0.0.1:\(channel.localAddress?.port ?? 0)/any/prefix/".utf8)
    }

    func close() async { try? await channel.close() }

    /// Cosigns everything, at the present time.
    static func obliging(_ signer: NoteSigner, at time: UInt64 = currentTime()) -> Script {
        { body in
            guard let request = try? AddCheckpointRequest(decoding: body),
                let line = try? signer.cosign(request.note.text, time: time)
            else { return .answer(400, []) }
            return .answer(200, line.encoded)
        }
    }
}

private final class ScriptHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let script: ScriptedWitness.Script
    private var body: [UInt8] = []
    private var path = ""

    init(_ script: @escaping ScriptedWitness.Script) { self.script = script }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            path = head.uri
            body = []
        case .body(let bytes): body += bytes.readableBytesView
        case .end: play(path == "/any/prefix/add-checkpoint" ? script(body) : .answer(404, []), context)
        }
    }

    private func play(_ step: ScriptedWitness.Step, _ context: ChannelHandlerContext) {
        switch step {
        case .answer(let status, let body): answer(status, body, context, isLast: false)
        case .answerAndClose(let status, let body): answer(status, body, context, isLast: true)
        case .hangUp: context.close(promise: nil)
        case .keepSilent: break
        }
    }

    private func answer(_ status: Int, _ body: [UInt8], _ context: ChannelHandlerContext, isLast: Bool) {
        var headers = HTTPHeaders([("content-length", "\(body.count)")])
        if isLast { headers.add(name: "connection", value: "close") }
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            if isLast { bound.value.close(promise: nil) }
        }
    }
}
