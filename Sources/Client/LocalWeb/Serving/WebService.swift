// SPDX-License-Identifier: Apache-2.0

import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
public import Signet
import Synchronization
import UnixSignals

/// The app of one home, served by the person's own process on this machine's loopback addresses alone. One value serves once.
///
/// Security: nothing is shown without a session, and only a link that this process made opens one. Keys and passphrases are in no page.
/// A program of the same user of this machine, or of root, can read the process itself: nothing here stops it.
public struct WebService: Sendable {
    private let ledger = AccessLedger()
    let home: WebHome
    private let wording: any WebWording
    private let surroundings: Surroundings

    /// The app of a home with an account.
    public init(
        _ home: OpenHome, saying wording: any WebWording, with equipment: WebEquipment = WebEquipment(),
        in surroundings: Surroundings = .system
    ) {
        self.init(WebHome(home, equipment, in: surroundings), wording, surroundings)
    }

    /// The app of a home folder, which leads to an account if the folder has none.
    public init(
        at folder: HomeFolder, saying wording: any WebWording, with equipment: WebEquipment = WebEquipment(),
        in surroundings: Surroundings = .system
    ) {
        self.init(WebHome(at: folder, equipment, in: surroundings), wording, surroundings)
    }

    private init(_ home: WebHome, _ wording: any WebWording, _ surroundings: Surroundings) {
        (self.home, self.wording, self.surroundings) = (home, wording, surroundings)
    }

    /// A link that opens the app in one browser, once, within five minutes.
    ///
    /// - Parameter port: of this service.
    public func makeLink(port: Int) -> String {
        "http://127.0.0.1:\(port)/link/\(ledger.makeLink(at: surroundings.now()).text)"
    }

    /// How long a link is good, in seconds.
    public static var linkSeconds: UInt64 { AccessLedger.linkSeconds }

    /// Serves until the task is cancelled or, if it stops on signals, until SIGTERM or SIGINT.
    ///
    /// - Parameters:
    ///   - port: 0 for any that is free.
    ///   - onListening: gets the port once connections are accepted.
    /// - Throws: ``WebServiceError``, or what else ended the server.
    public func run(
        port wanted: Int = 0, stoppingOnSignals: Bool = true, onListening: @escaping @Sendable (Int) async -> Void
    ) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await serve(wanted, stoppingOnSignals, onListening)) } catch {
            result = .failure(error)
        }
        await home.close()
        try result.get()
    }

    /// Serves at the port, or at one that is free: another program may take it before the servers have it, and then it is another one.
    private func serve(
        _ wanted: Int, _ stopsOnSignals: Bool, _ onListening: @escaping @Sendable (Int) async -> Void
    ) async throws {
        for attempt in 1... {
            let isListening = Atomic(false)
            do {
                return try await serve(at: try await LoopbackPlace.find(wanted), stopsOnSignals) { port in
                    isListening.store(true, ordering: .relaxed)
                    await onListening(port)
                }
            } catch is IOError {
                guard wanted == 0, attempt < 8, !isListening.load(ordering: .relaxed) else {
                    throw WebServiceError.cannotListen
                }
            }
        }
    }

    private func serve(
        at place: LoopbackPlace, _ stopsOnSignals: Bool, _ onListening: @escaping @Sendable (Int) async -> Void
    ) async throws {
        let exchange = WebExchange(
            gate: RequestGate(port: place.port, ledger: ledger),
            app: WebApp(home: home, wording: wording, mount: ledger.mount, now: surroundings.now),
            now: surroundings.now)
        let logger = Logger(label: "signet-ui") { _ in SwiftLogNoOpLogHandler() }
        let channel = WebChannel(responder: exchange.run)
        let started = AsyncStream.makeStream(of: Void.self)
        let servers = place.hosts.map { host in
            Server(
                childChannelSetup: channel,
                configuration: ServerConfiguration(address: .hostname(host, port: place.port)),
                onServerRunning: { _ in started.continuation.yield() },
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        }
        let announcing = Task {
            var left = servers.count
            for await _ in started.stream {
                left -= 1
                if left == 0 { return await onListening(place.port) }
            }
        }
        defer { announcing.cancel() }
        var group = ServiceGroupConfiguration(
            services: servers.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
            gracefulShutdownSignals: stopsOnSignals ? [.sigterm, .sigint] : [], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(2)
        try await ServiceGroup(configuration: group).run()
    }
}

/// Why the app is not served.
public enum WebServiceError: Error, Hashable, Sendable {
    /// The port is in use at one of the loopback addresses: another program would answer in this one's name.
    case cannotListen
}

/// The loopback addresses that this machine has, and a port that is free at all of them.
struct LoopbackPlace: Sendable {
    let hosts: [String]
    let port: Int

    static func find(_ wanted: Int) async throws -> LoopbackPlace {
        let hasVersion6 = await canBind("::1", 0) != nil
        let hosts = hasVersion6 ? ["127.0.0.1", "::1"] : ["127.0.0.1"]
        for _ in 0..<16 {
            guard let port = await canBind(hosts[0], wanted) else { break }
            var isFree = true
            for host in hosts.dropFirst() where await canBind(host, port) == nil { isFree = false }
            if isFree { return LoopbackPlace(hosts: hosts, port: port) }
            if wanted != 0 { break }
        }
        throw WebServiceError.cannotListen
    }

    /// The port, if it is free there.
    private static func canBind(_ host: String, _ port: Int) async -> Int? {
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        guard let channel = try? await bootstrap.bind(host: host, port: port).get() else { return nil }
        defer { channel.close(promise: nil) }
        let found = channel.localAddress?.port
        try? await channel.close()
        return found
    }
}
