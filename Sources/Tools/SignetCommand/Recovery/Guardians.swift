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
            """,
        subcommands: [
            List.self, Add.self, Check.self, Rehearse.self, Remind.self, Withdraw.self, Refresh.self, Replace.self,
            PaperCommand.self,
        ],
        defaultSubcommand: List.self)
}

/// Whom to choose, and how.
struct GuardianChoice: ParsableArguments {
    @Argument(help: "Their handles; choose people whom you added and accepted.") var handles: [String]
    @Option(help: ArgumentHelp("How many of them are needed to recover your identity.", valueName: "n"))
    var needed: Int = 3
    @Option(
        help: "How long your other devices can stop a recovery: 2d, 36h, 90m; friends cannot check 75m or less.")
    var wait = Wait(seconds: RecoveryCommitment.standardDelay)
    @Option(
        help: ArgumentHelp(
            "Go on only if you met them and compared keys, by 'signet people verify'; may be repeated.",
            valueName: "handle"))
    var met: [String] = []
    @Option(
        help: ArgumentHelp(
            "Go on only if you compared keys with them, by 'signet people verify'; may be repeated.",
            valueName: "handle"))
    var compared: [String] = []

    /// Whom. The flags demand what this device keeps of a comparison with them, and make nothing of it.
    func guardians(_ session: Session) async throws -> [Handle] {
        let (met, compared) = (Set(try met.map(Handle.typed)), Set(try compared.map(Handle.typed)))
        let guardians = try handles.map(Handle.typed)
        for handle in guardians {
            let meeting: MeetingEvidence
            do { meeting = try await session.open.meeting(with: handle) } catch {
                throw CommandFailure(error, session: session)
            }
            guard !met.contains(handle) || meeting.kind == .person else {
                throw Self.unproven(handle, "met", " --met DAY")
            }
            guard !compared.contains(handle) || meeting.kind != .none else {
                throw Self.unproven(handle, "compared", "")
            }
        }
        return guardians
    }

    private static func unproven(_ handle: Handle, _ what: String, _ option: String) -> CommandFailure {
        CommandFailure(
            .usage, "This device has no record that you \(what) \(what == "met" ? "" : "keys with ")\(handle).",
            "Compare keys with them first: signet people verify \(handle)\(option). No one was asked.")
    }
}

extension Guardians {
    fileprivate static func ask(
        _ choice: GuardianChoice, _ home: HomeOptions, _ output: OutputOptions, isReplacing: Bool
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
        let warning = warning(of: UInt64(setup.bundle.delay), session.profile.trust.freshness.maximumAge)
        output.emit(
            ["asked": .array(asked.map { .string($0) }), "needed": .number(UInt64(setup.threshold))],
            """
            \(Paint.output.good("✓")) Asked \(asked.joined(separator: ", ")).
              Any \(setup.threshold) of these \(asked.count) will be able to give you your identity back.
              Each of them has to run 'signet guardian' once. Then run here: signet guardians\(warning)
            """)
    }

    /// What a wait does not do that is so short.
    ///
    /// - Parameter age: how old an answer of the directory may be; both in seconds.
    private static func warning(of wait: UInt64, _ age: UInt64) -> String {
        let sentence: String
        if wait <= RecoveryDelay.uncountable {
            sentence =
                "Friends cannot tell a wait of \(Moment.span(wait)) from none: choose more than "
                + "\(Moment.span(RecoveryDelay.uncountable))."
        } else if wait <= age {
            sentence =
                "This directory's answers may be \(Moment.span(age)) old, so it could hide a whole wait of "
                + "\(Moment.span(wait)) from your devices: choose a longer one."
        } else {
            return ""
        }
        return "\n  \(Paint.output.warning("!")) \(sentence)"
    }

    /// `signet guardians add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Choose your guardians, and ask them.")

        @OptionGroup var choice: GuardianChoice
        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws { try await ask(choice, home, output, isReplacing: false) }
    }

    /// `signet guardians replace`
    struct Replace: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replace", abstract: "Replace your guardians with others.",
            discussion: "The previous ones stay in force until enough of the new ones keep their part.")

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

    /// `signet guardians list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Show who your guardians are, which of them keep their part, and what they protect.",
            discussion: "Also hands over what is new to protect, without asking any of them.")

        @OptionGroup var home: HomeOptions
        @OptionGroup var output: OutputOptions

        func run() async throws {
            let session = try Session(home)
            let found = try await session.approved(try await session.guardiansAction()) { account, approval in
                try await account.guardians(approval)
            }
            let (current, next, compared) = (found.current, found.next, found.comparisons)
            let guarded = found.guarded.map { (people: $0.people, sites: found.guardedSiteCount) }
            let due = found.sitesToTurn.map(\.words)
            output.emit(
                Self.json(current, next, guarded, due, compared).adding([
                    "notesTurned": .bool(found.areNotesTurned),
                    "refused": found.refusal.map { .string($0.name) } ?? .null,
                ]),
                ([Self.text(current, next, found.lastCheck, guarded, compared)]
                    + Self.turning(found.areNotesTurned, due) + Self.mending(found.guarded)
                    + Self.warning(found.refusal, session)).joined(separator: "\n"))
        }

        private static func warning(_ refusal: GuardianRefusal?, _ session: Session) -> [String] {
            guard let refusal else { return [] }
            let sentence = CommandFailure(refusal.error, session: session).sentence
            return ["\(Paint.output.warning("!")) \(sentence.what)", "  \(sentence.remedy)"]
        }

        /// That the directory had nothing which a new device could have read.
        private static func mending(_ news: GuardedNews?) -> [String] {
            guard news?.isMended == true else { return [] }
            return [
                Paint.output.warning(
                    "  The directory had lost the recovery file that your guardians open for you, or it could "
                        + "not be read."),
                "  It is there again. If none of your devices did that, someone may have one of them: signet devices",
            ]
        }

        /// What parts from before open no more, what they still open, and what else was from before.
        private static func turning(_ areNotesTurned: Bool, _ sites: [String]) -> [String] {
            let notes = [
                "  Your notes have another key, which the old parts do not open.",
                "  A paper from your previous guardians is no longer valid: signet guardians paper",
            ]
            guard !sites.isEmpty else { return areNotesTurned ? notes : [] }
            return (areNotesTurned ? notes : []) + [
                Paint.output.warning(
                    "  The old parts still open your recovery keys at \(sites.joined(separator: ", "))."),
                "  Give each a new one, at different times: signet sites re-register HOST",
            ]
        }

        private static func json(
            _ current: RecoverySetup?, _ next: RecoverySetup?, _ guarded: (people: Int, sites: Int)?, _ due: [String],
            _ compared: [Handle: ComparisonState]
        ) -> JSONValue {
            let shown = next ?? current
            return [
                "guarded": guarded.map {
                    ["notes": true, "people": .number(UInt64($0.people)), "sites": .number(UInt64($0.sites))]
                } ?? .null,
                "guardians": .array(
                    (shown?.guardians ?? []).map {
                        JSONValue.object([
                            "handle": .string($0.key.handle.description), "keeps": .bool($0.isKept),
                        ]).adding((compared[$0.key.handle] ?? .none).json)
                    }), "inForce": .bool(next == nil),
                "kept": .number(UInt64(shown?.keptCount ?? 0)),
                "needed": .number(UInt64(shown?.threshold ?? 0)),
                "sitesToTurn": .array(due.map { .string($0) }),
            ]
        }

        private static func text(
            _ current: RecoverySetup?, _ next: RecoverySetup?, _ check: GuardianCheckRecord?,
            _ guarded: (people: Int, sites: Int)?, _ compared: [Handle: ComparisonState]
        ) -> String {
            var lines: [String] = []
            if current == nil, guarded != nil {
                lines.append("\(Paint.output.good("✓")) Your guardians were chosen on another device of yours.")
            }
            if let current {
                lines += set(current, isInForce: true, compared)
                if let check { lines.append("  \(check.standing.words), asked \(Moment.date(check.asked))") }
            }
            if let guarded {
                let (sites, people) = (UInt64(guarded.sites), UInt64(guarded.people))
                let counts = "\(Moment.count(sites, "site")) and \(people == 1 ? "1 person" : "\(people) people")"
                lines.append("  A recovery also restores what is here: your notes, \(counts).")
            }
            if let next { lines += set(next, isInForce: false, compared) }
            return lines.joined(separator: "\n")
        }

        private static func set(
            _ setup: RecoverySetup, isInForce: Bool, _ compared: [Handle: ComparisonState]
        ) -> [String] {
            let paint = Paint.output
            let count = "\(setup.keptCount) of \(setup.guardians.count) kept"
            var lines = [
                isInForce
                    ? "\(paint.good("✓")) Your guardians are in force: \(count), any \(setup.threshold) can recover "
                        + "your identity."
                    : "\(paint.warning("…")) Asked, in force once \(setup.neededCount) keep their part: \(count)."
            ]
            lines += setup.guardians.map { guardian in
                "  \(paint.strong(guardian.key.handle.description))  "
                    + (guardian.isKept ? "keeps their part" : paint.warning("has not answered yet"))
                    + ", \((compared[guardian.key.handle] ?? .none).brief)"
            }
            if !isInForce, setup.guardians.contains(where: { !$0.isKept }) {
                lines.append(
                    "  If you added a device, those who have not answered must accept it first: signet people "
                        + "trust, on theirs."
                )
            }
            lines.append("  A recovery can be stopped for \(Moment.span(UInt64(setup.bundle.delay))).")
            return lines
        }
    }

    /// `signet guardians check`
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Ask all of them whether they still keep their part.")

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
                "Find out whether those who answered the last check could recover your identity, without doing it.")

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
                ([standing.verdict]
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
            commandName: "remind", abstract: "Ask again those who have not answered since you chose them.")

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
            discussion:
                "Guardians who are in force stay. The parts that those whom you asked already keep open nothing.")

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

extension GuardianRefusal {
    /// A name that scripts may rely on.
    fileprivate var name: String {
        switch self {
        case .somebodyAsks: "somebody-asks"
        case .changedTooSoon: "changed-too-soon"
        }
    }
}

extension GuardianStanding {
    /// `5 of 5 kept`.
    var words: String { "\(kept.count) of \(kept.count + silent.count) kept" }

    /// In the colour of how many more may fail.
    fileprivate var verdict: String {
        let paint = Paint.output
        guard isRecoverable else { return "\(paint.bad("✗")) \(words): too few" }
        return switch spare {
        case 0: "\(paint.bad("!")) \(words): rehearsed, but none more may fail. Replace those who are silent now."
        case 1: "\(paint.warning("!")) \(words): rehearsed; one more may fail."
        default: "\(paint.good("✓")) \(words): rehearsed; \(spare) more may fail."
        }
    }
}
