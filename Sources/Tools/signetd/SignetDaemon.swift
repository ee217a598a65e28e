// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandWords
import Foundation
import SignetAPI
import SignetServer

/// The server of a directory.
@main struct SignetDaemon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signetd",
        abstract: "The server of a Signet directory: accounts, their devices' keys, and the log that vouches for them.",
        discussion: """
            Start with `signetd init`, then `signetd run`. Give the file directory.signet to the people who \
            should trust this server; never let them fetch it from the server itself.

            Exit codes: 0 done; 64 wrong arguments; 65 a file is damaged, does not match or is older than what others have seen; 66 there is no data \
            directory; 69 the address cannot be used; 73 the data directory or backup was not made; 74 the disk failed, \
            nothing acknowledged is lost; 75 busy or ended by force, try again; 77 this user may not do it; 78 the configuration is wrong.
            """,
        version: Release.version,
        subcommands: [
            Initialize.self, Run.self, ConfigCommand.self, Backup.self, Check.self, Restore.self, Accounts.self,
            Erase.self, Rotate.self, Cards.self, Move.self, Repair.self,
            RecoveryKeyCommand.self, Succeed.self, ShowProfile.self, WitnessCommand.self,
        ])

    static func main() async {
        Diagnostics.prepareStandardStreams()
        let arguments = Array(CommandLine.arguments.dropFirst())
        let configured: [String]
        do throws(SettingsError) {
            configured = try Run.configured(arguments, environment: ProcessInfo.processInfo.environment)
        } catch { exit(withError: Diagnostics.exit(error)) }
        do {
            var command = try parse(configured)
            try requireOwnFolders(of: command)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch { exit(withError: error) }
    }

    /// Parses the arguments once; a word that is no command or option is named, with the one that was probably meant.
    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        let helpWanted = arguments.first == "help"
        // Help is given for what there is.
        if helpWanted || arguments.last == "--help" {
            if let typo = typo(helpWanted ? Array(arguments.dropFirst()) : arguments) { throw typo }
        }
        do { return try parseAsRoot(arguments) } catch {
            guard !helpWanted, exitCode(for: error) == .validationFailure, let typo = typo(arguments) else {
                throw error
            }
            throw typo
        }
    }

    private static func requireOwnFolders(of command: any ParsableCommand) throws {
        guard let command = command as? any FolderCommand else { return }
        do { try ForeignFolder.requireNone(onTheWayTo: command.places) } catch { throw Diagnostics.exit(error) }
    }

    private static func typo(_ arguments: [String]) -> ValidationError? {
        Typo(arguments, under: Self.self).finding.map { ValidationError("\($0.what) \($0.remedy)") }
    }
}

/// Where the data is; the same for every command.
struct DataOption: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The data directory.", valueName: "directory"))
    var data: String
}
