// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// A connection: counted, with small heads, where each wait has a deadline that no byte postpones. Another user of the machine can connect too, and
/// must not be able to use up this process's files.
struct WebChannel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    /// A browser opens six; other programs may hold the rest until their time is over.
    static let maximumConnectionCount = 128

    private let http: HTTP1Channel
    private let ledger = ConnectionLedger(total: maximumConnectionCount, perAddress: maximumConnectionCount)
    /// An answer may need a key to be derived, and a directory that is slow.
    private let times = ConnectionProgress.Times(
        handshake: .seconds(10), firstHead: .seconds(10), idle: .seconds(30), body: .seconds(30), answer: .seconds(180))

    init(responder: @escaping HTTPChannelHandler.Responder) {
        http = HTTP1Channel(
            responder: responder,
            configuration: .init(
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 16_384, maxHeaderListSize: 16_384, maxHeaderFieldCount: 64)))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let address = ClientAddress(channel.remoteAddress)
        guard ledger.open(address) == nil else {
            return channel.close(mode: .all).flatMapThrowing { throw TooManyConnections() }
        }
        channel.closeFuture.whenComplete { [ledger] _ in ledger.close(address) }
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(SocketHandler())
        }.flatMap { http.setup(channel: channel, logger: logger) }.flatMapThrowing { value in
            try channel.pipeline.syncOperations.addDeadlines(times)
            return value
        }
    }

    func handle(value: Value, logger: Logger) async { await http.handle(value: value, logger: logger) }
}
