// SPDX-License-Identifier: Apache-2.0

public import KeyPinning
public import NIOCore
import NIOPosix
import NIOSSL
public import PinnedChains
import Synchronization

/// Opens every connection of a client: TLS 1.2 or 1.3 to a host that the policy knows. A single verifier must find the chain
/// trusted and pinned before a byte of a request is sent.
///
/// REST, WebSocket and all protocols above them use it. There is no other way to connect, and none without a policy.
///
/// Security: the certificates that NIOSSL passes on are those that the server sent, in its order; conclusions from them are
/// drawn only through ``PinnedChains/ChainVerifier``.
public final class PinnedConnector: Sendable {
    /// The pin policy and the trusted anchors.
    public let verifier: ChainVerifier
    let clock: @Sendable () -> UInt64
    let proxies: ProxySettings
    let cache: VerifiedChainCache?
    let onViolation: (@Sendable (ViolationReport) -> Void)?
    private let contexts: Mutex<[[String]: NIOSSLContext]>

    /// A connector.
    ///
    /// - Parameters:
    ///   - environment: the environment in which this program runs; a policy for another environment is refused.
    ///   - cacheCapacity: how many verified chains are remembered; 0 for none.
    ///   - clock: seconds since 1970.
    ///   - onViolation: receives a report for every trusted chain in which no key is pinned. It must not block.
    /// - Throws: ``TransportError/policyForAnotherEnvironment``.
    public init(
        _ verifier: ChainVerifier, environment: PinPolicy.Environment = .production,
        proxies: ProxySettings = .ofProcess, cacheCapacity: Int = 64,
        clock: @escaping @Sendable () -> UInt64 = SystemClock.now,
        onViolation: (@Sendable (ViolationReport) -> Void)? = nil
    ) throws(TransportError) {
        guard verifier.policy.environment == environment else { throw .policyForAnotherEnvironment }
        self.verifier = verifier
        self.clock = clock
        self.proxies = proxies
        self.onViolation = onViolation
        cache = cacheCapacity > 0 ? VerifiedChainCache(capacity: cacheCapacity) : nil
        contexts = Mutex([ApplicationProtocols.requests: try Self.context(ApplicationProtocols.requests)])
    }

    /// Connects, and sets up the pipeline on the event loop at the moment TLS is established and the chain was found trusted
    /// and pinned.
    ///
    /// - Parameters:
    ///   - protocols: the application protocols to offer, in order of preference (ALPN); empty to offer none.
    ///   - eventLoop: the event loop of the connection.
    ///   - configure: receives the channel, in which TLS is the only handler, and the negotiated protocol, if any.
    /// - Returns: what `configure` returned.
    /// - Throws: ``TransportError``; ``TransportError/refused(_:)`` if the policy, the chain or the pins forbid the connection:
    ///   nothing was sent but the TLS greeting.
    public func connect<Value: Sendable>(
        to address: ServerAddress, offering protocols: [String] = [], on eventLoop: any EventLoop,
        deadlines: ConnectionDeadlines = .standard,
        configure: @escaping @Sendable (_ channel: any Channel, _ negotiated: String?) throws -> Value
    ) async throws(TransportError) -> Value {
        let judge = try ConnectionJudge(self, address)
        let context = try context(offering: protocols)
        do {
            let promise = eventLoop.makePromise(of: Value.self)
            ClientBootstrap(group: eventLoop)
                .connectTimeout(TimeAmount(deadlines.connect))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let handshake = HandshakeHandler(judge, deadlines.handshake, promise, configure)
                        try channel.pipeline.syncOperations.addHandlers(Self.tls(context, judge), handshake)
                    }
                }
                .connect(host: address.host, port: address.port).whenFailure { promise.fail($0) }
            return try await promise.futureResult.get()
        } catch { throw TransportError(error) }
    }

    private static func tls(_ context: NIOSSLContext, _ judge: ConnectionJudge) throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(
            context: context, serverHostname: judge.serverHostname,
            customVerificationCallbackWithMetadata: { certificates, promise in judge.judge(certificates, promise) })
    }

    /// A context is expensive to create, and can be reused for every connection that offers the same protocols.
    private func context(offering protocols: [String]) throws(TransportError) -> NIOSSLContext {
        if let made = contexts.withLock({ $0[protocols] }) { return made }
        let context = try Self.context(protocols)
        contexts.withLock { $0[protocols] = context }
        return context
    }

    /// NIOSSL's own host check stays on: it runs after ours, as a second line of defence. NIOSSL is given no root, so that
    /// nothing is trusted should our verification ever not be called.
    private static func context(_ protocols: [String]) throws(TransportError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates([])
        configuration.certificateVerification = .fullVerification
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = protocols
        do { return try NIOSSLContext(configuration: configuration) } catch { throw .unknown }
    }
}

/// The application protocols that are offered.
enum ApplicationProtocols {
    /// HTTP/2 first: reads that run beside each other share one connection and its handshake. One after the other, each takes more
    /// processor time than with HTTP/1.1.
    static let requests = ["h2", "http/1.1"]
    static let webSocket = ["http/1.1"]
}
