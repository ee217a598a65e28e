// SPDX-License-Identifier: Apache-2.0

import NoteLog
import Signet

extension PushProblem {
    var sentence: Sentence {
        switch self {
        case .refused(let refusal): refusal.sentence
        case .noRoom(.bytes): Sentence("The server has no more room for your notes.", "Remove files or notes.")
        case .noRoom(.disk):
            Sentence(
                "The server's disk is full. It is not that you have stored too much, and removing something does not help.",
                "Tell the server's operator, and try again later.")
        case .noRoom(.notes): Sentence("The server accepts no more notes from you.", "Remove some.")
        case .noRoom(.members):
            Sentence("The note has as many members as the server allows.", "Stop sharing it with someone first.")
        case .noRoom(.children): Sentence("The note has as many comments as the server allows.", "Start another note.")
        case .noRoom(.entries):
            Sentence("The note was shared and unshared as often as the server allows.", "Start another note.")
        case .keepsMoving: Sentence("Others keep changing this note.", "Try again in a moment.")
        case .doubted(let doubt): doubt.sentence
        case .unbelieved(let lock): lock.sentence
        }
    }
}

extension HeadDoubt {
    var sentence: Sentence {
        switch self {
        case .noRoot:
            Sentence(
                "The server does not show what the directory's log says about the note's state.",
                "Nothing is sent to it until it does: someone may have been removed. Sync again later; ask the "
                    + "server's operator."
            )
        case .root(.tooOld(let seconds)):
            Sentence(
                "What the log says about the note is \(seconds / 60) minutes old; someone may have been removed since.",
                "Sync again later; if that does not help, check this device's clock, and ask the server's operator.")
        case .root(.fromTheFuture):
            Sentence(
                "What the log says about the note is dated ahead of this device's clock.",
                "Check the clock, and sync again.")
        case .root(.record), .head:
            Sentence(
                "What the server shows as logged for the note is not in the directory's log.",
                "Nothing is sent to it. Ask the server's operator.")
        case .noHead:
            Sentence(
                "The server does not show what the log says about this note.",
                "Nothing is sent to it: you, or someone else, may have been removed. Ask its owner.")
        case .kept(let error): error.sentence
        case .unlogged(let seconds):
            Sentence(
                "For \(seconds / 60) minutes the log has not shown the state of the note that this device has: "
                    + "others may not see it.",
                "Ask the others, and the server's operator.")
        }
    }
}

extension LoggedHeadError {
    var sentence: Sentence {
        let remedy =
            "Nothing is sent to it. Sync again; if that does not help, the server is holding it back: ask its owner."
        switch self {
        case .newerControl:
            return Sentence(
                "The list of who may read and write it has changed, but the server does not show this device how.",
                remedy)
        case .newerRevision:
            return Sentence("It was changed, but the server does not show this device the change.", remedy)
        case .keptComments(let count):
            return Sentence(
                "The server does not show this device \(Moment.count(UInt64(count), "comment")) of it.",
                remedy)
        case .noList, .otherList:
            return Sentence(
                "It has comments or stars other than those the server shows here, and the server does not say which.",
                remedy)
        case .otherControl, .otherRevision:
            return Sentence(
                "The server shows this device a history of it that differs from the one in the directory's log.",
                "Nothing is sent to it. Compare with its owner, and ask the server's operator.")
        }
    }
}

extension PushRefusal {
    var sentence: Sentence {
        switch self {
        case .notTheRequesters, .incomplete, .wraps, .rule, .badEpoch:
            Sentence("The server refuses the change as not permitted.", CommandFailure.bugRemedy)
        case .deviceNotCurrent:
            Sentence("This device is no longer in your account.", "'signet account show' tells you more.")
        case .unknownNote:
            Sentence("The server does not know the note.", "Sync; if that does not help, ask the server's operator.")
        case .forbidden:
            Sentence("The server says that you may not do this.", "'signet notes members' shows who may do what.")
        }
    }
}

extension ControlError {
    var words: String {
        switch self {
        case .noBeginning: "it has no beginning"
        case .anotherNote: "it belongs to another note"
        case .brokenChain(let number): "entry \(number) does not follow the previous one"
        case .refused(let number, _): "entry \(number) breaks a rule"
        case .noAuthority(let number): "entry \(number) was signed by a device that does not belong to its author"
        case .rollback(let known, let received): "\(received) entries were received, but \(known) were seen before"
        case .fork(let number): "a different entry \(number) was seen before"
        }
    }
}

extension RevisionError {
    var words: String {
        switch self {
        case .anotherNote: "it belongs to another note"
        case .brokenChain(let number): "revision \(number) does not follow the previous one"
        case .unknownControl(let number): "revision \(number) names a list that this device does not have"
        case .controlGoesBack(let number): "revision \(number) names an older list than the previous revision"
        case .wrongEpoch(let number): "revision \(number) is not sealed under the key that it names"
        case .mayNotWrite(let number): "the author of revision \(number) had no right to write"
        case .closedEpochChanged: "an old key was used after it was replaced"
        case .rollback(let known, let received): "\(received) revisions were received, but \(known) were seen before"
        case .fork(let number): "a different revision \(number) was seen before"
        case .noAuthority(let number): "revision \(number) was signed by a device that does not belong to its author"
        }
    }
}

extension ChildError {
    var words: String {
        switch self {
        case .anotherNote: "it belongs to another note"
        case .unknownControl: "it names a list that this device does not have"
        case .wrongEpoch: "it is not sealed under the key that it names"
        case .notAMember: "its author did not have the note"
        case .wrongList: "the list of old comments differs"
        case .lateForItsEpoch: "an old key was used after it was replaced"
        case .noAuthority: "it was signed by a device that does not belong to its author"
        }
    }
}

extension AccountHeadError {
    var words: String {
        switch self {
        case .none: "there is none"
        case .anotherAccount: "it belongs to another account"
        case .rollback(let known, let received): "number \(received) was received, but \(known) was seen before"
        case .fork(let number): "two have the number \(number)"
        case .gap(let after): "what follows number \(after) is missing"
        case .noAuthority(let number): "number \(number) was signed by a device that is not yours"
        case .otherNotes: "it is about other notes"
        }
    }
}
