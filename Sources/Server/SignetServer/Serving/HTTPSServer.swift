// SPDX-License-Identifier: Apache-2.0

package import ConnectionLimits
import HummingbirdCore
public import KeyDirectory
public import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
public import SignalBroker
import SignetAPI
import Telemetry
import UnixSignals

/// The HTTPS server of a directory: every ``SignetAPI/Route``, the log's files, limits and metrics.
///
/// One value serves once. It stops in an orderly way when its task is cancelled, when the service group it runs in shuts
/// down, or when the log fails for good.
public struct HTTPSServer: Sendable {
    /// How a server is set up.
    public struct Configuration: Sendable {
        /// The address to listen at, a name or a number.
        public var host = "127.0.0.1"
        /// The TCP port; 0 for any free one.
        public var port = 8443
        /// The path of a Unix socket to listen at in place of host and port, without TLS; nil for none.
        package var path: String?
        /// What clients may take.
        public var limits = ServerLimits()
        /// For how long the server says at `/ready` that it is about to stop, and goes on, when it is told to: longer than it takes a balancer
        /// to look there; zero: it says nothing. Only of a server that stops on signals.
        package var announcement = Duration.zero
        /// How often the checkpoint is signed again, so that its time stays fresh; nil for never.
        public var republishInterval: Duration? = .seconds(60)
        /// Whether `/metrics` answers anyone; if not, it answers on the loopback interface only.
        public var showsMetricsToAll = false
        /// Where `/ready` and `/metrics` are instead of here; nil: here.
        public var monitoring: MonitoringAddress?
        /// The proxies that are believed when they say whose connection they pass on, or, without TLS, whose request.
        package var proxies = TrustedProxies.none
        /// Whether the server speaks without TLS, because a proxy on this machine does that for it.
        package var isPlain = false
        /// Whether a new account needs an invitation, which the operator makes with `signetd accounts invite`.
        public var registersByInvitation = false
        /// Who may register which handle, in place of ``registersByInvitation``; nil: as that says.
        package var registration: RegistrationDesk?
        /// The pages at `/explore`; nil: there are none.
        public var explorer: ExplorerFiles?
        /// A folder on the disk whose reserve `/ready` looks at, its data directory's; nil for none.
        public var watchedFolder: String?
        /// What each witness cosigned last, for the metrics; nil if the server asks no witness.
        package var witnesses: WitnessProgress?
        /// Remembers signed requests that must not come again, for all front ends of the directory; nil: this server is the only one.
        package var marks: (any SharedMarks)?
        /// For how long this process has not seen what is published; nil: it publishes itself.
        package var lag: (@Sendable () -> Duration)?
        /// What is wrong with this machine's clock; nil: the log has no other to compare it with.
        package var clockFault: (@Sendable () -> ClockFault?)?
        /// What is common to the processes of a shared directory, for the metrics; nil: the directory is of one machine.
        package var sharedLog: SharedLogWatch?
        package var clock = ServerClock.system

        /// The configuration that `signetd` starts with.
        public init() {}
    }

    private let directory: any DirectoryAnswering
    private let parts: PartTable
    private let signals: (any SignalExchange)?
    private let tls: ServerTLS
    private let administration: AdministrationSocket?
    private let configuration: Configuration
    private let inForce: LimitsInForce
    private let logger: Logger

    /// A server in front of a directory.
    ///
    /// - Parameter signals: carries the signals of calls; nil if there are to be no calls.
    /// - Throws: ``TLSIdentityError``: the key and the certificate do not make a TLS server.
    public init(
        _ directory: Directory, signals: SignalHub? = nil, identity: TLSIdentity, configuration: Configuration,
        logger: Logger
    ) throws(TLSIdentityError) {
        try self.init(
            answering: DirectoryAdapter(directory), signals: signals, identity: identity,
            configuration: configuration, logger: logger)
    }

    /// A server in front of anything that answers like a directory, and of parts beside it.
    ///
    /// - Throws: ``TLSIdentityError``.
    package init(
        answering directory: any DirectoryAnswering, and parts: [any PartAnswering] = [],
        signals: (any SignalExchange)? = nil, identity: TLSIdentity, configuration: Configuration, logger: Logger
    ) throws(TLSIdentityError) {
        self.init(
            answering: directory, and: parts, signals: signals, as: try ServerTLS(identity),
            configuration: configuration, logger: logger)
    }

    /// The same as a server whose key and certificate can change while it runs.
    ///
    /// - Parameter administration: serves the operator's calls beside it; nil: there are none.
    package init(
        answering directory: any DirectoryAnswering, and parts: [any PartAnswering],
        signals: (any SignalExchange)? = nil,
        as tls: ServerTLS, administration: AdministrationSocket? = nil, configuration: Configuration, logger: Logger
    ) {
        self.directory = directory
        self.signals = signals
        self.parts = PartTable(parts, explorer: configuration.explorer)
        self.configuration = configuration
        inForce = LimitsInForce(configuration)
        self.logger = logger
        self.tls = tls
        self.administration = administration
    }

