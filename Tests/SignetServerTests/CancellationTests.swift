// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix
import Testing

@testable import SignetServer

/// A server whose task is cancelled while clients connect.
@Suite struct CancellationTests {
    @Test(.timeLimit(.minutes(5))) func aServerCancelledDuringNewConnectionsEnds() async throws {
        let authority = try DevelopmentAuthority(hosts: [.name("localhost")], at: TestPerson.now)
        for round in 0..<100 {
            let server = try server(answering: MadeUpDirectory(), as: authority)
            let (ports, report) = AsyncStream.makeStream(of: Int.self)
            let serving = Task { try await server.run(stoppingOnSignals: false) { report.yield($0) } }
            var clients: [Task<Void, Never>] = []
            for await port in ports {
                clients = (0..<3).map { _ in Task { await Self.connectUntilRefused(port) } }
                for _ in 0..<round % 20 { await Task.yield() }
                break
            }
            serving.cancel()
            _ = await serving.result
            for client in clients { await client.value }
        }
    }

    /// Connects and disconnects until the server no longer listens.
    private static func connectUntilRefused(_ port: Int) async {
        let client = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        while let channel = try? await client.connect(host: "127.0.0.1", port: port).get() {
            channel.close(promise: nil)
        }
    }
}
