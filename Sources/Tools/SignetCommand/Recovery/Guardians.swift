// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import KeyTransparency
import Signet
import SignetAPI
import SocialRecovery

/// `signet guardians`
struct Guardians: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "guardians", abstract: "The people who can together give you your identity back.",
        discussion: """
            Each of them keeps one part, which is useless alone, and none is told who the others are. If you lose \
            every device, any three of five (or as you choose) can restore your identity on a new one: 'signet \
            recover'.

            Example: signet guardians add ana@example.org ben@example.org cleo@example.org --needed 2
            """,
        subcommands: [
            List.self, Add.self, Check.self, Rehearse.self, Remind.self, Withdraw.self, Refresh.self, Replace.self,
            PaperCommand.self,
        ],
        defaultSubcommand: List.self)
}

extension Guardians {
    fileprivate static func ask(
        _ choice: GuardianChoice, _ home: any HomeChoice, _ output: OutputOptions, isReplacing: Bool
    ) async throws {
        let session = try Session(home)
        let guardians = try await choice.guardians(session)
        let setup = try await session.approved(.setUpGuardians) { account, approval in
            try await account.chooseGuardians(
                guardians, threshold: choice.needed, wait: .seconds(choice.wait.seconds), isReplacing: isReplacing,
                approval)
        }
        say(setup, session, output)
    }

    private static func say(_ setup: RecoverySetup, _ session: Session, _ output: OutputOptions) {
        let asked = setup.guardians.map(\.key.handle.description)
        let wait = UInt64(setup.bundle.delay)
        let remark = session.open.weakness(ofWait: wait).map { warning(of: wait, $0) } ?? ""
        output.emit(
            ["asked": .array(asked.map { .string($0) }), "needed": .number(UInt64(setup.threshold))],
            """
            \(Paint.output.good("✓")) Asked \(asked.joined(separator: ", ")).
              Any \(setup.threshold) of these \(asked.count) will be able to give you your identity back.
              Each of them has to run 'signet guardian' once. Then run here: signet guardians\(remark)
            """)
    }

    private static func warning(of wait: UInt64, _ weakness: WaitWeakness) -> String {
        let sentence =
            switch weakness {
            case .uncountable(let least):
                "Friends cannot tell a wait of \(Moment.span(wait)) from none: choose more than \(Moment.span(least))."
            case .hidable(let age):
                "This directory's answers may be \(Moment.span(age)) old, so it could hide a whole wait of "
                    + "\(Moment.span(wait)) from your devices: choose a longer one."
            }
        return "\n  \(Paint.output.warning("!")) \(sentence)"
    }

    /// `signet guardians add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Choose your guardians, and ask them.",
            discussion: """
                Example: signet guardians add ana@example.org ben@example.org cleo@example.org --needed 2
                """)

        @OptionGroup var choice: GuardianChoice
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await ask(choice, home, output, isReplacing: false) }
    }

    /// `signet guardians replace`
    struct Replace: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replace", abstract: "Replace your guardians with others.",
            discussion: """
                The previous ones stay in force until enough of the new ones keep their part.

                Example: signet guardians replace ana@example.org ben@example.org dan@example.org --needed 2
                """)

        @OptionGroup var choice: GuardianChoice
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await ask(choice, home, output, isReplacing: true) }
    }

    /// `signet guardians refresh`
    struct Refresh: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "refresh",
            abstract: "Give your guardians new parts; the old parts do not open what you write afterwards.",
            discussion: """
                Use this whenever someone may have seen what a guardian keeps. The old parts stay in force until \
                enough guardians keep the new ones; then your notes get another key, and 'signet guardians' names the \
                sites that need one. Anyone who had enough of the old parts and the old file can still open what was \
                there before. If it is interrupted, run the same command again.

                Example: signet guardians refresh
                """)

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let setup = try await session.approved(.setUpGuardians) { account, approval in
                try await account.refreshGuardians(approval)
            }
            say(setup, session, output)
        }
    }
}
