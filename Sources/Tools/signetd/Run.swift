// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import ConnectionLimits
import Dispatch
import FrameRelay
import KeyDirectory
import Logging
import Platform
import SignetAPI
import SignetServer

/// `signetd run`
struct Run: AsyncParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Serve.",
        discussion: """
            Prints one line, `listening HOST:PORT` or `listening unix:PATH`, once it takes connections. Remarks go to standard error, one \
            line each, without handles, addresses or keys. SIGTERM and SIGINT stop it: requests in progress end first.

            What is not given here may be in a configuration file or in the environment: see `signetd config --help`. \
            systemd is told when it takes connections, when it stops, and while it runs, if it asks. SIGHUP makes it read the \
            configuration file again; without one SIGHUP ends it.
            """)

    @OptionGroup var data: DataOption

    @OptionGroup var config: ConfigOption

    @Option(
        help: ArgumentHelp(
            "The address to listen on, port 0 for any; or, with --plain-http, unix: and the path of a socket for a proxy on this "
                + "machine, which its group can open. Default: 127.0.0.1 and the port that `signetd init --url` named, or 8443.",
            valueName: "host:port"))
    var bind: String?

    @Option(help: ArgumentHelp("Requests per second from one address, on average; 0 for any number.", valueName: "n"))
    var rate: UInt32 = ServerLimits().addressRate.perSecond

    @Option(help: ArgumentHelp("Signed requests per second from one account; 0 for any number.", valueName: "n"))
    var accountRate: UInt32 = ServerLimits().accountRate.perSecond

    @Option(
        help: ArgumentHelp(
            "New accounts at once from one network (IPv4 /24, IPv6 /48); one more every ten seconds; 0 for any number.",
            valueName: "n"))
    var registrations: UInt64 = ServerLimits().registrations.burst

    @Flag(help: "Register only people who have an invitation: see `signetd accounts invite`.")
    var byInvitation = false

    @Option(
        help: ArgumentHelp(
            "Which domains may register, and what they have to show: an invitation, a token of a login system, or a code sent by mail. "
                + "See the guide, accounts.md.", valueName: "file"))
    var registration: String?

    @Option(help: ArgumentHelp("Open connections, over all clients.", valueName: "n"))
    var connections: Int = ServerLimits().connections

    @Option(help: ArgumentHelp("Open connections from one address.", valueName: "n"))
    var connectionsPerAddress: Int = ServerLimits().connectionsPerAddress

    @Option(
        help: ArgumentHelp(
            "What this process does of a directory that `signetd move` has taken to shared engines: serve, sequence (write the log "
                + "whenever no other process does), or serve,sequence.", valueName: "roles"),
        transform: { try ServerRoles(typed: $0) })
    var roles = ServerRoles.all

    @Option(
        help: ArgumentHelp(
            "The least time between two epochs, unless 4,096 changes wait; at most 10,000.", valueName: "ms"))
    var epoch: UInt32 = 1000

    @Option(
        help: ArgumentHelp(
            "An epoch ends after this time, even if nothing has changed: clients refuse a log whose last one is "
                + "an hour old.",
            valueName: "seconds"))
    var heartbeat: UInt32 = UInt32(Directory.standardHeartbeat)

    @Option(
        help: ArgumentHelp(
            "How often the checkpoint is signed again, at least; clients refuse a log that was not signed for long.",
            valueName: "seconds"))
    var republish: UInt32 = 60

    @Option(
        help: ArgumentHelp(
            "How long the server says at /ready that it stops, and goes on taking connections, when it is told to stop: longer than a "
                + "balancer takes to look there.", valueName: "seconds"))
    var announce: UInt32 = 0

    @Option(
        help: ArgumentHelp(
            "How long requests in progress may take after the server is told to stop.", valueName: "seconds"))
    var drain: UInt32 = 20

    @Option(
        help: ArgumentHelp(
            "Logins of one account from one address that may fail at once; one more each minute; 0 for any number.",
            valueName: "n"))
    var loginAttempts: UInt64 = LoginLimits().account.burst

    @Option(
        help: ArgumentHelp(
            "Bytes that the notes and files of an account may take, such as 5GB. New accounts begin with 128 MiB, and get 64 MiB more "
                + "each day up to this. See `signetd accounts quota` for one account.", valueName: "size"),
        transform: { try ByteSize(typed: $0) })
    var quota = ByteSize.ofNotes

    @Flag(help: "Show /metrics to anyone, not only on the loopback interface.")
    var openMetrics = false

    @Option(
        help: ArgumentHelp(
            "Serve the log explorer at /explore, and at /card the page that checks cards: a folder that `Scripts/explorer` built.",
            valueName: "folder"))
    var explorer: String?

    @Option(help: ArgumentHelp("A certificate chain to use instead of the data directory's, PEM.", valueName: "file"))
    var tlsCert: String?

    @Option(help: ArgumentHelp("Its private key, PEM.", valueName: "file"))
    var tlsKey: String?

    @Option(help: ArgumentHelp("Root certificates of witnesses, besides the system's, PEM.", valueName: "file"))
    var witnessRoots: String?

    @OptionGroup var proxies: ProxyOptions

    @OptionGroup var newest: NewestOptions

    @Option(
        help: ArgumentHelp("The UDP port for call frames. Default: the number of the TCP port.", valueName: "port"))
    var relayPort: UInt16?

    @Option(
        help: ArgumentHelp(
            "The address at which call frames are taken. Default: that of --bind; behind a proxy on the same machine, which passes none on, "
                + "one that people reach, such as 0.0.0.0.", valueName: "address"),
        transform: { try RelayBind(typed: $0) })
    var relayBind: RelayBind?

    @Option(
        help: ArgumentHelp(
            "The UDP ports at which clients reach the relays of all front ends, with commas between them, the same at each: all devices of a "
                + "call are sent to one. For a directory that `signetd move` has taken to shared engines.",
            valueName: "ports"),
        transform: { try RelayPorts(typed: $0) })
    var relays = RelayPorts.none

    @Option(
        help: ArgumentHelp(
            "The RabbitMQ over which front ends carry signals together, for a directory that `signetd move` has taken to shared engines: "
                + "a file, mode 0600. See the guide, machines.md.", valueName: "file"))
    var signals: String?

    @Option(
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"),
        transform: Self.level)
    var logLevel = Logger.Level.info

    var places: [String] { [data.data] + [newest.secondMemory, socket].compactMap(\.self) }

    /// The path of the socket at which it listens; nil: it listens at an address.
    private var socket: String? {
        guard let bind, case .path(let path) = try? ListenAddress(typed: bind) else { return nil }
        return path
    }

    func validate() throws {
        guard republish > 0 else { throw ValidationError("--republish: at least 1 second; choose 60") }
        guard drain > 0 else { throw ValidationError("--drain: at least 1 second; choose 20") }
    }

    func run() async throws {
        // Until it can be obeyed: it would end a server that is starting, and systemd takes that for an orderly end.
        if config.config != nil { signal(SIGHUP, SIG_IGN) }
        let level = LevelInForce(logLevel)
        let logger = Diagnostics.logger(level)
        var configuration = try serverConfiguration()
        try requirePossible()
        try requireFiles()
        warnOfFewFiles(logger)
        let registration = try await registrationFiles()
        // Until the socket has its mode, only this user can open it.
        if configuration.path != nil { umask(0o077) }
        if let engines = try await sharedEngines() {
            return try await runShared(engines, configuration, registration, level, logger)
        }
        try requireOneMachine()
        let stored: StoredDirectory
        do {
            stored = try await StoredDirectory.open(
                DataDirectory(path: data.data), identity: try identity(), epochInterval: .milliseconds(epoch),
                heartbeat: UInt64(heartbeat), witnessRoots: try roots(),
                guarding: try newest.guarding(DataDirectory(path: data.data)), logger: logger)
            try stored.requireGoingOn()
        } catch let error as StoredDirectoryError { throw Diagnostics.exit(error) }
        configuration.witnesses = stored.witnesses
        if let clock = stored.clock { configuration.clockFault = { clock.fault } }
        configuration.registration = registration.map {
            RegistrationDesk($0.policy, keys: $0.keys, origin: stored.directory.origin, logger: logger)
        }
        let parts: [any PartAnswering]
        let server: HTTPSServer
        do {
            let tls = try ServerTLS(stored.identity)
            let signals = try StoredSignals.open(DataDirectory(path: data.data))
            let calls = CallAnswering(signals, relay: try await relay(configuration, of: stored, logger))
            parts =
                try await StandardParts.open(
                    DataDirectory(path: data.data), beside: stored, switching: tls, own: ownIdentity, login: login,
                    quota: quota.byteCount,
                    explorer: configuration.explorer, acceptsLostNotes: newest.acceptLostNotes, logger: logger) + [
                    calls
                ]
            try stored.recordParts(of: DataDirectory(path: data.data))
            server = HTTPSServer(
                answering: DirectoryAdapter(stored.directory), and: parts, signals: signals, as: tls,
                administration: administration(stored.directory, parts, logger), configuration: configuration,
                logger: logger)
        } catch { throw Diagnostics.exit(error) }
        let reload = ConfigurationReload(self, server, level, logger)?.begin()
        try await serve(server, configuration, logger, found: { stored.whyStopped })
        reload?.cancel()
        for part in parts { await part.close() }
        await stored.directory.close()
        logger.info("stopped")
    }

    private func registrationFiles() async throws -> (policy: RegistrationPolicy, keys: TokenKeys?)? {
        guard let registration else { return nil }
        do {
            let policy = try RegistrationFile.policy(at: registration)
            return (policy, try await RegistrationFile.keys(of: policy))
        } catch { throw Diagnostics.exit(SettingsError(faults: [error])) }
    }

    var login: LoginLimits {
        var login = LoginLimits()
        login.account.burst = loginAttempts
        if loginAttempts == 0 { (login.address.burst, login.strangers.burst) = (0, 0) }
        return login
    }

    /// A server that cannot open its own files would stop in the middle of its work.
    private func requireFiles() throws {
        _ = OpenFiles.connections(atMost: connections)
        guard let granted = OpenFiles.granted, granted < OpenFiles.least else { return }
        throw Diagnostics.exit(TooFewFiles(granted: granted, least: OpenFiles.least))
    }

    /// Each connection is an open file.
    func warnOfFewFiles(_ logger: Logger) {
        let most = OpenFiles.connections(atMost: connections)
        guard most < connections, let granted = OpenFiles.granted else { return }
        logger.warning(
            "fewer files may be open than --connections needs; raise LimitNOFILE in the unit, or lower --connections",
            metadata: ["granted": "\(granted)", "connections": "\(most)"])
    }

    func administration(
        _ directory: Directory, _ parts: [any PartAnswering], _ logger: Logger
    ) -> AdministrationSocket? {
        let path = DataDirectory(path: data.data).administration
        guard AdministrationSocket.isShortEnough(path) else {
            logger.warning("the path of the data directory is too long for a socket: signetd accounts cannot be used")
            return nil
        }
        return AdministrationSocket(Administration(directory, parts, logger: logger), at: path, logger: logger)
    }

    func relay(
        _ configuration: HTTPSServer.Configuration, of stored: StoredDirectory, sharing tickets: SharedTickets? = nil,
        _ logger: Logger
    ) async throws -> RelayServer {
        let host = relayBind?.host ?? configuration.host
        if SocketName(host: host, port: 0).isLoopback, let url = try? ServerURL(stored.profile.url),
            !SocketName(host: url.host, port: 0).isLoopback
        {
            logger.warning(
                "calls: frames are taken on the loopback interface only; set --relay-bind for people elsewhere")
        }
        return try await RelayServer.start(
            host: host, port: relayPort.map { Int($0) } ?? configuration.port, sharing: tickets)
    }

    /// - Parameters:
    ///   - grace: how long it may take to stop beside requests in progress, before the last five seconds.
    ///   - stopping: called when it was told to stop.
    ///   - found: why the log has failed, if more is known of that than that it has.
    func serve(
        _ server: HTTPSServer, _ configuration: HTTPSServer.Configuration, _ logger: Logger,
        grace: Duration = .zero, stopping: @escaping @Sendable () -> Void = {},
        found: () -> (any Error)? = { nil }
    ) async throws {
        let bound = max(configuration.limits.drain, grace) + .seconds(5)
        do {
            try await server.run { port in
                Diagnostics.printLine(
                    "listening \(configuration.path.map { "unix:\($0)" } ?? "\(configuration.host):\(port)")")
                logger.info("listening", metadata: ["port": "\(port)"])
                SystemdNotification.listening()
            } onStopping: {
                logger.info("stopping")
                SystemdNotification.stopping()
                Diagnostics.endProcess(after: bound)
                stopping()
            }
        } catch is CancellationError {
            // It was told to stop, and some requests took longer than that allows.
            logger.warning("requests in progress were cut off: they took longer than --drain")
        } catch {
            if case ServerStop.logFailed = error, let found = found() { throw Diagnostics.exit(found) }
            throw Diagnostics.exit(error)
        }
    }

    /// The configuration of the server that the options make.
    func serverConfiguration() throws -> HTTPSServer.Configuration {
        let usual = ListenAddress(of: DataDirectory(path: data.data))
        let address = try bind.map { try ListenAddress(typed: $0) } ?? usual
        var configuration = HTTPSServer.Configuration()
        switch address {
        case .network(let name): (configuration.host, configuration.port) = (name.host, name.port)
        case .path(let path):
            configuration.path = path
            // Call frames have no part in the socket.
            if case .network(let name) = usual { configuration.port = name.port }
        }
        configuration.showsMetricsToAll = openMetrics
        configuration.registersByInvitation = byInvitation
        guard registration == nil || !byInvitation else {
            throw ValidationError("--registration and --by-invitation: only one of them says who may register")
        }
        do {
            configuration.explorer = try explorer.map {
                try ExplorerFiles(at: $0, beside: DataDirectory(path: data.data))
            }
        } catch { throw Diagnostics.exit(error) }
        configuration.watchedFolder = data.data
        try proxies.add(to: &configuration, at: address)
        configuration.republishInterval = .seconds(min(republish, max(heartbeat, 1)))
        configuration.limits.addressRate = Self.rate(rate)
        configuration.limits.connectionRate = Self.rate(rate)
        configuration.limits.accountRate = Self.rate(accountRate)
        configuration.limits.registrations.burst = registrations
        configuration.limits.connections = connections
        configuration.limits.connectionsPerAddress = connectionsPerAddress
        configuration.limits.drain = .seconds(drain)
        configuration.announcement = .seconds(announce)
        return configuration
    }

    /// Four seconds' worth may come at once.
    static func rate(_ perSecond: UInt32) -> RequestRate {
        RequestRate(perSecond: perSecond, burst: perSecond.multipliedReportingOverflow(by: 4).partialValue)
    }

    static func level(_ text: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: text) else { throw ValidationError("no such level") }
        return level
    }

    func roots() throws -> [UInt8] {
        try witnessRoots.map { try OptionFile.read($0, "--witness-roots") } ?? []
    }

    /// Reads the operator's own certificate and key as they are then; nil: those of the data directory are used.
    var ownIdentity: (@Sendable () throws -> TLSIdentity)? {
        guard let tlsCert, let tlsKey else { return nil }
        return { try TLSIdentity(certificate: tlsCert, key: tlsKey) }
    }

    func identity() throws -> TLSIdentity? {
        switch (tlsCert, tlsKey) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            do { return try TLSIdentity(certificate: certificate, key: key) } catch { throw Diagnostics.exit(error) }
        default: throw ValidationError("--tls-cert and --tls-key must be given together")
        }
    }
}
