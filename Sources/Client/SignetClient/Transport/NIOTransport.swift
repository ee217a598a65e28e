public import KeyPinning
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import PinnedChains
public import SignetAPI

/// HTTPS to one server through a ``PinnedConnector``: HTTP/2 where the server speaks it, HTTP/1.1 otherwise, and every wait
/// has an end.
///
/// Connections are kept between requests that may safely be sent twice: one of HTTP/2, which carries many at a time, or a
/// few of HTTP/1.1.
public final class NIOTransport: DirectoryTransport {
    /// How long each wait may last.
    public struct Deadlines: Sendable {
        /// For TCP.
        public let connect: Duration
        /// For TLS.
        public let handshake: Duration
        /// Between two pieces of the answer, and before the first.
        public let idle: Duration
        /// For the whole answer.
        public let response: Duration

        /// Deadlines.
        public init(connect: Duration, handshake: Duration, idle: Duration, response: Duration) {
            self.connect = connect
            self.handshake = handshake
            self.idle = idle
            self.response = response
        }

        /// 10 s to connect, 10 s to shake hands, 20 s of silence, 60 s in all.
        public static let standard = Deadlines(
            connect: .seconds(10), handshake: .seconds(10), idle: .seconds(20), response: .seconds(60))
    }

    private let address: DirectoryAddress
    private let deadlines: Deadlines
    private let way: Way
    private let pool = ConnectionPool()

    /// A transport to a server.
    public init(
        to address: DirectoryAddress, through connector: PinnedConnector, deadlines: Deadlines = .standard
    ) {
        self.address = address
        way = .pinned(connector)
        self.deadlines = deadlines
    }

    /// A transport to the directory of a profile: only its root certificate is trusted, and one of its pins must be on
    /// the server's path.
    ///
    /// - Throws: ``TransportError/invalidAddress``, ``TransportError/invalidRoot``, ``TransportError/noPins``,
    ///   ``TransportError/invalidPins(_:)``.
    public convenience init(
        to profile: DirectoryProfile, deadlines: Deadlines = .standard
    ) throws(TransportError) {
        self.init(
            to: try DirectoryAddress(profile.url), through: try profile.connector(), deadlines: deadlines)
    }

    /// How connections are opened.
    private enum Way {
        case pinned(PinnedConnector)
        case plain
    }

    /// A transport over plain HTTP.
    ///
    /// Security: for nothing but files that prove themselves, such as those of a log: whoever is on the way can keep them
    /// back, and read them.
    public init(overPlainHTTPTo address: DirectoryAddress, deadlines: Deadlines = .standard) {
        self.address = address
        way = .plain
        self.deadlines = deadlines
    }

    /// Sends a request and waits for the whole answer, over a kept connection if that is harmless.
    ///
    /// - Throws: ``TransportError``.
    public func send(_ request: DirectoryRequest) async throws(TransportError) -> DirectoryResponse {
        let kept = request.mayRepeat ? pool.take() : nil
        let eventLoop = kept?.channel.eventLoop ?? MultiThreadedEventLoopGroup.singleton.next()
        return try await withTaskExecutorPreference(EventLoopExecutor(eventLoop)) { () async throws(TransportError) in
            try await exchange(request, kept, eventLoop)
        }
    }

    private func exchange(
        _ request: DirectoryRequest, _ kept: HTTPConnection?, _ eventLoop: any EventLoop
    ) async throws(TransportError) -> DirectoryResponse {
        if let kept {
            do { return try await answer(to: request, over: kept) } catch  where error == .closedEarly {
                // The server had ended the kept connection: a new one decides.
            }
        }
        return try await answer(to: request, over: try await connect(on: eventLoop))
    }

    private func connect(on eventLoop: any EventLoop) async throws(TransportError) -> HTTPConnection {
        let deadlines = deadlines
        switch way {
        case .pinned(let connector):
            return try await connector.open(address, for: .requests, on: eventLoop, deadlines) { channel, negotiated in
                try HTTPConnection(channel, negotiated, deadlines)
            }
        case .plain:
            do {
                let channel = try await ClientBootstrap(group: eventLoop)
                    .connectTimeout(TimeAmount(deadlines.connect))
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .connect(host: address.host, port: address.port).get()
                return try await channel.eventLoop.submit { try HTTPConnection(channel, nil, deadlines) }.get()
            } catch { throw TransportError(error) }
        }
    }

    private func answer(
        to request: DirectoryRequest, over connection: HTTPConnection
    ) async throws(TransportError) -> DirectoryResponse {
        do {
            let channel = try await connection.exchangeChannel()
            let exchange = Exchange(
                request, authority: address.authority, promise: channel.eventLoop.makePromise())
            // A channel that has closed meanwhile has no handler left to answer.
            channel.writeAndFlush(exchange).whenFailure { _ in exchange.promise.fail(TransportError.closedEarly) }
            let answer = try await withTaskCancellationHandler {
                try await exchange.promise.futureResult.get()
            } onCancel: {
                channel.close(promise: nil)
            }
            if connection.isShared || answer.isReusable { pool.keep(connection) } else { connection.close() }
            return answer.response
        } catch {
            let error = TransportError(error)
            // What is wrong with one answer ends its stream, and not those of others.
            if !(connection.isShared && error.concernsOneAnswer) { connection.close() }
            throw error
        }
    }
}

extension DirectoryRequest {
    /// Whether sending it twice is the same as once: reads, and the lookup.
    var mayRepeat: Bool { method == "GET" || path == Route.lookup.path }
}

extension DirectoryProfile {
    /// What connects to the directory: only its root certificate is trusted, and one of its pins must be on the path.
    ///
    /// - Parameters:
    ///   - surroundings: whose clock decides whether a certificate is expired.
    ///   - onViolation: gets a report for every trusted chain in which no key is pinned. Must not wait.
    /// - Throws: ``TransportError/invalidAddress``, ``TransportError/invalidRoot``, ``TransportError/noPins``,
    ///   ``TransportError/invalidPins(_:)``.
    public func connector(
        in surroundings: Surroundings = .system, onViolation: (@Sendable (ViolationReport) -> Void)? = nil
    ) throws(TransportError) -> PinnedConnector {
        let anchors: TrustAnchors
        do { anchors = try TrustAnchors([tlsRoot]) } catch { throw .invalidRoot }
        return try PinnedConnector(
            ChainVerifier(policy: try pinPolicy, anchors: anchors), clock: surroundings.now, onViolation: onViolation)
    }

    /// The policy that the profile's pins make: one host, enforced.
    ///
    /// - Throws: ``TransportError/invalidAddress``, ``TransportError/noPins``, ``TransportError/invalidPins(_:)``.
    public var pinPolicy: PinPolicy {
        get throws(TransportError) {
            guard !pins.isEmpty else { throw .noPins }
            let address = try DirectoryAddress(url)
            guard let host = try? ServerName(address.host.utf8) else { throw .invalidAddress }
            let rule: PinRule
            do { rule = try PinRule(for: .exactly(host), pins: pins) } catch { throw .invalidPins(error) }
            do { return try PinPolicy(version: 1, proxies: server.proxies, rules: [rule]) } catch { throw .unknown }
        }
    }
}
