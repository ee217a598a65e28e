// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import Foundation
import KeyDirectory
import KeyTransparency
import Logging
import SignetServer
public import SignetTesting

/// `signet-lying-server notes`
struct NotesLies: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "notes", abstract: "Serve honestly, but lie to some people about their notes.")

    @Option(help: ArgumentHelp("A data directory made by signetd init.", valueName: "dir"))
    var data: String

    @Option(help: ArgumentHelp(NoteLie.allCases.map { "\($0.rawValue): \($0.summary)" }.joined(separator: "; ") + "."))
    var lie: NoteLie

    @Option(help: ArgumentHelp("An earlier copy of the data directory, for frozen-writer.", valueName: "dir"))
    var past: String?

    @Option(help: ArgumentHelp("Who is lied to; may be repeated.", valueName: "handle"))
    var to: [String] = []

    @Option(help: "The port to listen on at 127.0.0.1; 0 for any.")
    var port = 8443

    func run() async throws {
        let logger = Logger(label: "signet-lying-server") { _ in SwiftLogNoOpLogHandler() }
        let stored = try await StoredDirectory.open(DataDirectory(path: data), logger: logger)
        let truth = try await StoredNotes.open(
            DataDirectory(path: data), beside: stored.directory, logger: logger)
        var before: NotesAnswering?
        if let past { before = try await StoredNotes.open(DataDirectory(path: past), logger: logger) }
        let victims = Set(try to.map { try Handle(typed: Array($0.utf8)) })
        let notes = LyingNotes(truth, past: before, lie: lie, to: victims)
        var configuration = HTTPSServer.Configuration()
        configuration.port = port
        configuration.limits.addressRate = .unlimited
        configuration.limits.connectionRate = .unlimited
        configuration.limits.accountRate = .unlimited
        let pins = try PinsAnswering(
            DataDirectory(path: data), beside: stored, clock: ServerClock.system.time, logger: logger)
        let server = try HTTPSServer(
            answering: DirectoryAdapter(stored.directory), and: [pins, notes], identity: stored.identity,
            configuration: configuration, logger: logger)
        try await server.run { port in
            print("listening 127.0.0.1:\(port)")
            fflush(nil)
        }
        await notes.close()
        await stored.directory.close()
    }
}

extension NoteLie: ExpressibleByArgument {}
