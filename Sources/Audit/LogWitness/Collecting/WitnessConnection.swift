// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// The way to one witness. A connection is kept open between requests; sending one twice does no harm.
final class WitnessConnection: Sendable {
    private let address: WitnessAddress
    private let tls: NIOSSLContext?
    private let idleChannel = Mutex<(any Channel)?>(nil)

    /// - Parameter tls: what an https address needs; unused for one by http.
    init(to address: WitnessAddress, tls: NIOSSLContext?) {
        self.address = address
        self.tls = tls
    }

    deinit { close() }

    /// Sends a request and waits for the whole answer, but no longer than until `deadline`.
    func send(_ body: [UInt8], until deadline: NIODeadline) async throws(WitnessFailure) -> Post.Answer {
        if let channel = takeIdleChannel() {
            let post = post(body)
            // A channel that has closed meanwhile has no handler left to answer.
            channel.writeAndFlush(post).whenFailure { _ in post.promise.fail(WitnessFailure.closedEarly) }
            do { return try await answer(to: post, on: channel, until: deadline) } catch  where error == .closedEarly {
                // The witness had ended the kept connection: a new one decides.
            }
        }
        let post = post(body)
        return try await answer(to: post, on: connect(for: post, until: deadline), until: deadline)
    }

    /// Closes the kept connection.
    func close() { idleChannel.withLock { $0.take() }?.close(promise: nil) }

    private func post(_ body: [UInt8]) -> Post {
        Post(to: address, body: body, promise: MultiThreadedEventLoopGroup.singleton.next().makePromise())
    }

    private func answer(
        to post: Post, on channel: any Channel, until deadline: NIODeadline
    ) async throws(WitnessFailure) -> Post.Answer {
        let timer = channel.eventLoop.scheduleTask(deadline: deadline) {
            post.promise.fail(WitnessFailure.timedOut)
            channel.close(promise: nil)
        }
        defer { timer.cancel() }
        do {
            let answer = try await post.promise.futureResult.get()
            if answer.isReusable { keep(channel) } else { channel.close(promise: nil) }
            return answer
        } catch {
            channel.close(promise: nil)
            throw WitnessFailure(error)
        }
    }

    /// A new connection that sends the request as soon as it stands.
    private func connect(for post: Post, until deadline: NIODeadline) async throws(WitnessFailure) -> any Channel {
        let (address, secured) = (address, address.isSecure ? tls : nil)
        guard secured != nil || !address.isSecure else {
            post.promise.fail(WitnessFailure.notSecured)
            throw .notSecured
        }
        do {
            return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(max(.milliseconds(1), deadline - .now()))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if let secured {
                            try pipeline.addHandler(
                                NIOSSLClientHandler(context: secured, serverHostname: Self.name(address.host)))
                        }
                        try pipeline.addHTTPClientHandlers()
                        try pipeline.addHandler(PostHandler(first: post))
                    }
                }
                .connect(host: address.host, port: address.port).get()
        } catch {
            post.promise.fail(WitnessFailure(error))
            throw WitnessFailure(error)
        }
    }

    /// For an IP address, NIOSSL compares the certificate with the peer's address instead of a name.
    private static func name(_ host: String) -> String? {
        (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil
    }

    private func takeIdleChannel() -> (any Channel)? {
        let channel = idleChannel.withLock { $0.take() }
        return channel?.isActive == true ? channel : nil
    }

    private func keep(_ channel: any Channel) {
        let surplus = idleChannel.withLock { idle in
            defer { idle = channel }
            return idle
        }
        surplus?.close(promise: nil)
    }
}
