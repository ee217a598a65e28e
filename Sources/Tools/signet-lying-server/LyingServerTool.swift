public import ArgumentParser
import KeyDirectory
import Logging
import SignetServer
public import SignetTesting

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A real directory server that lies in one way. A development tool: `signetd` has no such mode.
@main
struct LyingServerTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signet-lying-server",
        abstract: "Serve a data directory made by signetd, with one attack on every lookup.",
        discussion: """
            For tests of clients. It holds all of the server's keys, as an attacker inside the server would. Give it \
            a copy of a data directory: some attacks write to the log.
            """,
        subcommands: [Run.self, List.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Name the attacks, one line each: name, tab, what it is.")

        func run() {
            for attack in Attack.allCases { print("\(attack.rawValue)\t\(attack.summary)") }
        }
    }

    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Serve and lie.")

        @Option(help: ArgumentHelp("A copy of a data directory made by signetd init.", valueName: "dir"))
        var data: String

        @Option(help: "What to do; see list.")
        var attack: Attack

        @Option(help: "The port to listen at on 127.0.0.1; 0 for any.")
        var port = 8443

        func run() async throws {
            let logger = Logger(label: "signet-lying-server") { _ in SwiftLogNoOpLogHandler() }
            let stored = try await StoredDirectory.open(DataDirectory(path: data), logger: logger)
            let lying = try LyingDirectory(stored, keysIn: DataDirectory(path: data).keys, attack: attack)
            var configuration = HTTPSServer.Configuration()
            configuration.port = port
            configuration.republishInterval = nil
            let server = try HTTPSServer(
                answering: lying, identity: stored.identity, configuration: configuration, logger: logger)
            try await server.run { port in
                print("listening 127.0.0.1:\(port)")
                fflush(nil)
            }
            await stored.directory.close()
        }
    }
}

extension Attack: ExpressibleByArgument {}
