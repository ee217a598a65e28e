// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import Foundation
import KeyDirectory
import Logging
import SignetServer
public import SignetTesting

/// `signet-lying-server pins`
struct PinsLies: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins", abstract: "Serve honestly, but lie about the server's own pins.")

    @Option(help: ArgumentHelp("A data directory made by signetd init.", valueName: "dir"))
    var data: String

    @Option(help: ArgumentHelp(PinsLie.allCases.map { "\($0.rawValue): \($0.summary)" }.joined(separator: "; ") + "."))
    var lie: PinsLie

    @Option(help: "The port to listen on at 127.0.0.1; 0 for any.")
    var port = 8443

    func run() async throws {
        let logger = Logger(label: "signet-lying-server") { _ in SwiftLogNoOpLogHandler() }
        let data = DataDirectory(path: data)
        let stored = try await StoredDirectory.open(data, logger: logger)
        let pins = LyingPins(
            try PinsAnswering(data, beside: stored, clock: ServerClock.system.time, logger: logger), lie: lie)
        var configuration = HTTPSServer.Configuration()
        configuration.port = port
        let server = try HTTPSServer(
            answering: DirectoryAdapter(stored.directory), and: [pins], identity: stored.identity,
            configuration: configuration, logger: logger)
        try await server.run { port in
            print("listening 127.0.0.1:\(port)")
            fflush(nil)
        }
        await stored.directory.close()
    }
}

extension PinsLie: ExpressibleByArgument {}
