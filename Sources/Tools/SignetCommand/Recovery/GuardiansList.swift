// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import DeviceIdentity
import KeyTransparency
import Signet
import SignetAPI
import SocialRecovery

extension Guardians {
    /// `signet guardians list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Show who your guardians are, which of them keep their part, and what they protect.",
            discussion: """
                Also hands over what is new to protect, without asking any of them.

                Example: signet guardians list
                """)

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
        ) -> PrintedValue {
            let shown = next ?? current
            return [
                "guarded": guarded.map {
                    ["notes": true, "people": .number(UInt64($0.people)), "sites": .number(UInt64($0.sites))]
                } ?? .null,
                "guardians": .array(
                    (shown?.guardians ?? []).map {
                        PrintedValue.object([
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
}

extension GuardianRefusal {
    /// A name that scripts may rely on.
    fileprivate var name: String {
        switch self {
        case .recoveryIsOpen: "recovery-open"
        case .changedTooSoon: "changed-too-soon"
        }
    }
}
