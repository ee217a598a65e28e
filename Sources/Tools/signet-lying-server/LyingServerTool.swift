// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import Foundation
import KeyDirectory
import Logging
import Platform
import SecretMemory
import SignetAPI
import SignetClient
import SignetServer
public import SignetTesting

/// A real directory server that lies in one way, or servers with forged certificates. A development tool: `signetd` and
/// `signet` have no such modes.
@main
struct LyingServerTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signet-lying-server",
        abstract: "Serve a data directory made by signetd, with one attack on every lookup.",
        discussion: """
            For testing clients. It holds all of the server's keys, as an attacker inside the server would. Give it \
            a copy of a data directory: some attacks write to the log.
            """,
        version: Release.version,
        subcommands: [Run.self, List.self, NotesLies.self, PinsLies.self, CallLies.self, CertificateLies.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the attacks, one per line: name, tab, description.")

        func run() {
            for attack in Attack.allCases { print("\(attack.rawValue)\t\(attack.summary)") }
        }
    }

    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Serve and lie.")

        @Option(help: ArgumentHelp("A copy of a data directory made by signetd init.", valueName: "dir"))
        var data: String

        @Option(help: "The attack to make; see list.")
        var attack: Attack

        @Option(
            help: ArgumentHelp(
                "With replaced-account: the home folder of a guardian who takes part; may be repeated. $SIGNET_PASSPHRASE opens it.",
                valueName: "dir"))
        var guardian: [String] = []

        @Flag(
            name: .customLong("no-history"),
            help: "Answer no request for a history, so that no one's monitor sees what was logged.")
        var hidesHistory = false

        @Option(help: "The port to listen on at 127.0.0.1; 0 for any.")
        var port = 8443

        @Option(
            help: ArgumentHelp(
                "Serve the log explorer at /explore, too: a folder that Scripts/explorer built.", valueName: "folder"))
        var explorer: String?

        func validate() throws {
            guard guardian.isEmpty || attack == .replacedAccount else {
                throw ValidationError("Guardians take part only in replaced-account.")
            }
        }

        private func conspiracy() throws -> Conspiracy? {
            guard !guardian.isEmpty else { return nil }
            let passphrase = ProcessInfo.processInfo.environment["SIGNET_PASSPHRASE"] ?? ""
            return try Conspiracy(
                of: guardian.map { HomeFolder(path: $0) }, opening: SecretBytes(copying: passphrase.utf8),
                beside: DataDirectory(path: data).recovery)
        }

        func run() async throws {
            let logger = Logger(label: "signet-lying-server") { _ in SwiftLogNoOpLogHandler() }
            let stored = try await StoredDirectory.open(DataDirectory(path: data), logger: logger)
            let lying = try LyingDirectory(
                stored, keysIn: DataDirectory(path: data).keys, attack: attack, with: conspiracy(),
                hidingHistory: hidesHistory)
            var configuration = HTTPSServer.Configuration()
            configuration.port = port
            configuration.republishInterval = nil
            configuration.explorer = try explorer.map { try ExplorerFiles(at: $0, beside: DataDirectory(path: data)) }
            let pins = try PinsAnswering(
                DataDirectory(path: data), beside: stored, clock: ServerClock.system.time, logger: logger)
            let server = try HTTPSServer(
                answering: lying, and: [pins], identity: stored.identity, configuration: configuration, logger: logger)
            try await server.run { port in
                print("listening 127.0.0.1:\(port)")
                fflush(nil)
            }
            await stored.directory.close()
        }
    }
}

extension Attack: ExpressibleByArgument {}
