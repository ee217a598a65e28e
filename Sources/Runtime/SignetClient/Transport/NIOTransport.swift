import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import SignetAPI
import Synchronization

/// HTTPS/1.1 to one directory: only the profile's root certificate is trusted, the host name is checked,
/// and every wait has an end.
///
/// Ours rather than a general HTTP client, because key pinning needs the verification callback of NIOSSL.
/// One connection is kept open between requests that may safely be sent twice.
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
    private let context: NIOSSLContext?
    private let idleChannel = Mutex<(any Channel)?>(nil)

    /// A transport to the directory of a profile.
    ///
    /// - Throws: ``TransportError/invalidAddress``, ``TransportError/invalidRoot``.
    public convenience init(
        to profile: DirectoryProfile, deadlines: Deadlines = .standard
    ) throws(TransportError) {
        let address = try DirectoryAddress(profile.url)
        try self.init(to: address, security: .root(profile.tlsRoot), deadlines: deadlines)
    }

    /// How the server is known.
    public enum Security: Hashable, Sendable {
        /// It is not: plain HTTP. Only for files that prove themselves, such as those of a log.
        case none
        /// By a certificate that the system trusts.
        case system
        /// By a certificate under this root, in DER.
        case root([UInt8])
    }

    /// A transport to a server at an address.
    ///
    /// - Throws: ``TransportError/invalidRoot``.
    public init(
        to address: DirectoryAddress, security: Security, deadlines: Deadlines = .standard
    ) throws(TransportError) {
        self.address = address
        self.deadlines = deadlines
        context = try Self.context(security)
    }

    private static func context(_ security: Security) throws(TransportError) -> NIOSSLContext? {
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            switch security {
            case .none: return nil
            case .system: configuration.trustRoots = .default
            case .root(let root):
                configuration.trustRoots = .certificates([try NIOSSLCertificate(bytes: root, format: .der)])
            }
            configuration.certificateVerification = .fullVerification
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            return try NIOSSLContext(configuration: configuration)
        } catch { throw .invalidRoot }
    }

    deinit { idleChannel.withLock { $0?.close(promise: nil) } }

    /// Sends a request and waits for the whole answer, over the kept connection if that is harmless.
    ///
    /// - Throws: ``TransportError``.
    public func send(_ request: DirectoryRequest) async throws(TransportError) -> DirectoryResponse {
        if request.mayRepeat, let channel = takeIdleChannel() {
            let exchange = exchange(request)
            // A channel that has closed meanwhile has no handler left to answer.
            channel.writeAndFlush(exchange).whenFailure { _ in exchange.promise.fail(TransportError.closedEarly) }
            do { return try await answer(to: exchange, on: channel) } catch  where error == .closedEarly {
                // The server had ended the kept connection: a new one decides.
            }
        }
        let exchange = exchange(request)
        return try await answer(to: exchange, on: connect(for: exchange))
    }

    private func exchange(_ request: DirectoryRequest) -> Exchange {
        Exchange(
            request, authority: address.authority,
            promise: MultiThreadedEventLoopGroup.singleton.next().makePromise())
    }

    private func answer(
        to exchange: Exchange, on channel: any Channel
    ) async throws(TransportError) -> DirectoryResponse {
        do {
            let answer = try await withTaskCancellationHandler {
                try await exchange.promise.futureResult.get()
            } onCancel: {
                channel.close(promise: nil)
            }
            if answer.isReusable { keep(channel) } else { channel.close(promise: nil) }
            return answer.response
        } catch {
            channel.close(promise: nil)
            throw TransportError(error)
        }
    }

    /// A new connection that sends the exchange's request as soon as it stands.
    private func connect(for exchange: Exchange) async throws(TransportError) -> any Channel {
        let (context, deadlines, host) = (context, deadlines, address.host)
        do {
            return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(TimeAmount(deadlines.connect))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        if let context {
                            try pipeline.addHandler(
                                NIOSSLClientHandler(context: context, serverHostname: Self.name(host)))
                        }
                        try pipeline.addHTTPClientHandlers()
                        try pipeline.addHandler(ExchangeHandler(deadlines, first: exchange))
                    }
                }
                .connect(host: host, port: address.port).get()
        } catch {
            exchange.promise.fail(TransportError(error))
            throw TransportError(error)
        }
    }

    /// For an IP address, NIOSSL compares the certificate with the peer's address instead of a name.
    private static func name(_ host: String) -> String? {
        (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil
    }

    private func takeIdleChannel() -> (any Channel)? {
        let channel = idleChannel.withLock { idle in
            defer { idle = nil }
            return idle
        }
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

extension DirectoryRequest {
    /// Whether sending it twice is the same as once: reads, and the lookup.
    var mayRepeat: Bool { method == "GET" || path == Route.lookup.path }
}
