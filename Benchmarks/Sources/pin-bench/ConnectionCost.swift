// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import Measuring
import PinScenarios
import PinnedChains
import PinnedHTTP
import SignetClient

/// Processor time of connection, request and answer: without pins, with pins and a chain that was verified before, and
/// with pins and a chain that is verified anew. All trust the same roots: those of the system, where it has a list, and
/// the scenario's.
struct ConnectionCost {
    private enum Way: Int, CaseIterable {
        case unpinned, cached, cold
    }

    private let server: BenchServer
    private let plain: PlainClient
    private let cached: NIOTransport
    private let cold: NIOTransport
    private let verifier: ChainVerifier
    private let rootCount: Int
    private let presented: [[UInt8]]

    init(_ scenario: PinScenario, _ server: BenchServer) throws {
        let roots = scenario.anchors + (TrustAnchors.ofSystem()?.anchors.certificates ?? [])
        rootCount = roots.count
        presented = scenario.presented
        self.server = server
        plain = try PlainClient(port: server.port, trusting: roots)
        verifier = ChainVerifier(policy: try scenario.policy(), anchors: TrustAnchors(readable: roots))
        let address = try ServerAddress("https://\(PinScenario.host):\(server.port)")
        cached = NIOTransport(to: address, through: try PinnedConnector(verifier, environment: .staging))
        cold = NIOTransport(
            to: address, through: try PinnedConnector(verifier, environment: .staging, cacheCapacity: 0))
    }

    /// Measures and prints.
    ///
    /// - Returns: the client's time for an unpinned connection, in nanoseconds.
    func report() async throws -> Double {
        var (both, client) = ([[Double]](), [[Double]]())
        for round in -1..<times(60) {
            var (sum, own) = ([Double](repeating: 0, count: 3), [Double](repeating: 0, count: 3))
            for place in 0..<3 {
                let index = (place + round + 3) % 3
                (sum[index], own[index]) = try await cost(Way.allCases[index], connections: 20)
            }
            guard round >= 0 else { continue }  // the first round warms up
            both.append(sum)
            client.append(own)
        }
        Report.title("A connection with one request, \(rootCount) roots; processor time, medians of rounds")
        show(both, "client and server")
        show(client, "client alone")
        Report.line("verification of a new chain by itself", try await verification() / 1000, "µs")
        return median(client.map { $0[Way.unpinned.rawValue] })
    }

    /// Trust and pins, without a connection.
    private func verification() async throws -> Double {
        guard let host = try? ServerName(PinScenario.host.utf8) else { return .nan }
        let now = Surroundings.system.now()
        var figures: [Double] = []
        for _ in 0..<times(60) {
            let start = processTime()
            for _ in 0..<20 { keep(try await verifier.verify(presented, for: host, at: now)) }
            figures.append((processTime() - start) / 20)
        }
        return median(figures)
    }

    private func show(_ rounds: [[Double]], _ whose: String) {
        Report.line("\(whose): unpinned NIOSSL", median(rounds.map { $0[0] }) / 1000, "µs")
        Report.line("\(whose): pinned, chain known", median(rounds.map { $0[1] }) / 1000, "µs")
        Report.line("\(whose): pinned, chain new", median(rounds.map { $0[2] }) / 1000, "µs")
        Report.goal("\(whose): known ÷ unpinned", median(rounds.map { $0[1] / $0[0] }), atMost: 1, isPeer: true)
        Report.goal("\(whose): new ÷ unpinned", median(rounds.map { $0[2] / $0[0] }), atMost: 1.25, isPeer: true)
    }

    /// For one connection: of the whole process, and of the process without the server's thread.
    private func cost(_ way: Way, connections: Int) async throws -> (both: Double, client: Double) {
        let (start, serverStart) = (processTime(), try await server.processorTime())
        for _ in 0..<connections { try await connect(way) }
        let (end, serverEnd) = (processTime(), try await server.processorTime())
        let count = Double(connections)
        return ((end - start) / count, (end - start - serverEnd + serverStart) / count)
    }

    private func connect(_ way: Way) async throws {
        let body =
            switch way {
            case .unpinned: try await plain.get()
            case .cached: try await cached.send(Self.request).body
            case .cold: try await cold.send(Self.request).body
            }
        guard body.count == 8 else { throw NoAnswer() }
    }

    private struct NoAnswer: Error {}
    private static let request = TransportRequest(
        method: "GET", path: "/", limit: ResponseLimit(maximumByteCount: 100, mediaType: nil))
}
