// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HummingbirdCore
public import LogWitness
public import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import SignetAPI
import Synchronization
import Telemetry
import UnixSignals

/// The HTTP server of a witness: `add-checkpoint`, and the latest checkpoint of each log for monitors.
///
/// One value serves once. It stops when its task is cancelled, when it is signalled, or when the witness's memory fails.
public struct WitnessServer: Sendable {
    /// How a server is set up.
    public struct Configuration: Sendable {
        /// The address to listen at, a name or a number.
        public var host = "127.0.0.1"
        /// The TCP port; 0 for any free one.
        public var port = 8444
        /// What clients may take.
        public var limits = Self.limits
        /// Where `/ready` and `/metrics` are, and `/health` too; nil: nowhere.
        public var monitoring: MonitoringAddress?
        /// The witness's data, whose size and disk the metrics and `/ready` show; nil for none.
        public var watched: WitnessDirectory?

        /// The configuration that `signetd witness run` starts with.
        public init() {}

        private static var limits: ServerLimits {
            var limits = ServerLimits()
            limits.bodyByteCount = 131_072
            limits.addressRate = RequestRate(perSecond: 50, burst: 200)
            limits.drain = .seconds(5)
            return limits
        }
    }

    private let witness: Witness
    private let tls: ServerTLS?
    private let configuration: Configuration
    private let logger: Logger

    /// A server in front of a witness.
    ///
    /// - Parameter identity: nil for plain HTTP, which is for the loopback interface and for proxies that add TLS.
    /// - Throws: ``TLSIdentityError``: the key and the certificate do not make a TLS server.
    public init(
        _ witness: Witness, identity: TLSIdentity?, configuration: Configuration, logger: Logger
    ) throws(TLSIdentityError) {
        self.witness = witness
        self.configuration = configuration
        self.logger = logger
        tls = if let identity { try ServerTLS(identity) } else { nil }
    }

    /// Serves until told to stop; requests in progress get ``ServerLimits/drain`` to end.
    ///
    /// - Parameters:
    ///   - signals: whether SIGTERM and SIGINT tell it to stop.
    ///   - onListening: gets the port once connections are accepted.
    ///   - onStopping: called when it was told to stop, before requests in progress have ended.
    /// - Throws: ``WitnessServerStop``, or what else ended the server.
    public func run(
        stoppingOnSignals signals: Bool = true, onListening: @escaping @Sendable (Int) -> Void = { _ in },
        onStopping: @escaping @Sendable () -> Void = {}
    ) async throws {
        let watch = MemoryWatch(onStopping: onStopping)
        var group = ServiceGroupConfiguration(
            services: ([watch] + listeners(watch, onListening)).map {
                .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
            },
            gracefulShutdownSignals: signals ? [.sigterm, .sigint] : [], logger: quietLogger)
        group.maximumGracefulShutdownDuration = configuration.limits.drain
        do { try await ServiceGroup(configuration: group).runToItsEnd() } catch is IOError {
            throw WitnessServerStop.cannotListen
        }
        if let failure = watch.failure { throw failure }
    }

    private func listeners(
        _ watch: MemoryWatch, _ onListening: @escaping @Sendable (Int) -> Void
    ) -> [any Service] {
        let storage = configuration.watched.map { [StorageSource($0)] } ?? []
        let limits = configuration.limits
        let metrics = ServerMetrics(
            names: Destination.Name.ofWitness,
            sources: [ProcessSource(version: Release.version), CosignedSource(witness: witness)] + storage,
            events: EventLines(logger, uptime: ServerClock.system.uptime))
        let exchange = WitnessExchange(
            witness: witness, addressRate: RateLimiter(limits.addressRate, remembering: limits.rememberedClients),
            limits: limits, metrics: metrics, clock: .system, date: HTTPDate(.system),
            onMemoryFailed: { watch.memoryFailed($0) })
        let channel = SecureChannel(
            tls: tls, limits: limits,
            ledger: ConnectionLedger(total: limits.connections, perAddress: limits.connectionsPerAddress),
            metrics: metrics, responder: exchange.run)
        let listener = Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: .hostname(configuration.host, port: configuration.port), backlog: 1024),
            onServerRunning: { onListening($0.localAddress?.port ?? 0) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quietLogger)
        return configuration.monitoring?.services(beside: listener, pages(metrics), logger: logger) ?? [listener]
    }

    /// What operators see.
    private func pages(_ metrics: ServerMetrics) -> OperatorPages {
        let readiness = Readiness(watching: configuration.watched?.path, tls)
        let clock = ServerClock.system
        return OperatorPages(clock: clock) { route, _ in
            switch route {
            case .ready: readiness.answer(of: nil, at: clock.time())
            case .metrics:
                Answer(
                    mediaType: PrometheusText.mediaType,
                    body: metrics.text(readiness.samples(of: nil, at: clock.time())))
            default: .text("ok\n")
            }
        }
    }

    /// The frameworks' own messages name addresses at lower levels; only their warnings are passed on.
    private var quietLogger: Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
    }
}

/// What a witness cosigned last for each log, for the metrics.
private struct CosignedSource: MetricSource {
    let witness: Witness

    func samples() -> [MetricSample] {
        witness.cosigned.flatMap { last in
            let label = ("log", String(decoding: last.origin, as: UTF8.self))
            return [MetricSample(.cosignedEntries, last.size, label), MetricSample(.cosignedTime, last.time, label)]
        }
    }
}

/// Why a witness's server stopped without having been told to.
public enum WitnessServerStop: Error, Hashable, Sendable {
    /// The witness's memory failed. What was cosigned is on the disk; the process has to be started again.
    case memoryFailed(WitnessStoreError)
    /// The address is in use, or is not one of this machine.
    case cannotListen
}

/// Ends the server when a request finds that the memory has failed, as if it had been told to: requests in progress get
/// their answer.
private final class MemoryWatch: Service {
    private let found = Mutex<WitnessServerStop?>(nil)
    private let onStopping: @Sendable () -> Void
    private let failures: AsyncStream<WitnessStoreError>
    private let report: AsyncStream<WitnessStoreError>.Continuation

    init(onStopping: @escaping @Sendable () -> Void) {
        self.onStopping = onStopping
        (failures, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// Why the server has ended, unless it was told to.
    var failure: WitnessServerStop? { found.withLock { $0 } }

    func memoryFailed(_ error: WitnessStoreError) { report.yield(error) }

    func run() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { [self] in
                for await error in failures {
                    found.withLock { $0 = .memoryFailed(error) }
                    return true
                }
                return false
            }
            group.addTask { [self] in
                try await gracefulShutdown()
                onStopping()
                return true
            }
            defer { group.cancelAll() }
            for try await isTold in group where isTold { return }
        }
    }
}
