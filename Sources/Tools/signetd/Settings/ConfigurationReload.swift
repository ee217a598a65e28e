// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Foundation
import Logging
import SignetServer
import Synchronization

/// Reads the configuration file again when the process gets SIGHUP, and takes what can change while the server runs.
///
/// The environment and the command line are those of the start; they override the file as at the start.
final class ConfigurationReload: Sendable {
    private let file: String
    private let server: HTTPSServer?
    private let level: LevelInForce
    private let logger: Logger
    /// The settings as they were taken last, or at the start.
    private let taken: Mutex<[Setting: String]>

    /// - Parameters:
    ///   - run: the command as it was started.
    ///   - server: whose limits change; nil for a process that only sequences, of which the level of remarks changes.
    /// - Returns: nil if it names no configuration file.
    init?(_ run: Run, _ server: HTTPSServer?, _ level: LevelInForce, _ logger: Logger) {
        guard let file = run.config.config else { return nil }
        (self.file, self.server, self.level) = (file, server, level)
        var logger = logger
        logger.logLevel = .notice  // what the operator asked for is answered at every level
        self.logger = logger
        taken = Mutex(Self.settings(file).values)
    }

    /// Answers SIGHUP from now on, until the source is cancelled.
    func begin() -> any DispatchSourceSignal {
        signal(SIGHUP, SIG_IGN)
        let source = DispatchSource.makeSignalSource(
            signal: SIGHUP, queue: DispatchQueue(label: "signetd.configuration"))
        source.setEventHandler { self.reload() }
        source.activate()
        return source
    }

    private func reload() {
        let settings = Self.settings(file)
        for fault in settings.faults {
            logger.error("the configuration is wrong", metadata: ["fault": "\(Verdict.of(fault).sentence)"])
        }
        guard settings.faults.isEmpty, let (run, configuration) = commanded(by: settings) else {
            logger.error("the configuration was not taken; the former one stays in force")
            return
        }
        server?.change(to: configuration)
        level.change(to: run.logLevel)
        run.warnOfFewFiles(logger)
        let changed = taken.withLock { taken in
            let changed = Setting.allCases.filter {
                taken[$0] != settings.values[$0] && !Settings.isGiven($0, in: Self.given)
            }
            for setting in changed where setting.isReloadable { taken[setting] = settings.values[setting] }
            return changed
        }
        logger.notice("configuration read again", metadata: ["changed": "\(Self.list(changed.filter(\.isReloadable)))"])
        let waiting = changed.filter { !$0.isReloadable }
        if !waiting.isEmpty {
            logger.warning("these settings change at the next start", metadata: ["settings": "\(Self.list(waiting))"])
        }
    }

    /// The command that the settings and the command line make.
    private func commanded(by settings: Settings) -> (Run, HTTPSServer.Configuration)? {
        do {
            let run = try Run.parse(settings.arguments(besides: Self.given) + Self.given)
            return (run, try run.serverConfiguration())
        } catch {
            logger.error("the configuration is wrong", metadata: ["fault": "\(Run.message(for: error))"])
            return nil
        }
    }

    private static func settings(_ file: String) -> Settings {
        Settings(file: file, environment: ProcessInfo.processInfo.environment)
    }

    /// The arguments of `run`.
    private static var given: [String] { Array(CommandLine.arguments.dropFirst(2)) }

    private static func list(_ settings: [Setting]) -> String {
        settings.isEmpty ? "nothing" : settings.map(\.rawValue).joined(separator: ",")
    }
}

/// The level from which on remarks are written. It can change while the server runs.
final class LevelInForce: Sendable {
    private let level: Mutex<Logger.Level>

    init(_ level: Logger.Level) { self.level = Mutex(level) }

    var value: Logger.Level { level.withLock { $0 } }

    func change(to level: Logger.Level) { self.level.withLock { $0 = level } }
}

extension Setting {
    /// Whether a running server takes a change of it, after SIGHUP.
    var isReloadable: Bool {
        switch self {
        case .accountRate, .byInvitation, .connections, .connectionsPerAddress, .logLevel, .rate: true
        default: false
        }
    }
}
