// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import TransparencyLog

/// `signet policy`
struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Policies in files: whose signatures on a log count.",
        discussion: "Example: signet policy check witnesses.policy",
        subcommands: [Show.self, Check.self])

    /// `signet policy show`
    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract:
                "Explain a C2SP tlog-policy file: logs, witnesses, quorum, and what would happen if each witness "
                + "were down.",
            discussion: "Example: signet policy show directory.signet")

        @Argument(help: "The policy, or a directory file, which has one in it.") var file: String
        @OptionGroup var output: OutputOptions

        func run() throws {
            let page = PolicyPage(try PolicyFile.read(file))
            output.emit(page.json, page.text)
        }
    }

    /// `signet policy check`
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check a C2SP tlog-policy file.",
            discussion: """
                Exit status 65 and the line number if the file is not a policy; 1 if it is a policy that no client \
                should rely on: without a quorum, or with one that a single key can meet.

                Example: signet policy check witnesses.policy
                """)

        @Argument(help: "The policy, or a directory file, which has one in it.") var file: String
        @Option(
            help: ArgumentHelp(
                "The file has lines of witnesses for `signetd rotate witnesses`, and this is the server's directory.signet: its log, and its "
                    + "own witness `clock`, which those lines may name, come from there.", valueName: "file"))
        var directory: String?
        @OptionGroup var output: OutputOptions

        func run() throws {
            let policy = try directory.map { try PolicyFile.read(file, in: $0) } ?? PolicyFile.read(file)
            let page = PolicyPage(policy)
            let text = [page.isSound ? "\(Paint.output.good("✓ a policy")): \(page.summary)" : page.summary]
            output.emit(page.json, (text + page.remarkLines).joined(separator: "\n"))
            guard !page.isSound else { return }
            throw CommandFailure(
                .notProven, "One key is enough to show people two histories of the log.",
                "List witnesses run by others, and a quorum of at least two.")
        }
    }
}
