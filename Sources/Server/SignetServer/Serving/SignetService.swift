// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
public import HTTPTypes
public import HummingbirdCore
import KeyDirectory
public import Logging
public import NIOCore
public import ServiceLifecycle
public import SignetAPI

/// Everything that `signetd` has of a data directory but calls, for an app's own server to mount: directory, notes, pins and recovery.
///
/// The app's server hands it each request (``respond(to:body:from:)``) and runs it as a service, which signs checkpoints, does what is due,
/// and closes the stores at the end. Clients connect with the pins of ``profile``: the app's server has to present ``identity``.
///
/// Limits of requests, bodies and accounts are kept here. Those of connections and handshakes are the app's server's, and so are health,
/// metrics and the address that a request came from. Signals of calls need a server of their own, ``HTTPSServer``.
public struct SignetService: Service {
    /// What clients are given to know the directory by.
    public let profile: DirectoryProfile
    /// The certificate chain and key by which clients know the server.
    public let identity: TLSIdentity

    private let stored: StoredDirectory
    private let parts: [any PartAnswering]
    private let exchange: HTTPExchange
    private let logWatch: LogWatch
    private let configuration: HTTPSServer.Configuration
    private let logger: Logger

    /// Opens a data directory that `signetd init` made.
    ///
    /// - Parameter configuration: limits, and how often checkpoints are signed; address and port do not count here.
    /// - Throws: ``StoredDirectoryError``, ``StoredNotesError`` or what else the operator has to act on.
    public static func open(
        _ data: DataDirectory, configuration: HTTPSServer.Configuration = .init(), logger: Logger
    ) async throws -> SignetService {
        let stored = try await StoredDirectory.open(data, epochInterval: .seconds(1), logger: logger)
        do {
            try stored.requireGoingOn()
            let parts = try await StandardParts.open(data, beside: stored, logger: logger)
            return SignetService(stored, parts, configuration, logger)
        } catch {
            await stored.directory.close()
            throw error
        }
    }

    private init(
        _ stored: StoredDirectory, _ parts: [any PartAnswering], _ configuration: HTTPSServer.Configuration,
        _ logger: Logger
    ) {
        self.stored = stored
        self.parts = parts
        self.configuration = configuration
        self.logger = logger
        (profile, identity) = (stored.profile, stored.identity)
        let directory = DirectoryAdapter(stored.directory)
        logWatch = LogWatch(directory, onStopping: {})
        exchange = HTTPExchange(
            answering: directory, PartTable(parts), signals: nil, configuration: configuration,
            metrics: ServerMetrics(), reporting: logWatch)
    }

    /// Answers a request, if its path is one of the directory's: those below `/v1/` that clients use, and `/log/`.
    ///
    /// - Parameters:
    ///   - head: method, path and headers as they came.
    ///   - body: read as far as its route allows.
    ///   - address: the client's address, for limits, as the app's server knows it; behind a proxy, as the proxy states
    ///     it.
    /// - Returns: nil if the path is none of the directory's: the app answers it.
    /// - Throws: what reading the body throws.
    public func respond(
        to head: HTTPRequest, body: RequestBody, from address: SocketAddress?
    ) async throws -> Response? {
        try await exchange.mounted(head, body, from: ClientAddress(address))
    }

    /// Does what is due until the service group shuts down or the task is cancelled, then closes the stores. In a service group it stands
    /// before the server, which so ends first.
    ///
    /// - Throws: ``ServerStop/logFailed`` after the log failed for good: the process has to be started again.
    public func run() async throws {
        let directory = DirectoryAdapter(stored.directory)
        let republisher = CheckpointRepublisher(
            directory: directory, parts: parts, interval: configuration.republishInterval, logWatch: logWatch,
            logger: logger)
        let lostFiles = LostFileWatch(logger: logger) {
            Readiness().fileFaults(of: await directory.condition())
        }
        let services: [any Service] = [logWatch, republisher, lostFiles]
        let group = ServiceGroupConfiguration(
            services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
            logger: HTTPSServer.quiet(logger))
        try await ServiceGroup(configuration: group).runToItsEnd()
        for part in parts { await part.close() }
        await stored.directory.close()
        if let failure = logWatch.failure { throw failure }
    }
}