    /// Serves until told to stop; requests in progress get ``ServerLimits/drain`` to end.
    ///
    /// - Parameters:
    ///   - signals: whether SIGTERM and SIGINT tell it to stop.
    ///   - onListening: gets the port once connections are accepted.
    ///   - onStopping: called when it was told to stop, before requests in progress have ended.
    /// - Throws: ``ServerStop/logFailed`` after the log failed for good, ``ServerStop/cannotListen`` if the address
    ///   is in use or not ours, its like for the operators' addresses, or what else ended the server.
    public func run(
        stoppingOnSignals signals: Bool = true, onListening: @escaping @Sendable (Int) -> Void = { _ in },
        onStopping: @escaping @Sendable () -> Void = {}
    ) async throws {
        let path = configuration.path.map { ListeningPath(path: $0) }
        try path?.prepare()
        let logWatch = LogWatch(directory, onStopping: onStopping)
        var services: [any Service] = [logWatch]
        services.append(
            CheckpointRepublisher(
                directory: directory, parts: parts.all, interval: configuration.republishInterval, logWatch: logWatch,
                logger: logger))
        if let signals = self.signals { services.append(SignalUpkeep(exchange: signals, directory: directory)) }
        if let administration { services.append(administration) }
        let announcement = signals && configuration.announcement > .zero ? announcing : nil
        if let announcement { services.append(announcement) }
        let locks = configuration.watchedFolder.map { DatabaseLocks(of: DataDirectory(path: $0), logger: logger) }
        if let locks { services.append(locks) }
        var readiness = Readiness(configuration, tls)
        if let locks { readiness.lockedDatabases = { locks.locked } }
        if let announcement { readiness.isStopping = { announcement.isMade } }
        services.append(
            LostFileWatch(logger: logger) { [readiness, directory] in
                readiness.fileFaults(of: await directory.condition())
            })
        services += listeners(logWatch, readiness) { port in
            path?.began()
            onListening(port)
        }
        var group = ServiceGroupConfiguration(
            services: services.map {
                .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup)
            },
            gracefulShutdownSignals: signals && announcement == nil ? [.sigterm, .sigint] : [],
            logger: Self.quiet(logger))
        group.maximumGracefulShutdownDuration = configuration.limits.drain
        do { try await ServiceGroup(configuration: group).runToItsEnd() } catch is IOError {
            throw ServerStop.cannotListen
        } catch is CancellationError where logWatch.failure != nil {
            // Requests in progress were cut off, as those are that wait for the log that failed.
        }
        if let failure = logWatch.failure { throw failure }
    }

    /// Takes the limits on connections, requests and registrations of another configuration, and nothing else of it, while the server runs.
    /// What is open stays open.
    package func change(to configuration: Configuration) { inForce.change(to: configuration) }

    private var announcing: Announcement {
        Announcement(for: configuration.announcement) {
            let (told, report) = AsyncStream.makeStream(of: Void.self)
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            let passing = Task { for await _ in signals { report.yield() } }
            report.onTermination = { _ in passing.cancel() }
            return told
        }
    }

    private func listeners(
        _ logWatch: LogWatch, _ readiness: Readiness, _ onListening: @escaping @Sendable (Int) -> Void
    ) -> [any Service] {
        let metrics = ServerMetrics(
            sources: configuration.metricSources, events: EventLines(logger, uptime: configuration.clock.uptime))
        let exchange = HTTPExchange(
            answering: directory, parts, signals: signals, configuration: configuration, metrics: metrics,
            limits: inForce, reporting: logWatch, readiness: readiness)
        let channel = SecureChannel(
            tls: configuration.isPlain ? nil : tls, limits: configuration.limits, ledger: inForce.ledger,
            rate: inForce.connectionRate, metrics: metrics, clock: configuration.clock, ready: ReadyAnswers(exchange),
            behind: configuration.proxies, responder: exchange.run)
        let listener = Server(
            childChannelSetup: channel,
            configuration: ServerConfiguration(
                address: configuration.path.map { .unixDomainSocket(path: $0) }
                    ?? .hostname(configuration.host, port: configuration.port), backlog: 1024),
            onServerRunning: { onListening($0.localAddress?.port ?? 0) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: Self.quiet(logger))
        let pages = exchange.answering.operatorPages
        return configuration.monitoring?.services(beside: listener, pages, logger: logger) ?? [listener]
    }

    /// The frameworks' own messages name addresses at lower levels; only their warnings are passed on.
    static func quiet(_ logger: Logger) -> Logger {
        var logger = logger
        logger.logLevel = max(logger.logLevel, .warning)
        return logger
    }
}

extension HTTPSServer.Configuration {
    /// The sources that measure their values when the metrics are requested.
    fileprivate var metricSources: [any MetricSource] {
        [ProcessSource(version: Release.version)] + (witnesses.map { [$0] } ?? [])
            + (watchedFolder.map { [StorageSource(DataDirectory(path: $0))] } ?? [])
            + (sharedLog.map { [$0] } ?? [])
    }
}

/// Why a server stopped without having been told to.
public enum ServerStop: Error, Hashable, Sendable {
    /// The log failed for good. Nothing acknowledged is lost; the process has to be started again.
    case logFailed
    /// The log failed for good because it could open no file: this process, or the system, has too many open. Nothing acknowledged is lost.
    case tooManyOpenFiles
    /// The address is in use, or is not one of this machine; or the socket cannot be made where it should be.
    case cannotListen
    /// The ``MonitoringAddress`` is in use, or is not one of this machine.
    case cannotMonitor
    /// The socket for the operator's commands cannot be made in the data directory.
    case cannotAdminister
    /// Something is at the path of the Unix socket: another server listens there, or it is no socket.
    case pathInUse
}
