// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import LogWitness
import Logging
import SignetServer

/// `signetd witness run`
struct RunWitness: AsyncParsableCommand, FolderCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Serve.",
        discussion: """
            Prints one line, `listening HOST:PORT`, once it takes connections. Remarks go to standard error, one \
            line each. SIGTERM and SIGINT stop it: requests in progress end first.
            """)

    @OptionGroup var data: DataOption

    @Option(help: ArgumentHelp("The address to listen on; port 0 for any.", valueName: "host:port"))
    var bind = "127.0.0.1:8444"

    @Flag(help: "Speak plain HTTP, on the loopback interface only.")
    var plainHTTP = false

    @Option(help: ArgumentHelp("Requests per second from one address, on average; 0 for any number.", valueName: "n"))
    var rate: UInt32 = WitnessServer.Configuration().limits.addressRate.perSecond

    @Option(
        help: ArgumentHelp(
            "Answer /health, /ready and /metrics here over plain HTTP. For a network of the operator's own.",
            valueName: "host:port"))
    var adminListen: String?

    @Option(help: ArgumentHelp("A certificate chain to use instead of the data directory's, PEM.", valueName: "file"))
    var tlsCert: String?

    @Option(help: ArgumentHelp("Its private key, PEM.", valueName: "file"))
    var tlsKey: String?

    @Option(
        help: ArgumentHelp("trace, debug, info, notice, warning, error or critical.", valueName: "level"),
        transform: Run.level)
    var logLevel = Logger.Level.info

    func run() async throws {
        let logger = Diagnostics.logger(logLevel)
        let configuration = try configuration()
        let witness: Witness
        let server: WitnessServer
        do {
            let stored = try StoredWitness(WitnessDirectory(path: data.data))
            let identity = try identity(stored)
            witness = try stored.open(logger: logger)
            server = try WitnessServer(witness, identity: identity, configuration: configuration, logger: logger)
        } catch let error as ValidationError { throw error } catch { throw Diagnostics.exit(error) }
        try await serve(server, configuration, logger)
        witness.close()
        logger.info("stopped")
    }

    private func serve(
        _ server: WitnessServer, _ configuration: WitnessServer.Configuration, _ logger: Logger
    ) async throws {
        do {
            try await server.run { port in
                Diagnostics.printLine("listening \(configuration.host):\(port)")
                logger.info("listening", metadata: ["port": "\(port)"])
                SystemdNotification.listening()
            } onStopping: {
                logger.info("stopping")
                SystemdNotification.stopping()
                Diagnostics.endProcess(after: configuration.limits.drain + .seconds(5))
            }
        } catch { throw Diagnostics.exit(error) }
    }

    private func configuration() throws -> WitnessServer.Configuration {
        guard let address = SocketName(bind, defaultPort: 8444) else {
            throw ValidationError("--bind: host:port, such as 127.0.0.1:8444 or [::1]:8444")
        }
        guard !plainHTTP || address.isLoopback else {
            throw ValidationError("--plain-http: only on 127.0.0.1, [::1] or localhost; a proxy can add TLS")
        }
        var configuration = WitnessServer.Configuration()
        configuration.host = address.host
        configuration.port = address.port
        configuration.limits.addressRate = Run.rate(rate)
        configuration.limits.connectionRate = Run.rate(rate)
        configuration.monitoring = try adminListen.map { try MonitoringAddress(typed: $0) }
        configuration.watched = WitnessDirectory(path: data.data)
        return configuration
    }

    private func identity(_ stored: StoredWitness) throws -> TLSIdentity? {
        switch (plainHTTP, tlsCert, tlsKey) {
        case (true, nil, nil): return nil
        case (false, let certificate?, let key?): return try TLSIdentity(certificate: certificate, key: key)
        case (false, nil, nil):
            guard let identity = try stored.identity() else {
                throw ValidationError(
                    "the witness was made without a certificate: give --plain-http, or --tls-cert and --tls-key")
            }
            return identity
        default: throw ValidationError("--tls-cert and --tls-key must be given together, and not with --plain-http")
        }
    }
}
