// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LocalWeb
import Signet
import SocialRecovery

extension RecoveryProgress {
    var json: PrintedValue {
        [
            "codes": .array(
                codes.sorted { $0.key.description < $1.key.description }.map {
                    ["code": .string($0.value), "handle": .string($0.key.description)]
                }), "missing": .number(UInt64(standing.missing)),
            "notBefore": start.map { .number($0.notBefore) } ?? .null,
            "others": .array(others.map { .string($0.description) }), "request": .string(number.text),
            "right": .array(standing.right.map { .string($0.description) }),
            "stage": .string(stage?.name ?? "not-begun"),
            "unjudged": .array(standing.unjudged.map { .string($0.description) }),
            "wrong": .array(standing.wrong.map { .string($0.description) }),
        ]
    }

    /// The same for a terminal and for a page.
    var words: RecoveryWords {
        let helped = standing.right.count + standing.unjudged.count
        let missing = standing.isMissingExact ? "\(standing.missing)" : "at least \(standing.missing)"
        let undecided = standing.unjudged.map {
            (
                mark: RecoveryWords.Mark.undecided,
                words: "\($0) helped; whether it is right becomes clear when a second one has"
            )
        }
        let right = standing.right.map { (mark: RecoveryWords.Mark.helped, words: "\($0) helped") }
        let wrong = standing.wrong.map {
            (
                mark: RecoveryWords.Mark.wrong,
                words:
                    "What \($0) sent is damaged or false. Ask them to look at 'signet guardian', or ask someone else."
            )
        }
        let answered = standing.right + standing.wrong + standing.unjudged
        let waiting = codes.filter { !answered.contains($0.key) }.sorted { $0.key.description < $1.key.description }
        let silent = guardians.filter { codes[$0] == nil }.map(\.description).joined(separator: ", ")
        let names = others.prefix(8).map(\.description).joined(separator: ", ") + (others.count > 8 ? ", …" : "")
        return RecoveryWords(
            count: start == nil ? nil : "\(helped) helped, \(missing) more needed.", deadline: deadline,
            answers: undecided + right + wrong, codes: waiting.map { ($0.key.description, $0.value) },
            others: silent.isEmpty ? nil : "You could also ask \(silent).",
            strangers: others.isEmpty
                ? nil
                : "\(Moment.count(UInt64(others.count), "answer")) came from people whom you did not name: \(names).")
    }

    var deadline: String {
        guard let start else { return "No guardian has confirmed yet." }
        guard !isWaitOver else { return "The wait is over; until \(Moment.date(start.expires)) it can be finished." }
        return
            "Until \(Moment.date(start.notBefore)) your other devices can stop this; until \(Moment.date(start.expires)) it can be finished."
    }

    func beginning(_ handle: Handle) -> String {
        let good = Paint.output.good("✓")
        guard start == nil else {
            return """
                \(good) The log shows that you ask for \(handle) back.
                  Call your guardians, and have each run 'signet guardian'. Then run here: signet recover
                  \(deadline)
                """
        }
        return """
            \(good) Your request for \(handle) is number \(Paint.output.strong(number.text)). Nothing has begun yet.
              Call one of your guardians and read them that number. They run:
                signet guardian confirm \(handle) --request "\(number.text)"
              Then run here: signet recover
            """
    }

    var text: String {
        let paint = Paint.output
        switch stage {
        case .rearming:
            return
                "\(paint.good("✓")) Your identity is yours again. \(paint.warning("Choose guardians: signet guardians add …"))"
        case .done: return "\(paint.good("✓")) Your identity is yours again, and guarded."
        case .succeeding: return "Enough guardians have helped. Finish: signet recover finish"
        case .collecting, nil: break
        }
        let words = words
        var lines = [
            "\(words.count ?? "Your request is number \(paint.strong(number.text)).") \(words.deadline)"
        ]
        lines += words.answers.map { mark, words in
            switch mark {
            case .undecided: "  \(words)"
            case .helped: "  \(paint.good("✓")) \(words)"
            case .wrong: "  \(paint.bad("✗")) \(words)"
            }
        }
        lines += words.codes.map {
            "  Read this to \($0.guardian), by telephone or in person: \(paint.strong($0.code))"
        }
        lines += [words.others].compactMap { $0.map { "  \($0)" } }
        if let strangers = words.strangers {
            lines += ["  \(strangers)", "  Is one of them your guardian? signet recover --guardian HANDLE"]
        }
        if start != nil && standing.missing == 0 {
            lines.append("  Finish\(isWaitOver ? "" : ", when the wait is over"): signet recover finish")
        }
        return lines.joined(separator: "\n")
    }
}

extension RecoveryAttempt.Stage {
    /// A name that scripts may rely on.
    var name: String {
        switch self {
        case .collecting: "asking"
        case .succeeding: "finishing"
        case .rearming: "without-guardians"
        case .done: "done"
        }
    }
}
