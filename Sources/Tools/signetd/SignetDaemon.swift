// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandWords
import Foundation
import SignetAPI

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
        do {
            let configured = try Run.configured(arguments, environment: ProcessInfo.processInfo.environment)
            if let typo = typo(configured) { exit(withError: ValidationError(typo)) }
            await main(configured)
        } catch { exit(withError: Diagnostics.exit(error)) }
    }

    /// What to say of a word that is no command or option; nil if all are known, or if the parser knows better.
    private static func typo(_ arguments: [String]) -> String? {
        let helpWanted = arguments.first == "help"
        let words = helpWanted ? Array(arguments.dropFirst()) : arguments
        if !helpWanted, arguments.last != "--help" {
            do {
                _ = try parseAsRoot(arguments)
                return nil
            } catch { guard exitCode(for: error) == .validationFailure else { return nil } }
        }
        return Typo(words, under: Self.self).finding.map { "\($0.what) \($0.remedy)" }
    }
}

/// Where the data is; the same for every command.
struct DataOption: ParsableArguments {
    @Option(name: .long, help: ArgumentHelp("The data directory.", valueName: "directory"))
    var data: String
}
