// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
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

    /// Who answered without being named or listed; a few of them.
    private var strangers: [String] {
        guard !others.isEmpty else { return [] }
        let names = others.prefix(8).map(\.description).joined(separator: ", ") + (others.count > 8 ? ", …" : "")
        return [
            "  \(Moment.count(UInt64(others.count), "answer")) came from people whom you did not name: \(names).",
            "  Is one of them your guardian? signet recover --guardian HANDLE",
        ]
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
        let helped = standing.right.count + standing.unjudged.count
        let missing = standing.isMissingExact ? "\(standing.missing)" : "at least \(standing.missing)"
        var lines =
            start == nil
            ? ["Your request is number \(paint.strong(number.text)). \(deadline)"]
            : ["\(helped) helped, \(missing) more needed. \(deadline)"]
        lines += standing.unjudged.map { "  \($0) helped; whether it is right becomes clear when a second one has" }
        lines += standing.right.map { "  \(paint.good("✓")) \($0) helped" }
        lines += standing.wrong.map {
            "  \(paint.bad("✗")) What \($0) sent is damaged or false. Ask them to look at 'signet guardian', or "
                + "ask someone else."
        }
        let answered = standing.right + standing.wrong + standing.unjudged
        let waiting = codes.filter { !answered.contains($0.key) }
        lines += waiting.sorted { $0.key.description < $1.key.description }.map {
            "  Read this to \($0.key), by telephone or in person: \(paint.strong($0.value))"
        }
        let silent = guardians.filter { codes[$0] == nil }
        if !silent.isEmpty {
            lines.append("  You could also ask \(silent.map(\.description).joined(separator: ", ")).")
        }
        lines += strangers
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
