// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import FrameRelay
import KeyDirectory
import Logging
import SignetServer
import SignetTesting

/// `signet-lying-server calls`
struct CallLies: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "Serve honestly, but help a member of a call to send frames in another member's name.",
        discussion: "With --network, help no member, and lose and delay frames instead.")

    @Option(help: ArgumentHelp("A data directory made by signetd init.", valueName: "dir"))
    var data: String

    @Option(help: "The port to listen on at 127.0.0.1; 0 for any.")
    var port = 8443

    @Option(
        help: ArgumentHelp("LOSS,LATENCY,JITTER,SEED, such as 0.05,20,60,1 in milliseconds.", valueName: "network"),
        transform: Self.network)
    var network: BadNetwork?

    func run() async throws {
        let logger = Logger(label: "signet-lying-server") { _ in SwiftLogNoOpLogHandler() }
        let stored = try await StoredDirectory.open(DataDirectory(path: data), logger: logger)
        let signals = try StoredSignals.open(DataDirectory(path: data))
        let parts =
            try await StandardParts.open(DataDirectory(path: data), beside: stored, logger: logger)
            + [CallAnswering(signals, relay: relay())]
        var configuration = HTTPSServer.Configuration()
        configuration.port = port
        configuration.limits.addressRate = .unlimited
        configuration.limits.connectionRate = .unlimited
        configuration.limits.accountRate = .unlimited
        let server = try HTTPSServer(
            answering: DirectoryAdapter(stored.directory), and: parts, signals: signals, identity: stored.identity,
            configuration: configuration, logger: logger)
        try await server.run { port in
            print("listening 127.0.0.1:\(port)")
            fflush(nil)
        }
        for part in parts { await part.close() }
        await stored.directory.close()
    }

    private func relay() async throws -> RelayServer {
        guard let network else { return try await RelayServer.startConniving(host: "127.0.0.1", port: port) }
        return try await RelayServer.start(host: "127.0.0.1", port: port, delay: network.nextDelay)
    }

    static func network(_ text: String) throws -> BadNetwork {
        guard let network = BadNetwork(text) else { throw ValidationError("such as 0.05,20,60,1") }
        return network
    }
}
