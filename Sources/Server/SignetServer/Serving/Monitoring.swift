// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle
import SignetAPI

/// Who sees `/metrics`.
enum OperatorAudience: Hashable, Sendable {
    /// Clients of this machine.
    case loopback
    case everyone
    /// Whoever can reach the ``MonitoringAddress``; here there is no `/ready` either.
    case elsewhere
}

/// Where a server answers `/health`, `/ready` and `/metrics` apart from everything else, over plain HTTP.
public struct MonitoringAddress: Sendable {
    /// The address to listen at, a name or a number.
    public var host: String
    /// The TCP port; 0 for any free one.
    public var port: Int
    /// Gets the port once connections are accepted.
    package var onListening: @Sendable (Int) -> Void = { _ in }

    /// An address.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// A server's listener, and the one at this address. The former begins once the latter listens: a server that says that it listens does so
    /// at both.
    func services(beside listener: any Service, _ pages: OperatorPages, logger: Logger) -> [any Service] {
        let (listens, report) = AsyncStream.makeStream(of: Void.self)
        var address = self
        address.onListening = { [onListening] port in
            onListening(port)
            report.yield()
        }
        return [LaterListener(listener: listener, otherListens: listens), address.service(pages, logger: logger)]
    }

    /// The server at this address. Each connection has one request.
    func service(_ pages: OperatorPages, logger: Logger) -> any Service {
        var limits = ServerLimits()
        limits.connections = Self.maximumConnectionCount
        limits.connectionsPerAddress = Self.maximumConnectionCount
        let date = HTTPDate(pages.clock)
        let channel = SecureChannel(
            tls: nil, limits: limits,
            ledger: ConnectionLedger(total: limits.connections, perAddress: limits.connectionsPerAddress),
            metrics: ServerMetrics(), clock: pages.clock
        ) { request, writer, source in
            let answer = await pages.answer(request.head, from: source.client)
            try await writer.write(
                response: answer.response(at: date.now, isLast: true),
                body: request.method == .head
                    ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
            throw ConnectionEnd()
        }
        let onListening = onListening
        return OperatorsListener(
            listener: Server(
                childChannelSetup: channel,
                configuration: ServerConfiguration(address: .hostname(host, port: port), backlog: 64),
                onServerRunning: { onListening($0.localAddress?.port ?? 0) },
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: HTTPSServer.quiet(logger)),
            failure: .cannotMonitor)
    }

    private static let maximumConnectionCount = 64
}

/// A listener that waits for another one.
private struct LaterListener: Service {
    let listener: any Service
    let otherListens: AsyncStream<Void>

    func run() async throws {
        guard await otherListens.first(where: { _ in true }) != nil else { throw CancellationError() }
        try await listener.run()
    }
}

/// A listener for operators, whose failure to listen is not that of the server's own address.
struct OperatorsListener: Service {
    let listener: any Service
    let failure: ServerStop

    func run() async throws {
        do { try await listener.run() } catch {
            // In use, not ours, or a name that is none.
            throw error is IOError || error is NIOConnectionError || error is SocketAddressError
                || error is SocketAddressError.UnknownHost
                ? failure : error
        }
    }
}

/// What a server answers at the ``MonitoringAddress``: `/health`, `/ready` and `/metrics`, and nothing else.
struct OperatorPages: Sendable {
    let clock: ServerClock
    /// The answer to a request for one of the three.
    let page: @Sendable (Route, ConnectionClient) async -> Answer

    fileprivate func answer(_ head: HTTPRequest, from client: ConnectionClient) async -> Answer {
        switch Destination(method: head.method.rawValue, path: head.path ?? "", parts: PartTable([])) {
        case .route(let route) where [.health, .ready, .metrics].contains(route): await page(route, client)
        default: .refusal(.notFound)
        }
    }
}

extension RequestAnswering {
    /// The pages of a directory's server.
    var operatorPages: OperatorPages {
        var answering = self
        answering.operators = .everyone
        return OperatorPages(clock: clock) { [answering] route, client in
            let request = ReceivedRequest(
                destination: .route(route), method: route.method, path: route.path, signature: nil, body: [],
                client: client.address)
            do { return try await answering.answer(request) } catch { return .refusal(.unavailable) }
        }
    }
}

extension HTTPSServer.Configuration {
    /// Who sees what is for operators at the server's own address.
    var operators: OperatorAudience {
        if monitoring != nil { return .elsewhere }
        return showsMetricsToAll ? .everyone : .loopback
    }
}
