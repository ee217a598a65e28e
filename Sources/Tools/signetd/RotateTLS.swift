// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeyPinning
import Logging
import SignetAPI
import SignetServer
import TransparencyLog

extension Rotate {
    /// `signetd rotate tls`
    struct TLS: AsyncParsableCommand, FolderCommand {
        static let configuration = CommandConfiguration(
            commandName: "tls", abstract: "Give the server its reserve TLS key, and publish a new reserve key.",
            discussion: """
                The server may be running: within the interval of --republish, new connections get the new \
                certificate, and then its log tells everyone which keys are valid from now on. Clients that ask within \
                30 days always know the next key, so this is refused until the log has had the reserve key for 30 days. Put \
                tls/backup.key back for it, and move the new one away afterwards. --now does not wait, except for a day after \
                another change: clients ask once a day, and nobody would know the next key. The log is read first: it \
                has to agree with tls/pins, and this machine's clock may not be more than a week after what it signed last.

                --new-reserve forgets the reserve key and publishes another one. --renew has tls/ca.key sign the key in use again, and \
                changes no pins: do so before the certificate ends. --lost makes a new authority, key and \
                reserve key, whatever tls/pins says; clients then need the file that `signetd recovery-key sign` writes.
                """)

        @OptionGroup var data: DataOption

        @Option(
            help: ArgumentHelp(
                "Certificates of the reserve key, PEM, the server's first. Default: one made with tls/ca.key.",
                valueName: "file"))
        var certificate: String?

        @Flag(help: "Do not wait: the key in use was stolen.")
        var now = false

        @Flag(
            help:
                "With --now, within a day of the last change: also lock out the clients that have not asked since then."
        )
        var leaveBehind = false

        @Flag(help: "Keep the key in use, and make another reserve key.")
        var newReserve = false

        @Option(
            help: ArgumentHelp("With --new-reserve: the recovery key that is valid from now on.", valueName: "vkey"))
        var recoveryKey: String?

        @Option(
            help: ArgumentHelp(
                "With --new-reserve: record or refuse: what clients with a proxy in their settings do from now on.",
                valueName: "rule"), transform: Self.proxyRule)
        var proxies: PinPolicy.ProxyRule?

        @Flag(help: "Make another certificate for the key in use, with tls/ca.key, and change no pins.")
        var renew = false

        @Flag(help: "Make a new authority, key and reserve key: all of them are lost.")
        var lost = false

        @Flag(
            help:
                "Go on although this machine's clock is more than a week after what the log signed last: it is right."
        )
        var acceptClock = false

        func validate() throws {
            guard now || !leaveBehind else { throw ValidationError("--leave-behind: only with --now") }
            guard [newReserve, renew, lost].count(where: \.self) <= 1 else {
                throw ValidationError("--new-reserve, --renew and --lost exclude each other")
            }
            guard certificate == nil || !(newReserve || renew || lost) else {
                throw ValidationError("--certificate: only for the reserve key")
            }
            guard (recoveryKey == nil && proxies == nil) || newReserve else {
                throw ValidationError("--recovery-key, --proxies: only with --new-reserve")
            }
        }

        func run() async throws {
            let folder = DataDirectory(path: data.data)
            let pins: DirectoryPins
            do {
                let log = try await PinsInLog.read(folder, logger: Diagnostics.logger(.error))
                let rotation = TLSRotation(folder, after: log, acceptsClock: acceptClock)
                if renew {
                    try await rotation.renew(at: Diagnostics.now())
                    return printRenewed(folder)
                }
                if lost {
                    let profile = try StoredDirectory.readProfile(folder)
                    guard let host = ServerHost(try ServerURL(profile.url).host) else { throw ValidationError("url") }
                    pins = try rotation.replaceAll(for: [host], at: Diagnostics.now())
                } else if newReserve {
                    pins = try rotation.replaceReserve(
                        recoveryKey: try recoveryKey.map(Self.recoveryKey), proxies: proxies, at: Diagnostics.now())
                } else {
                    let chain = try certificate.map { try OptionFile.read($0, "--certificate") }
                    pins = try await rotation.rotate(
                        to: chain, isUrgent: now, leavesBehind: leaveBehind, at: Diagnostics.now())
                }
            } catch let error as ValidationError { throw error } catch { throw Diagnostics.exit(error) }
            print("version \(pins.version) of the pins: the running server adopts it, or the next one to start")
            print("for new clients, once the log has version \(pins.version): \(folder.profile)")
            if FileManager.default.fileExists(atPath: folder.engines) {
                print(
                    "copy within ten minutes to every other machine, those that serve first: directory.signet and the folder tls without "
                        + "backup.key and ca.key; then the log tells clients of the change, and they refuse a front end without them"
                )
            }
            for key in [folder.backupKey, folder.rootKey] where FileManager.default.fileExists(atPath: key) {
                print("move this away from the server: \(key)")
            }
        }

        private func printRenewed(_ folder: DataDirectory) {
            print("\(folder.certificate) is made anew: the running server adopts it, or the next one to start")
            if FileManager.default.fileExists(atPath: folder.engines) {
                print("copy tls/server.pem to every other machine")
            }
            print("move this away from the server: \(folder.rootKey)")
        }

        static func proxyRule(_ word: String) throws -> PinPolicy.ProxyRule {
            guard let rule = PinPolicy.ProxyRule.allCases.first(where: { $0.word == Array(word.utf8) }) else {
                throw ValidationError("record or refuse")
            }
            return rule
        }

        static func recoveryKey(_ text: String) throws -> VerifierKey {
            guard let key = try? VerifierKey(decoding: Array(text.utf8)), key.algorithm == .ed25519 else {
                throw ValidationError("--recovery-key: what `signetd recovery-key make` prints")
            }
            return key
        }
    }
}

/// `signetd recovery-key`
struct RecoveryKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery-key",
        abstract: "The key that brings clients new pins when the server has lost its TLS keys.",
        discussion: "Make it, and sign with it, on a machine other than the server.",
        subcommands: [Make.self, Sign.self])

    /// `signetd recovery-key make`
    struct Make: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "make", abstract: "Make a key, and print its public half for `init --recovery-key`.")

        @Option(help: ArgumentHelp("The name of the log, such as example.org/signet.", valueName: "name"))
        var origin: String

        @Argument(help: ArgumentHelp("Where the secret key goes.", valueName: "file"))
        var file: String

        func run() async throws {
            guard let name = try? KeyName(Array(origin.utf8)) else {
                throw ValidationError("--origin: not a valid name")
            }
            do { print(String(decoding: try PinRecoveryKey.make(for: name, at: file).encoded, as: UTF8.self)) } catch {
                throw Diagnostics.exit(error)
            }
        }
    }

    /// `signetd recovery-key sign`
    struct Sign: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sign",
            abstract: "Sign the server's pins, for `signet pins accept`. Prints the file for clients.")

        @Argument(help: ArgumentHelp("tls/pins of the data directory.", valueName: "pins"))
        var pins: String

        @Option(help: ArgumentHelp("The secret key.", valueName: "file"))
        var key: String

        func run() async throws {
            do { FileHandle.standardOutput.write(Data(try PinRecoveryKey.sign(pins, with: key))) } catch {
                throw Diagnostics.exit(error)
            }
        }
    }
}
