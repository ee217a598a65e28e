// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import KeyTransparency
import Signet
import TransparencyLog

/// A lookup's page of checks, as a person or a program reads it.
struct LookupPage {
    enum Mark { case passed, failed(Sentence), notReached }

    let handle: Handle
    let marks: [(LookupCheck, Mark)]
    let answer: LookupAnswer?
    let refusal: LookupRefusal?
    let comparison: ComparisonState
    let session: Session

    /// Of a lookup whose every check held.
    ///
    /// - Parameter comparison: what the user compared with the person, before the lookup.
    init(answer: LookupAnswer, _ comparison: ComparisonState, session: Session) {
        handle = answer.handle
        marks = LookupCheck.allCases.map { ($0, .passed) }
        self.answer = answer
        refusal = nil
        self.comparison = comparison
        self.session = session
    }

    /// Of a lookup that failed a check.
    init(refusal: LookupRefusal, session: Session) {
        let failed = refusal.error.check
        handle = refusal.handle
        marks = LookupCheck.allCases.map { check in
            if check == failed { return (check, .failed(refusal.sentence)) }
            return (check, refusal.error.wasPassed(check) ? .passed : .notReached)
        }
        answer = nil
        self.refusal = refusal
        comparison = .none
        self.session = session
    }

    /// Prints the page and ends with the status that fits it.
    func finish(_ output: OutputOptions, isExplained: Bool, isBrief: Bool = false) throws {
        if !output.json {
            Output.line(text(isExplained: isExplained, isBrief: isBrief))
        } else if !isBrief {
            let page = json(isExplained: isExplained)
            Output.json(output.advanced || isExplained ? page : page.withoutKeys ?? .null)
        }
        if let failure { throw failure }
    }

    var failure: CommandFailure? {
        if let refusal { return CommandFailure(refusal: refusal, session: session) }
        switch answer {
        case .registered(let verdict): return failure(verdict.outcome)
        case .closed(let closure, _):
            return CommandFailure(.noKeys, closure.sentence(isOwn: handle == session.keystore?.handle))
        case .absent(let absence, _): return CommandFailure(.noKeys, absence.sentence)
        case nil: return nil
        }
    }

    private func failure(_ outcome: TrustOutcome) -> CommandFailure? {
        switch outcome {
        case .changed(let change): CommandFailure(.needsDecision, changeSentence(change))
        case .contradicted(let contradiction): CommandFailure(.notProven, contradiction.sentence)
        default: nil
        }
    }

    var verdict: LookupVerdict? {
        guard case .registered(let verdict) = answer else { return nil }
        return verdict
    }

    private func changeSentence(_ change: PeerKeyChange) -> Sentence {
        if verdict?.isOwn == true { return ClientError.ownAccountChanged(change).sentence("") }
        return Self.sentence(of: change, handle: handle, comparison)
    }

    /// What a change of a person's devices or identity is told with.
    static func sentence(of change: PeerKeyChange, handle: Handle, _ comparison: ComparisonState) -> Sentence {
        if case .recovered(let time) = change.identity {
            return Sentence(
                "\(handle) recovered their identity on \(Moment.day(of: time)), with their guardians and in the log."
                    + (comparison.comparison == nil ? "" : " Your earlier comparison is no longer valid."),
                "Ask them over another channel whether that was them. If so: signet people trust \(handle). Then compare again: "
                    + "signet people verify \(handle)")
        }
        if change.identity == .rushed {
            return Sentence(
                "ALARM: guardians gave the identity of \(handle) to another device, and the log does not show the delay in which "
                    + "they could object.",
                "Do not use it. Ask them over another channel: their guardians and the directory may have done "
                    + "it without them."
            )
        }
        if change.identity == .unexplained {
            if let before = comparison.comparison {
                return Sentence(
                    "ALARM: \(before.words) The directory now shows another identity for \(handle), and no "
                        + "recovery in the log explains it.",
                    "Send them nothing. Talk to them face to face; the directory or a thief has put it there.")
            }
            return Sentence(
                "ALARM: \(handle) has another identity, and no recovery in the log explains it.",
                "Do not use it. Ask them over another channel; the directory or a thief may have put it there.")
        }
        return Sentence(
            "\(handle) is blocked: \(change.words) since you accepted them.",
            "Ask them over another channel whether that was them. If so: signet people trust \(handle)")
    }

    // MARK: For people

    private func text(isExplained: Bool, isBrief: Bool) -> String {
        var lines: [String] = []
        if !isBrief {
            lines.append(Paint.output.strong(handle.description))
            lines.append(checks(isExplained: isExplained))
            if answer != nil { lines.append(vouching.painted) }
        }
        if let verdict, !verdict.isOwn { lines.append("  \(comparison.words(handle))") }
        lines.append(decision.painted)
        if isExplained { lines += explanation }
        return lines.joined(separator: "\n")
    }

    /// How many checks held, or which one did not.
    private func checks(isExplained: Bool) -> String {
        let paint = Paint.output
        let passed = marks.count { if case .passed = $0.1 { true } else { false } }
        guard let refusal else {
            return "  \(paint.good("✓")) all \(passed) checks held\(isExplained ? "" : " (--explain shows them)")"
        }
        return "  \(paint.bad("✗")) \(paint.bad(refusal.sentence.what)) Check \(passed + 1) of \(marks.count) failed."
    }

