// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Platform
import SecretMemory
import Signet

/// `signet unlock`
struct Unlock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Ask for your passphrase once, and not again for a while.",
        discussion: """
            Another process keeps what opens the keys of this home folder, in memory that is never written to the disk, and commands \
            take it from there. It ends after that time, by 'signet lock', and when the keys change. What you do in the name of your \
            identity, such as choosing guardians or signing in at a site, still asks for the passphrase, by name. Until it ends, any \
            program that runs as you can get at your keys as well, and keep them.

            Example: signet unlock --for 15m
            """)

    private static let longest: UInt32 = 12 * 3600

    @Option(name: .customLong("for"), help: ArgumentHelp("How long: 15m or 2h, at most 12h.", valueName: "time"))
    var time = Wait(seconds: 900)
    @OptionGroup var home: HomeOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (1...Self.longest).contains(time.seconds) else { throw ValidationError("--for is from 1s to 12h.") }
    }

    func run() throws {
        let session = try Session(home)
        let keystore = try session.owner()
        let passphrase = try Passphrase.existing(home, "to unlock \(keystore.handle)")
        let key: SecretBytes
        do {
            key = try keystore.passphraseKey(passphrase)
            _ = try session.home.open(keystore, withKey: key)
        } catch { throw CommandFailure(error, path: session.home.keystore.path) }
        _ = AgentClient(of: session.home).end()
        let process = try AgentProcess.start(with: key, of: session.home, seconds: time.seconds)
        let end = Surroundings.system.now() + UInt64(time.seconds)
        output.emit(
            [
                "handle": .string(keystore.handle.description), "process": .number(UInt64(process)),
                "until": .number(end),
            ],
            """
            \(Paint.output.good("✓")) Unlocked until \(Moment.date(end)), for every program that runs as you.
              Sooner: signet lock
            """)
    }
}

/// `signet lock`
struct Lock: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "End what 'signet unlock' began: commands ask for the passphrase again.",
        discussion: "Example: signet lock")

    @OptionGroup var home: ClosedHomeOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let wasUnlocked = AgentClient(of: home.folder).end()
        output.emit(
            ["wasUnlocked": .bool(wasUnlocked)],
            wasUnlocked ? "\(Paint.output.good("✓")) Locked." : "It was not unlocked.")
    }
}

extension AgentClient {
    /// The agent in this session of the user.
    init(of home: HomeFolder) { self.init(of: home, runtime: Environment.value("XDG_RUNTIME_DIR")) }
}
