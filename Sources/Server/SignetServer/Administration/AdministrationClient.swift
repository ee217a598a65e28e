// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import KeyDirectory
import NIOCore
import NIOHTTP1
import NIOPosix
package import SignetAPI

/// Makes the operator's calls to a running server.
package struct AdministrationClient: Sendable {
    private let data: DataDirectory
    private let claim: String?
    private var path: String { data.administration }

    /// Calls the server that serves a data directory.
    ///
    /// - Parameter claim: for whom this process says that it acts; the server writes it down as what it is.
    package init(_ data: DataDirectory, claiming claim: String? = nil) {
        self.data = data
        self.claim = claim.flatMap(Administrator.plain)
    }

    /// Makes a call whose answer has a body.
    ///
    /// - Throws: ``AdministrationError``.
    package func call<Value: Decodable>(_ call: AdministrationCall) async throws(AdministrationError) -> Value {
        let response = try await send(call)
        let body = response.body.map { Data($0.readableBytesView) } ?? Data()
        guard response.head.status == .ok else {
            let code = (try? JSONDecoder().decode(ErrorBody.self, from: body))?.error
            throw code.map { .refused($0) } ?? .unreadable
        }
        do { return try JSONDecoder().decode(Value.self, from: body) } catch { throw .unreadable }
    }

    private func send(_ call: AdministrationCall) async throws(AdministrationError) -> NIOHTTPClientResponseFull {
        guard AdministrationSocket.isShortEnough(path) else { throw .pathTooLong }
        guard access(data.path, F_OK) == 0 || errno != ENOENT else { throw .noDirectory }
        let group = MultiThreadedEventLoopGroup.singleton
        let answer = group.any().makePromise(of: NIOHTTPClientResponseFull.self)
        let channel: any Channel
        do {
            channel = try await ClientBootstrap(group: group)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHTTPClientHandlers()
                        try channel.pipeline.syncOperations.addHandlers(
                            NIOHTTPClientResponseAggregator(maxContentLength: Self.maximumAnswerByteCount),
                            AnswerHandler(answer))
                    }
                }
                .connect(unixDomainSocketPath: path).get()
        } catch {
            answer.fail(error)
            throw AdministrationError(connecting: error)
        }
        defer { channel.close(promise: nil) }
        var headers: HTTPHeaders = ["Host": "signetd", "Content-Length": "0", "Connection": "close"]
        if let claim { headers.add(name: AdministrationCall.claimField, value: claim) }
        let head = HTTPRequestHead(
            version: .http1_1, method: .init(rawValue: call.method.rawValue), uri: call.path, headers: headers)
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
        do { return try await answer.futureResult.get() } catch { throw .unreadable }
    }

    /// A page of five hundred accounts with the longest handles is a quarter of it.
    private static let maximumAnswerByteCount = 1 << 20
}

/// Why a call of the operator's was not answered.
package enum AdministrationError: Error, Hashable, Sendable {
    /// There is no data directory.
    case noDirectory
    /// No server serves this data directory.
    case notRunning
    /// This user may not open the server's socket.
    case notAllowed
    /// The path of the data directory leaves no room for the address of a socket, so that a server there has none.
    case pathTooLong
    /// The server refuses it.
    case refused(ErrorCode)
    /// The answer is none, or the connection ended before it.
    case unreadable

    /// Why there is no connection to the socket.
    init(connecting error: any Error) {
        let code = (error as? IOError)?.errnoCode
        self = code == EACCES || code == EPERM ? .notAllowed : .notRunning
    }
}

/// Hands the one answer of a connection over.
private final class AnswerHandler: ChannelInboundHandler {
    typealias InboundIn = NIOHTTPClientResponseFull

    private let answer: EventLoopPromise<NIOHTTPClientResponseFull>

    init(_ answer: EventLoopPromise<NIOHTTPClientResponseFull>) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { answer.succeed(unwrapInboundIn(data)) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { answer.fail(ChannelError.eof) }
}