    /// Who besides the directory has seen this log.
    var vouching: VerdictLine {
        let witnesses = outsideWitnesses
        guard witnesses.isEmpty else {
            let names = witnesses.joined(separator: ", ")
            return VerdictLine(.good, "✓", "seen by \(names), which the directory does not run")
        }
        return VerdictLine(.warning, "!", "no one outside the directory vouches for its log: every witness is its own")
    }

    var outsideWitnesses: [String] {
        (answer?.outsideWitnesses(by: session.profile.trust.policy) ?? []).map { PrintedValue.printable($0.bytes) }
    }

    private var explanation: [String] {
        var lines = ["", "The checks, in their order:"]
        for (check, mark) in marks {
            lines.append(line(check, mark))
            lines += facts(check).map { Paint.output.faint("      \($0.0): \($0.1)") }
        }
        return lines + ["", "Not proven by this lookup:"] + unproven.map { "  - \($0)" }
    }

    private func line(_ check: LookupCheck, _ mark: Mark) -> String {
        let paint = Paint.output
        return switch mark {
        case .passed: "  \(paint.good("✓")) \(check.statement)"
        case .failed(let sentence): "  \(paint.bad("✗")) \(paint.bad(sentence.what))"
        case .notReached: paint.faint("  · not reached: \(check.statement)")
        }
    }

    /// What the lookup came to.
    var decision: VerdictLine {
        switch answer {
        case .registered(let verdict): decision(verdict)
        case .closed(let closure, _):
            VerdictLine(.warning, "–", "the account was closed: proved in epoch \(closure.epoch.record.number)")
        case .absent(let absence, _):
            VerdictLine(
                .warning, "–", "no one has registered \(handle): proved absent in epoch \(absence.epoch.record.number)")
        case nil: VerdictLine(.bad, "✗ blocked", "")
        }
    }

    private func decision(_ verdict: LookupVerdict) -> VerdictLine {
        let devices = Moment.count(UInt64(verdict.lookup.state.devices.count), "device")
        let age = verdict.isOld ? " (seen by the witnesses \(Moment.span(verdict.age)) ago)" : ""
        return switch verdict.outcome {
        case .matched: VerdictLine(.good, "✓", "\(devices), the ones you accepted", age)
        case .firstPinned where comparison.comparison != nil:
            VerdictLine(.good, "✓", "first contact: \(devices), pinned now", age)
        case .firstPinned:
            VerdictLine(
                .warning, "!", "first contact: \(devices), pinned now; nothing was known to compare with", age)
        case .accepted: VerdictLine(.good, "✓", "\(devices), accepted now", age)
        case .stranger:
            VerdictLine(
                .warning, "!", "first contact: \(devices); you have not added this person, so nothing was pinned", age)
        case .changed(let change) where change.isRecovery: VerdictLine(.warning, "! recovered", change.words)
        case .changed(let change): VerdictLine(.bad, "✗ blocked", change.words)
        case .contradicted: VerdictLine(.bad, "✗ blocked", "this contradicts what was proven before")
        }
    }

    var unproven: [String] {
        var unproven = [
            "that the directory keeps its index by the rules: auditors replay the log to find out"
        ]
        if verdict != nil {
            unproven.append(
                "that no one else holds the person's devices: compare keys over another channel if it matters")
        }
        if answer != nil, outsideWitnesses.isEmpty {
            unproven.append("that anyone outside the directory saw the same log: every witness is its own")
        }
        return unproven
    }
}

/// A line of the page that a person reads first: a mark, and words that mean the same without it.
struct VerdictLine {
    enum Tone { case good, warning, bad }

    let tone: Tone
    let mark: String
    let words: String
    /// What is to be noticed besides.
    let remark: String

    init(_ tone: Tone, _ mark: String, _ words: String, _ remark: String = "") {
        (self.tone, self.mark, self.words, self.remark) = (tone, mark, words, remark)
    }

    /// For a terminal.
    var painted: String {
        let paint = Paint.output
        let shown =
            switch tone {
            case .good: paint.good(mark)
            case .warning: paint.warning(mark)
            case .bad: paint.bad(mark)
            }
        guard !words.isEmpty else { return "  \(shown)" }
        // A mark that is a word is followed by what it says.
        let rest = (mark.count > 1 ? ": " : " ") + words
        return "  \(shown)\(rest)\(remark.isEmpty ? "" : paint.warning(remark))"
    }
}

extension LookupAnswer {
    /// A name that scripts may rely on.
    var name: String {
        switch self {
        case .registered(let verdict): verdict.outcome.name
        case .closed: "closed"
        case .absent: "absent"
        }
    }
}

extension LookupError {
    /// The clock and the network are the environment's; everything else is the directory's doing.
    var status: ExitStatus {
        switch self {
        case .freshness(.fromTheFuture), .epoch(.fromTheFuture): .environment
        default: .notProven
        }
    }
}
