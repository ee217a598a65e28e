// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import KeyTransparency
import Signet
import SignetAPI
import SocialRecovery

extension Guardians {
    /// `signet guardians check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Ask all of them whether they still keep their part.",
            discussion: "Example: signet guardians check")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            try await session.with(try session.secrets()) { account in try await account.checkGuardians() }
            output.emit(
                ["outcome": "asked"],
                "\(Paint.output.good("✓")) Asked. Each of them has to run 'signet guardian' once. Then run here: "
                    + "signet guardians rehearse"
            )
        }
    }

    /// `signet guardians rehearse`
    struct Rehearse: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rehearse",
            abstract:
                "Find out whether those who answered the last check could recover your identity, without doing it.",
            discussion: "Example: signet guardians rehearse")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let rehearsed = try await session.approved(try await session.guardiansAction()) { account, approval in
                try await account.rehearse(approval)
            }
            guard let standing = rehearsed else {
                throw CommandFailure(.usage, "No one has been asked yet.", "Ask them with 'signet guardians check'.")
            }
            let silent = standing.silent.map(\.description)
            output.emit(
                [
                    "kept": .array(standing.kept.map { .string($0.description) }),
                    "recoverable": .bool(standing.isRecoverable), "silent": .array(silent.map { .string($0) }),
                ],
                (["\(standing.mark) \(standing.verdict)"]
                    + silent.map { "  \(Paint.output.warning("–")) \($0) has not shown that they keep their part" })
                    .joined(separator: "\n"))
            guard standing.isRecoverable else {
                throw CommandFailure(
                    .notProven, "Those who answered would not be enough to recover your identity.",
                    "Ask the others to run 'signet guardian', or choose new guardians: signet guardians replace")
            }
        }
    }

    /// `signet guardians remind`
    struct Remind: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remind", abstract: "Ask again those who have not answered since you chose them.",
            discussion: "Example: signet guardians remind")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let setup = try await session.approved(.setUpGuardians) { account, approval in
                try await account.remindGuardians(approval)
            }
            let silent = setup.guardians.filter { !$0.isKept }.map(\.key.handle.description)
            output.emit(
                ["asked": .array(silent.map { .string($0) })],
                "\(Paint.output.good("✓")) Asked again: \(silent.joined(separator: ", ")).")
        }
    }
}

extension Guardians {
    /// `signet guardians withdraw`
    struct Withdraw: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "withdraw", abstract: "Give up those whom you are asking, if too few of them answer.",
            discussion: """
                Guardians who are in force stay. The parts that those whom you asked already keep open nothing.

                Example: signet guardians withdraw
                """)

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let asked = try await session.approved(.setUpGuardians) { account, approval in
                try await account.withdrawGuardians(approval)
            }
            let names = asked.map(\.description)
            output.emit(
                ["withdrawn": .array(names.map { .string($0) })],
                """
                \(Paint.output.good("✓")) Withdrawn: \(names.joined(separator: ", ")) are no longer asked.
                  Guardians who were in force before still are: signet guardians
                """)
        }
    }

    /// `signet guardians paper`
    struct PaperCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "paper",
            abstract: "Print a line to keep on paper: with it you can begin a recovery without a guardian.",
            discussion: """
                It lets its holder ask for your identity, and nothing more: guardians still give their parts only to \
                the person who reads them the right code. Keep it away from your devices. It is valid for the \
                guardians in force.

                Example: signet guardians paper
                """)

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let text = try await session.approved(.showPaperShare) { account, approval in
                try await account.recoveryPaper(approval)
            }
            output.emit(["paper": .string(text)], String(text.dropLast()))
        }
    }
}

extension GuardianStanding {
    /// `5 of 5 kept`.
    var words: String { "\(kept.count) of \(kept.count + silent.count) kept" }

    /// Whether they could recover the identity, and how many more may fail.
    var verdict: String {
        guard isRecoverable else { return "\(words): too few" }
        return switch spare {
        case 0: "\(words): rehearsed, but none more may fail. Replace those who are silent now."
        case 1: "\(words): rehearsed; one more may fail."
        default: "\(words): rehearsed; \(spare) more may fail."
        }
    }

    /// In the colour of how many more may fail.
    fileprivate var mark: String {
        let paint = Paint.output
        guard isRecoverable else { return paint.bad("✗") }
        return switch spare {
        case 0: paint.bad("!")
        case 1: paint.warning("!")
        default: paint.good("✓")
        }
    }
}
