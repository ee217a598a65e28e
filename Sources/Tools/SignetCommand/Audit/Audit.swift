// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CanonicalCoding
import KeyTransparency
import LogAuditor
import Signet
import SignetAPI
import TransparencyLog

/// `signet audit`
struct Audit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "Recompute everything that a directory's log says about itself. Needs no account.",
        discussion: """
            Every entry is read, every rule is checked, every epoch's index is recomputed. What is wrong is kept as
            evidence that anyone can check with 'signet evidence verify'.

            Exit status: 0 all is as it should be; 1 the log broke a rule or its files do not match; 3 network or \
            disk; 64 usage; 65 a file that cannot be used.

            Example: signet audit --directory directory.signet
            """,
        subcommands: [Run.self, Key.self], defaultSubcommand: Run.self)

    /// `signet audit key`
    struct Key: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "key",
            abstract: "Make a cosigning key for an auditor, and an empty record of what it cosigned.",
            discussion: """
                Never restore either file from a backup: the key would cosign a second history.

                Example: signet audit key auditor.example/map --out auditor.key
                """)

        @Argument(help: "The key's name, such as auditor.example/map.") var name: String
        @Option(help: ArgumentHelp("The file to make, with FILE.memory beside it.", valueName: "file")) var out: String
        @OptionGroup var home: HomePlace
        @OptionGroup var output: OutputOptions

        func run() throws {
            guard let name = try? KeyName(Array(name.utf8)) else {
                throw CommandFailure(
                    .usage, "That is not a key's name.", "Use a name without spaces or plus signs.")
            }
            for path in [out, out + ".memory"] { try OutputFile.checkRoom(path, outside: home.folder) }
            let key: VerifierKey
            do { key = try AuditorKey.create(name, at: out) } catch { throw CommandFailure(error) }
            output.emit(
                ["key": .text(key.encoded)],
                "\(PrintedValue.printable(key.encoded))\n  The policy's line: witness NAME \(PrintedValue.printable(key.encoded)) URL"
            )
        }
    }
}

/// Which log to audit, and whose it is.
struct LogOptions: ParsableArguments {
    @Argument(help: "Where the log is: a URL, or a folder that mirrors one. Default: the directory file's.")
    var log: String?

    @Option(help: ArgumentHelp("A C2SP tlog-policy file that names the log's keys.", valueName: "file"))
    var policy: String?

    @Option(
        help: ArgumentHelp("A directory file, which names the policy, the address and its root.", valueName: "file"))
    var directory: String?

    func validate() throws {
        guard (policy == nil) != (directory == nil) else { throw ValidationError("Give --policy or --directory.") }
        guard log != nil || directory != nil else { throw ValidationError("Say where the log is.") }
    }

    /// Whose the log is, and where.
    func open() throws -> (policy: Policy, source: any LogSource) {
        if let directory {
            let profile: DirectoryProfileAndPolicy
            profile = try DirectoryProfileAndPolicy(path: directory)
            return (profile.policy, try Self.source(profile.logURL(namedAs: log), of: profile.profile))
        }
        guard let policy, let log else { throw CommandFailure(.usage, "Say where the log is.", "") }
        return (try PolicyFile.read(policy), try Self.source(log, of: nil))
    }

    static func source(_ place: String, of profile: DirectoryProfile?) throws -> any LogSource {
        guard place.hasPrefix("https://") || place.hasPrefix("http://") else { return FolderLogSource(path: place) }
        do { return try HTTPLogSource(place, of: profile) } catch {
            throw CommandFailure(.usage, error.sentence(place))
        }
    }
}
