// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import FrameRelay
import KeyDirectory
import Logging
import SignetServer

/// `signet-lying-server calls`
struct CallLies: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "Serve honestly, but help a member of a call to send frames in another member's name.")

    @Option(help: ArgumentHelp("A data directory made by signetd init.", valueName: "dir"))
    var data: String

    @Option(help: "The port to listen on at 127.0.0.1; 0 for any.")
    var port = 8443

    func run() async throws {
        let logger = Logger(label: "signet-lying-server") { _ in SwiftLogNoOpLogHandler() }
        let stored = try await StoredDirectory.open(DataDirectory(path: data), logger: logger)
        let signals = try StoredSignals.open(DataDirectory(path: data))
        let relay = try await RelayServer.startConniving(host: "127.0.0.1", port: port)
        let calls = CallAnswering(signals, relay: relay)
        var configuration = HTTPSServer.Configuration()
        configuration.port = port
        configuration.limits.addressRate = .unlimited
        configuration.limits.connectionRate = .unlimited
        configuration.limits.accountRate = .unlimited
        let server = try HTTPSServer(
            answering: DirectoryAdapter(stored.directory), and: [calls], signals: signals, identity: stored.identity,
            configuration: configuration, logger: logger)
        try await server.run { port in
            print("listening 127.0.0.1:\(port)")
            fflush(nil)
        }
        await calls.close()
        await stored.directory.close()
    }
}
