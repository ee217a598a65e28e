// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// `signetd config`
struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "Look at the configuration of `signetd run`.",
        discussion: """
            A configuration file has lines `key = value`; a line that begins with # is a comment. A key is the name of an option \
            of `signetd run` without the dashes: `bind = 127.0.0.1:8443`. Options that take no value are true or \
            false: `open-metrics = true`. Paths that do not begin with / begin where the server is started.

            The environment may set the same: SIGNETD_BIND, SIGNETD_OPEN_METRICS. The command line is stronger than the \
            environment, and the environment is stronger than the file. A key or a variable SIGNETD_… that is no \
            setting is an error, and the server does not start. --accept-restored is for one start, and no setting.
            """,
        subcommands: [CheckConfig.self])
}

/// `signetd config check`
struct CheckConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Say everything that is wrong with a configuration file and the environment.",
        discussion: "Nothing is changed or started. Exit codes: 0 nothing is wrong; 78 something is, a line each.")

    @OptionGroup var file: ConfigOption

    func run() throws {
        let settings = Settings(file: file.config, environment: ProcessInfo.processInfo.environment)
        for fault in settings.faults { print("wrong: \(Verdict.of(fault).sentence)") }
        guard settings.faults.isEmpty else { throw ExitCode(DaemonStatus.misconfigured.rawValue) }
        print("nothing is wrong")
    }
}

/// Where the configuration is.
struct ConfigOption: ParsableArguments {
    static let name = "--config"

    @Option(
        help: ArgumentHelp(
            "A file with settings; see `signetd config --help`. Options are stronger.", valueName: "file"))
    var config: String?
}

extension Run {
    /// The arguments of `run` with the settings of the file that they name, and of the environment, before them.
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

    /// Help is there for a server whose configuration is wrong, too.
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

/// The settings are wrong.
struct SettingsError: Error {
    /// At least one.
    let faults: [SettingFault]
}
