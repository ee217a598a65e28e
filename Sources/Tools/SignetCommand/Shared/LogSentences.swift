// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import TransparencyLog

extension FreshnessError {
    var sentence: Sentence {
        switch self {
        case .noTime:
            Sentence("No witness says when it saw the statement.", "The directory file must name witnesses.")
        case .stale(let age, let maximum):
            Sentence(
                "The statement is \(Moment.span(age)) old; at most \(Moment.span(maximum)) are allowed.",
                "Check this device's clock. If it is right, the directory hides recent changes: try again later."
            )
        case .fromTheFuture(let ahead):
            Sentence(
                "The statement is \(Moment.span(ahead)) ahead of this device's clock.",
                "Set the clock and try again.")
        }
    }
}

extension LogContradiction {
    var sentence: Sentence {
        let remedy =
            "Both statements were kept: 'signet evidence export DIR' gives you the proof. Do not use this directory."
        return switch fault {
        case .rollback:
            Sentence(
                "The log is shorter than when you last looked: entries were removed, or you are shown another log.",
                remedy)
        case .fork:
            Sentence(
                "The directory has signed two different logs of the same size. Anyone can check that proof.",
                remedy)
        case .inconsistent:
            Sentence(
                "There is no proof that the log has only grown since you last looked.",
                "This is not proof of misbehaviour: the answer may be broken, or the log was rewritten. Both statements were "
                    + "kept: keep them. Ask again; until that changes, do not use this directory.")
        }
    }
}

extension LogReadError {
    func sentence(_ alarm: String) -> Sentence {
        switch self {
        case .missing: Sentence("A part of the log is missing.", "Try again; a log must serve everything it signed.")
        case .note, .checkpoint:
            Sentence("The log's statement is not signed as the directory file requires.", alarm)
        case .freshness(let error): error.sentence
        case .tile: Sentence("A part of the log is malformed.", alarm)
        case .otherHashes: Sentence("The log's hashes do not match its entries.", alarm)
        case .otherRoot: Sentence("The log's entries do not match what the directory signed.", alarm)
        case .inclusion(let index, _):
            Sentence("Entry \(index) is not in the log that the directory signed.", alarm)
        case .contradiction(let contradiction): contradiction.sentence
        case .contradictionNotKept(let contradiction, let error): contradiction.sentence.withoutEvidence(error)
        case .tooLarge(let size):
            Sentence(
                "The log has \(size) entries, more than signet replays in memory.",
                "Use a monitor that keeps the log on disk.")
        }
    }
}

extension Sentence {
    /// What happened all the same, when the proof of it could not be kept.
    func withoutEvidence(_ error: StoreError) -> Sentence {
        let fault = error.sentence("the store")
        return Sentence(
            "\(what) The two statements that prove it could not be saved: \(fault.what)",
            "Do not use this directory. \(fault.remedy) Then ask again, so that they are saved.")
    }
}
