// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandWords
import Platform
import SignetAPI

/// The command line.
@main
struct Signet: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signet",
        abstract: "Find out whose keys are whose, without trusting the directory that says so.",
        discussion: """
            Everything of one account lives in a home folder: --home DIR, else $SIGNET_HOME, else ~/.signet.
            The passphrase comes from --passphrase-file FILE, else $SIGNET_PASSPHRASE, else the terminal.

            Examples:
              signet account create alice@example.org --directory directory.signet
              signet people add bob@example.org
              signet notes new Groceries "Milk and bread"

            \(ExitStatus.documentation)
            """,
        version: Release.version,
        groupedSubcommands: [
            CommandGroup(
                name: "Start",
                subcommands: [
                    AccountCommand.self, Status.self, Unlock.self, Lock.self, Devices.self, Identity.self,
                    UserInterface.self, Doctor.self, AgentProcess.self,
                ]),
            CommandGroup(name: "People", subcommands: [People.self, Meet.self, Lookup.self]),
            CommandGroup(name: "Notes", subcommands: [Notes.self]),
            CommandGroup(name: "Calls", subcommands: [Call.self]),
            CommandGroup(name: "Recovery", subcommands: [Guardians.self, GuardianCommand.self, Recover.self]),
            CommandGroup(
                name: "Sites and cards", subcommands: [Sites.self, CardCommand.self, CardsCommand.self, Show.self]),
            CommandGroup(
                name: "Check the directory",
                subcommands: [
                    Monitor.self, Gossip.self, Log.self, Audit.self, EvidenceCommand.self, DirectoryCommand.self,
                    VerifyPage.self,
                ]),
            CommandGroup(name: "Experts", subcommands: [Pins.self, PolicyCommand.self, Proof.self, Advanced.self]),
        ])

    static func main() async {
        Output.occupyStandardStreams()
        ProcessMemory.writeNoCore()
        Passphrase.takeFromEnvironment()
        // A reader that went away ends the program when it next writes, without a crash.
        signal(SIGPIPE, SIG_IGN)
        let arguments = helpAsOption(globalOptionsLast(Array(CommandLine.arguments.dropFirst())))
        do {
            var command = try parse(arguments)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
            await OwnAccountWatch.finish()
        } catch let failure as CommandFailure {
            failure.report(asJSON: CommandLine.arguments.contains("--json"))
            await OwnAccountWatch.finish()
            Self.exit(withError: ExitCode(failure.status.rawValue))
        } catch {
            leave(with: error)
        }
    }

    /// Prints the parser's help, or what it found wrong, and ends the program.
    private static func leave(with error: any Error) -> Never {
        let (text, status) = (fullMessage(for: error), exitCode(for: error))
        // Scripts for shells and descriptions for programs are not for reading.
        guard ["OVERVIEW:", "USAGE:", "Error:"].contains(where: text.hasPrefix) else { exit(withError: error) }
        if status == .success { Output.line(text) } else { Output.error(text) }
        exit(withError: status)
    }

    /// Parses the arguments; a word that is no command or option is named, with the one that was probably meant.
    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        // Help is given for what there is.
        if arguments.last == "--help", let failure = typo(arguments) { throw failure }
        do { return try parseAsRoot(arguments) } catch {
            guard exitCode(for: error) == .validationFailure, let failure = typo(arguments) else { throw error }
            throw failure
        }
    }

    private static func typo(_ arguments: [String]) -> CommandFailure? {
        Typo(arguments, under: Self.self, globalOptions: globalOptions).finding.map {
            CommandFailure(.usage, $0.what, $0.remedy)
        }
    }

    /// `signet notes help` and `signet help notes` are `signet notes --help`; a note may be called "help" all the same.
    static func helpAsOption(_ arguments: [String]) -> [String] {
        if arguments.first == "help", arguments.count > 1 {
            return globalOptionsLast(Array(arguments.dropFirst())) + ["--help"]
        }
        guard arguments.last == "help" else { return arguments }
        let path = CommandPath(arguments.dropLast(), under: Self.self)
        guard path.names.count > 1, path.isGroup, path.rest.isEmpty else { return arguments }
        return arguments.dropLast() + ["--help"]
    }

    /// The options that may stand before the command.
    static let globalOptions = ["--home", "--passphrase-file"]

    /// `signet --home DIR lookup …` is `signet lookup … --home DIR`. A command that has no use for one of these options does without.
    static func globalOptionsLast(_ arguments: [String]) -> [String] {
        var rest = arguments[...]
        var given: [[String]] = []
        while let first = rest.first, globalOptions.contains(String(first.prefix { $0 != "=" })) {
            var option = [rest.removeFirst()]
            if !first.contains("="), let value = rest.popFirst() { option.append(value) }
            given.append(option)
        }
        guard !given.isEmpty else { return arguments }
        let known = CommandPath(Array(rest), under: Self.self).options
        let options = given.filter { known.contains(String($0[0].prefix { $0 != "=" })) }.flatMap(\.self)
        let end = rest.firstIndex(of: "--") ?? rest.endIndex
        return Array(rest[..<end]) + options + Array(rest[end...])
    }
}
