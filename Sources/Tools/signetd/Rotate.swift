// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import KeyDirectory
import Logging
import SignetServer
import TransparencyLog

/// `signetd rotate`
struct Rotate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Change the log's key, its witnesses or the TLS key without locking anyone out.",
        discussion: """
            The change is logged and cosigned under the old keys and witnesses first; clients then follow it by \
            themselves, however long they were offline. If fewer or other witnesses suffice after a change, clients \
            ask their user about it. The server must not be running, except for tls; where several machines share the \
            directory, none of them may. If it is interrupted, run the \
            same command again to complete it. shared-secret concerns no client, and the server may be running.
            """,
        subcommands: [LogKey.self, Witnesses.self, TLS.self, FrontEnds.self, LoginKey.self])

    struct Surroundings: ParsableArguments {
        @OptionGroup var data: DataOption
        @OptionGroup var serving: Serving

        var directory: DataDirectory { DataDirectory(path: data.data) }

        func rotation() throws -> DirectoryKeyRotation { try serving.rotation(of: directory) }

        /// Where several machines share a directory: what the others need before they start.
        func printCopies(isOfKey: Bool) {
            guard FileManager.default.fileExists(atPath: directory.engines) else { return }
            print("copy to every other machine: directory.signet, history/succession")
            guard isOfKey else { return }
            print("copy to those that sequence, and to no front end: keys/log.key")
            print(
                "delete the old keys/log.key everywhere else, "
                    + "and let the operators of the witnesses remove the old key")
        }
    }

    /// Whom to trust, and where to serve, while a change is being witnessed.
    struct Serving: ParsableArguments {
        @OptionGroup var offline: LogWritingOptions

        @Option(
            help: ArgumentHelp(
                "Serve here in the meantime, as the server does: auditors among the witnesses read what they cosign.",
                valueName: "host:port"))
        var bind: String?

        func rotation(of directory: DataDirectory) throws -> DirectoryKeyRotation {
            DirectoryKeyRotation(
                directory, witnessRoots: try offline.roots(), guarding: try offline.guarding(directory),
                serving: try serving(), logger: Diagnostics.logger(.error))
        }

        private func serving() throws -> HTTPSServer.Configuration? {
            guard let bind else { return nil }
            guard let address = SocketName(bind, defaultPort: 8443) else {
                throw ValidationError("--bind: host:port, such as 127.0.0.1:8443 or [::1]:8443")
            }
            var configuration = HTTPSServer.Configuration()
            configuration.host = address.host
            configuration.port = address.port
            return configuration
        }
    }

    /// `signetd rotate log-key`
    struct LogKey: AsyncParsableCommand, FolderCommand {
        static let configuration = CommandConfiguration(
            commandName: "log-key", abstract: "Give the log another key.",
            discussion: """
                First run it with --announce: it makes the key and prints it, and does nothing else. Give that key to \
                the operators of the witnesses (`signetd witness add-log`), then run it without --announce. It asks the \
                witnesses first whether they know the key. An auditor among them learns it from the log alone: where the quorum \
                needs one, add --untried.

                The key that was announced stays the next one, however often it is asked for. After a break-in it is the thief's too, or \
                one that the thief has put there: --announce --anew makes another one, and says which one it discards.
                """)

        @OptionGroup var surroundings: Surroundings

        var data: DataOption { surroundings.data }

        @Flag(help: "Only make the next key and print it.")
        var announce = false

        @Flag(help: "With --announce: discard the next key that was announced before, and make another one.")
        var anew = false

        @Flag(help: "Do not ask the witnesses first.")
        var untried = false

        @Option(
            name: .customLong("pkcs11"),
            help: TokenOption.help("With --announce: the next key is there, and none is made."),
            transform: TokenOption.address)
        var token: TokenAddress?

        func validate() throws {
            guard token == nil || announce else { throw ValidationError("--pkcs11: only with --announce") }
            guard !anew || announce else { throw ValidationError("--anew: only with --announce") }
        }

        func run() async throws {
            let rotation = try surroundings.rotation()
            do {
                if anew {
                    let made = try await rotation.announceAnotherLogKey(in: token)
                    // The next key alone is on the standard output, for a file.
                    if let discarded = made.discarded {
                        let key = String(decoding: discarded.encoded, as: UTF8.self)
                        Diagnostics.complain("discarded: \(key)")
                        Diagnostics.complain("every witness that was told of it has to delete its line vkey from logs")
                    }
                    print(String(decoding: made.key.encoded, as: UTF8.self))
                } else if announce {
                    print(String(decoding: try rotation.announceLogKey(in: token).encoded, as: UTF8.self))
                } else {
                    _ = try await rotation.rotateLogKey(untried: untried)
                    print("the log has its new key; for new clients: \(surroundings.directory.profile)")
                    surroundings.printCopies(isOfKey: true)
                }
            } catch { throw Diagnostics.exit(error) }
        }
    }

    /// `signetd rotate witnesses`
    struct Witnesses: AsyncParsableCommand, FolderCommand {
        static let configuration = CommandConfiguration(
            commandName: "witnesses", abstract: "Require other witnesses: lines of a C2SP tlog-policy, as for init.",
            discussion: """
                First asks the new witnesses whether they know this log: where too few do, nothing could be published any more, and the \
                next change would need them too.
                """)

        @OptionGroup var surroundings: Surroundings

        var data: DataOption { surroundings.data }

        @Flag(help: "Do not ask the new witnesses first.")
        var untried = false

        @Argument(help: "Witnesses, groups and the quorum.")
        var file: String

        func run() async throws {
            let rotation = try surroundings.rotation()
            let lines = try OptionFile.read(file, "the file")
            let completesKey = rotation.hasInterruptedKeyChange
            let isChanged: Bool
            do { isChanged = try await rotation.changeWitnesses(to: lines, untried: untried) != nil } catch {
                throw Diagnostics.exit(error)
            }
            if completesKey { print("a change of the log's key that was interrupted is complete now") }
            guard isChanged || completesKey else {
                return print("these witnesses are required already; nothing was changed")
            }
            print(
                (isChanged ? "other witnesses are required from now on" : "these witnesses are required already")
                    + "; for new clients: \(surroundings.directory.profile)")
            surroundings.printCopies(isOfKey: completesKey)
        }
    }
}
