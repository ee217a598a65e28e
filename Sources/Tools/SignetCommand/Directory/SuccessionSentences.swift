// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import TransparencyLog

extension SuccessionError {
    var sentence: Sentence {
        Sentence(
            "The directory's record of its key changes is not valid: \(fact).",
            "Use nothing it says; ask its operator over another channel.")
    }

    private var fact: String {
        switch self {
        case .malformed: "they cannot be read"
        case .checkpoint(let link, .quorumNotMet): "change \(link + 1) was not seen by the quorum"
        case .checkpoint(let link, _): "change \(link + 1) is not in a checkpoint of the log that was trusted before it"
        case .inclusion(let link, _): "change \(link + 1) is not in the log"
        case .number(let link, let expected, let found): "change \(link + 1) has number \(found) and not \(expected)"
        case .otherLog(let link): "change \(link + 1) belongs to another log"
        case .sameLog(let link): "change \(link + 1) ends the log and names it again"
        case .firstEntry: "the new log does not begin with the end of the old one"
        case .firstEpoch(.behind): "the new log dates its first epoch before the old one's end"
        case .firstEpoch: "the new log does not show its first epoch"
        case .otherVRFKey(let link): "change \(link + 1) changes the key behind every label"
        }
    }
}

extension FormerFault {
    /// - Parameter handle: whom it is about; nil for the log itself.
    func sentence(_ handle: Handle?, _ alarm: String) -> Sentence {
        let whose = handle.map { " of \($0)" } ?? ""
        return switch self {
        case .withheld:
            Sentence(
                "The directory has a new log and does not show the last state of the old one\(whose).",
                "If they closed their account, it can no longer be shown; if not, the directory hides its past. Ask "
                    + "them over "
                    + "another channel, and ask the directory's operator.")
        case .refused(.rewritten):
            Sentence("Before it ended, the directory's old log withdrew what it had shown you\(whose).", alarm)
        case .refused:
            Sentence("What the directory shows as the end of its old log\(whose) is not valid.", alarm)
        case .notTakenOver:
            Sentence("The directory's new log does not begin with the final state of the old one\(whose).", alarm)
        }
    }
}
