// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// `signetd config`
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Check the configuration of `signetd run`.",
        discussion: """
            A configuration file has lines `key = value`; a line that begins with # is a comment. A key is the name of \
            an option of `signetd run` without the dashes: `bind = 127.0.0.1:8443`. An option that takes no value is \
            true or false: `open-metrics = true`. A path that does not begin with / is relative to the folder in which \
            the server starts.

            Environment variables can give the same settings: SIGNETD_BIND, SIGNETD_OPEN_METRICS. The command line \
            overrides the environment, and the environment overrides the file. If a key or a variable SIGNETD_… is not \
            a setting, the server reports it and does not start. --accept-restored, --accept-lost-notes and --accept-clock apply to one \
            start only, so they are no settings.
            """,
        subcommands: [CheckConfig.self])
}

/// `signetd config check`
struct CheckConfig: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "List every error in a configuration file and in the environment.",
        discussion: "The command changes nothing. Exit codes: 0 nothing is wrong; 78 each error has one line.")

    @OptionGroup var file: ConfigOption

    func run() async throws {
        let settings = Settings(file: file.config, environment: ProcessInfo.processInfo.environment)
        var faults = settings.faults
        if let path = settings.values[.registration], let policy = try? RegistrationFile.policy(at: path) {
            do { _ = try await RegistrationFile.keys(of: policy) } catch { faults.append(error) }
        }
        var sentences = faults.map { Verdict.of($0).sentence }
        let contradictions = faults.isEmpty ? Run.contradictions(in: settings) : Run.Contradictions()
        sentences += contradictions.sentences
        for sentence in sentences { print("wrong: \(sentence)") }
        if contradictions.isDataUnread {
            print("not checked: what depends on the data directory, which this user cannot read")
        }
        guard sentences.isEmpty else { throw ExitCode(DaemonStatus.misconfigured.rawValue) }
        print("nothing is wrong")
    }
}

/// The option that names the configuration file.
struct ConfigOption: ParsableArguments {
    static let name = "--config"

    @Option(
        help: ArgumentHelp(
            "A file with settings; see `signetd config --help`. Options override it.", valueName: "file"))
    var config: String?
}

extension Run {
    /// The arguments of `run`, preceded by the settings of the environment and of the file that the arguments name.
    ///
    /// - Throws: ``SettingsError``.
    static func configured(_ arguments: [String], environment: [String: String]) throws(SettingsError) -> [String] {
        guard arguments.first == configuration.commandName, !arguments.contains(where: isAboutItself) else {
            return arguments
        }
        let given = Array(arguments.dropFirst())
        let settings = Settings(file: file(in: given), environment: environment)
        guard settings.faults.isEmpty else { throw SettingsError(faults: settings.faults) }
        return arguments.prefix(1) + settings.arguments(besides: given) + given
    }

    /// Whether the arguments ask for help or the version, which are printed even if the configuration has errors.
    private static func isAboutItself(_ argument: String) -> Bool {
        ["-h", "--help", "--version"].contains(argument)
    }

    private static func file(in arguments: [String]) -> String? {
        let prefix = ConfigOption.name + "="
        if let argument = arguments.last(where: { $0.hasPrefix(prefix) }) {
            return String(argument.dropFirst(prefix.count))
        }
        let place = arguments.lastIndex(of: ConfigOption.name).map { $0 + 1 }
        return place.flatMap { $0 < arguments.count ? arguments[$0] : nil }
    }
}

/// The errors in the settings.
struct SettingsError: Error {
    /// The errors, at least one.
    let faults: [SettingFault]
}
