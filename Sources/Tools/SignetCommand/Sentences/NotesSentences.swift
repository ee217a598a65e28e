import KeyTransparency
import NoteLog
import NotesClient
import SealedNotes
import Signet
import SignetAPI
import SignetClient

extension CommandFailure {
    init(_ error: NotesError, session: Session) {
        switch error {
        case .client(let error): self.init(error, session: session)
        case .store(.damaged): self.init(.badFile, error.sentence)
        case .store(let error): self.init(error, path: session.home.notesPath)
        default: self.init(error.status, error.sentence)
        }
    }
}

extension NotesError {
    var status: ExitStatus {
        switch self {
        case .changedKeys: .needsDecision
        case .locked(let lock): lock.status
        case .isLocked, .wrongPassword: .badFile
        case .bundle(.emptyPassphrase): .usage
        case .bundle where family == .caller: .badFile
        case .weakPassword: .usage
        case .noAccountKey, .noRoom: .notProven
        default: family.status
        }
    }

    var sentence: Sentence {
        switch self {
        case .client(let error): error.sentence("")
        case .store(.damaged):
            Sentence(
                "notes.sqlite is damaged, or another program's. It holds your notes as they came, and what waits to be sent.",
                "Put back a copy if you have one. Otherwise move it away and run 'signet notes sync': what the directory "
                    + "hides from then on, this device cannot tell.")
        case .store(let error): error.sentence("notes.sqlite")
        case .sealed(.tooLong):
            Sentence(
                "That is too long for a note.",
                "A title has at most 4096 bytes, a tag 255, a comment 16,384, a note about 900,000.")
        case .sealed: Sentence("The note could not be sealed.", CommandFailure.bugRemedy)
        case .noSuchNote: Sentence("There is no such note or revision.", "'signet notes ls' shows all notes.")
        case .locked(let lock): lock.sentence
        case .mayNotWrite:
            Sentence("You may read this note, not change it.", "Ask its owner; or copy it into a note of your own.")
        case .onlyOwner(let owner):
            Sentence("Only \(owner), whose note it is, may do that.", "Ask them.")
        case .isGone:
            Sentence(
                "This note is not shared with you any more, or was deleted.", "What you had read of it is still here.")
        case .ownersStay:
            Sentence(
                "The note is yours, and would be nobody's.",
                "Give it to a member with 'signet notes transfer', or delete it with 'signet notes rm'.")
        case .nothingToRevert:
            Sentence(
                "You believe every change of the note that came.",
                "To go back to an earlier text, take it from 'signet notes log' and write it with 'signet notes edit'.")
        case .notAMember(let handle):
            Sentence("The note is not shared with \(handle).", "'signet notes members' shows with whom.")
        case .memberAlready(let handle):
            Sentence(
                "\(handle) has the note already, in this role or a higher one.",
                "To lower a role, unshare and share again.")
        case .notAccepted(let handle):
            Sentence(
                "\(handle) has not accepted you, so nothing can be shared with them.",
                "They see your request in 'signet people requests'. Share it again when they have accepted.")
        case .stranger(let handle):
            Sentence("You have not chosen \(handle) yet.", "'signet people add \(handle)' does; then share again.")
        case .changedKeys(let handle, let change):
            Sentence(
                "\(handle): \(change.words). Nothing is encrypted to them until you accept that.",
                "Ask them in another way, then 'signet people trust \(handle)'.")
        case .contradicted(_, let contradiction): contradiction.sentence
        case .noAccountKey:
            Sentence(
                "This device does not have the key to your notes yet.",
                "Run 'signet notes sync' on a device that has it and then here, or 'signet notes unlock' with your notes password or recovery key."
            )
        case .isLocked:
            Sentence(
                "The notes are locked on this device.",
                "'signet notes unlock' asks for your notes password or recovery key.")
        case .weakPassword(let weakness): weakness.sentence
        case .wrongPassword:
            Sentence(
                "The password is wrong, or there is none for this account.",
                "Try again. If it was set together with a login key, give that too: --login-key-file.")
        case .fileChanged: Sentence("The file was changed while it was read.", "Try again when nobody writes it.")
        case .nothingUnlocks:
            Sentence(
                "Nothing could unlock the notes again.",
                "Set a notes password first ('signet notes password'), or print a recovery key ('signet notes recovery')."
            )
        case .refused(let refusal): refusal.sentence
        case .noRoom(let limit): PushProblem.noRoom(limit).sentence
        case .keepsMoving: PushProblem.keepsMoving.sentence
        case .doubted(let doubt): doubt.sentence
        case .bundle(let error): error.sentence
        case .endlessFeed:
            Sentence(
                "The server showed page after page of news, and says that there are more.",
                "What came is kept, and the next 'signet notes sync' goes on behind it. If it does not end, ask whoever runs the server."
            )
        case .serverWentBack:
            Sentence(
                "The server does not have what it showed this device before.",
                "It was put back to an old state, or it cheats. Ask whoever runs it; nothing here was changed.")
        case .accountHead(let error):
            Sentence(
                "The server shows this device another history of your notes than your devices signed (\(error.words)).",
                "Do not trust it with changes. Ask whoever runs it; compare with your other devices.")
        case .accountKey:
            Sentence(
                "The server handed out a key for your notes that none of your devices made.",
                "It was not taken. Ask whoever runs the server.")
        case .malformedAnswer:
            Sentence("The server's answer cannot be read.", "Ask whoever runs it which version it is.")
        case .noRandomness: Sentence("The system gave no random bytes.", CommandFailure.bugRemedy)
        }
    }
}

extension NoteLock {
    var status: ExitStatus {
        if case .changedKeys = self { return .needsDecision }
        return .notProven
    }

    var sentence: Sentence {
        switch self {
        case .noKey:
            Sentence(
                "Its key has not come to this device.",
                "Run 'signet notes sync' on another device of yours, then here; or ask its owner to rekey it.")
        case .noAccountKey: NotesError.noAccountKey.sentence
        case .sealed(.anotherCommitment), .sealed(.anotherOlderCommitment):
            Sentence(
                "A key that its owner sent is none that the note has or had.", "It was not taken. Ask its owner.")
        case .sealed:
            Sentence(
                "It does not open: it was changed, or its author's signet is at fault.", "It is kept. Ask its author.")
        case .control(let error):
            Sentence(
                "The list of who may read and write it is not believed (\(error.words)).",
                "It is kept as it was. Ask its owner, and whoever runs the server.")
        case .revisions(.noAuthority(let number)):
            Sentence(
                "A change of it is not believed (\(RevisionError.noAuthority(number: number).words)).",
                "Ask its author to change it once more; or 'signet notes revert' puts back what you had, for everybody."
            )
        case .revisions(let error):
            Sentence(
                "A change of it is not believed (\(error.words)).",
                "It is kept as it was. Ask its owner, and whoever runs the server.")
        case .child(let error):
            Sentence("A comment or star is not believed (\(error.words)).", "It is kept, and not shown.")
        case .changedKeys(let handle):
            Sentence(
                "It comes from \(handle), whose devices have changed.",
                "Ask them in another way, then 'signet people trust \(handle)' and 'signet notes sync'. "
                    + "If it is not theirs, 'signet notes revert' puts back what you had, for everybody.")
        case .withheld:
            Sentence(
                "Another device of yours has seen more of it than the server shows here.",
                "Sync once more; if it stays, the server holds it back.")
        case .missingFile:
            Sentence(
                "The server does not show all of the file.",
                "Whoever put it there may still be sending it, or has taken it away. Try again later, or ask them.")
        case .doubted(let doubt): doubt.sentence
        case .erased:
            Sentence(
                "The server says that its owner erased it.", "Nobody has signed that. What you had of it is still here."
            )
        case .waiting: Sentence("News of it came, and wait.", "Run 'signet notes sync'.")
        case .overfull:
            Sentence(
                "More of it came that is not believed than this device keeps, and the rest was dropped.",
                "'signet notes sync --anew' fetches it again; if somebody's devices changed, 'signet people trust' them first. "
                    + "If it stays, ask whoever runs the server.")
        }
    }
}

extension PushProblem {
    var sentence: Sentence {
        switch self {
        case .refused(let refusal): refusal.sentence
        case .noRoom(.bytes): Sentence("The server has no more room for your notes.", "Remove files or notes.")
        case .noRoom(.notes): Sentence("The server takes no more notes of yours.", "Remove some.")
        case .noRoom(.members):
            Sentence("The note has as many members as the server allows.", "Unshare it with somebody first.")
        case .noRoom(.children): Sentence("The note has as many comments as the server allows.", "Begin another note.")
        case .noRoom(.entries):
            Sentence("The note was shared and unshared as often as the server allows.", "Begin another note.")
        case .keepsMoving: Sentence("Others change this note again and again.", "Try again in a moment.")
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
                "The server does not show where the directory's log says that the note stands.",
                "Nothing is sent to it until it does: somebody may have been removed. Sync again later; ask whoever runs the server."
            )
        case .root(.tooOld(let seconds)):
            Sentence(
                "What the log says of the note is \(seconds / 60) minutes old; somebody may have been removed since.",
                "Sync again later; if it stays, check this device's clock, and ask whoever runs the server.")
        case .root(.fromTheFuture):
            Sentence(
                "What the log says of the note is dated ahead of this device's clock.",
                "Check the clock, and sync again.")
        case .root(.record), .head:
            Sentence(
                "What the server shows as logged of the note is not in the directory's log.",
                "Nothing is sent to it. Ask whoever runs the server.")
        case .noHead:
            Sentence(
                "The server does not show what the log says of this note.",
                "Nothing is sent to it: you may have been removed, or somebody else. Ask its owner.")
        case .kept(let error): error.sentence
        case .unlogged(let seconds):
            Sentence(
                "For \(seconds / 60) minutes the log has not said of the note what this device has of it: others may not see it.",
                "Ask the others, and whoever runs the server.")
        }
    }
}

extension LoggedHeadError {
    fileprivate var sentence: Sentence {
        let remedy = "Nothing is sent to it. Sync once more; if it stays, the server holds it back: ask its owner."
        switch self {
        case .newerControl:
            return Sentence(
                "The list of who may read and write it has changed, and the server does not show this device how.",
                remedy)
        case .newerRevision:
            return Sentence("It was changed, and the server does not show this device the change.", remedy)
        case .keptComments(let count):
            return Sentence(
                "The server does not show this device \(Moment.count(UInt64(count), "comment")) of it.",
                remedy)
        case .noList, .otherList:
            return Sentence(
                "It has other comments or stars than the server shows this device, which does not say which.", remedy)
        case .otherControl, .otherRevision:
            return Sentence(
                "The server shows this device another history of it than the directory's log does.",
                "Nothing is sent to it. Compare with its owner, and ask whoever runs the server.")
        }
    }
}

extension PushRefusal {
    var sentence: Sentence {
        switch self {
        case .notTheRequesters, .incomplete, .wraps, .rule, .badEpoch:
            Sentence("The server refuses the change as none that may be made.", CommandFailure.bugRemedy)
        case .deviceNotCurrent:
            Sentence("This device is not in your account any more.", "'signet account show' tells more.")
        case .unknownNote:
            Sentence("The server does not know the note.", "Sync; if it stays, ask whoever runs the server.")
        case .forbidden:
            Sentence("The server says that you may not do this.", "'signet notes members' shows who may what.")
        }
    }
}

extension ControlError {
    fileprivate var words: String {
        switch self {
        case .noBeginning: "it has no beginning"
        case .anotherNote: "it is another note's"
        case .brokenChain(let number): "entry \(number) does not follow the one before"
        case .refused(let number, _): "entry \(number) breaks a rule"
        case .noAuthority(let number): "entry \(number) was signed by a device that its author does not have"
        case .rollback(let known, let received): "\(received) entries came, \(known) were seen before"
        case .fork(let number): "another entry \(number) was seen before"
        }
    }
}

extension RevisionError {
    fileprivate var words: String {
        switch self {
        case .anotherNote: "it is another note's"
        case .brokenChain(let number): "revision \(number) does not follow the one before"
        case .unknownControl(let number): "revision \(number) names a list that is not here"
        case .controlGoesBack(let number): "revision \(number) names an older list than the one before"
        case .wrongEpoch(let number): "revision \(number) is sealed under another key than it says"
        case .mayNotWrite(let number): "the author of revision \(number) had no right to write"
        case .closedEpochChanged: "an old key was used after it was replaced"
        case .rollback(let known, let received): "\(received) revisions came, \(known) were seen before"
        case .fork(let number): "another revision \(number) was seen before"
        case .noAuthority(let number): "revision \(number) was signed by a device that its author does not have"
        }
    }
}

extension ChildError {
    fileprivate var words: String {
        switch self {
        case .anotherNote: "it is another note's"
        case .unknownControl: "it names a list that is not here"
        case .wrongEpoch: "it is sealed under another key than it says"
        case .notAMember: "its author did not have the note"
        case .wrongList: "the list of old comments is another"
        case .lateForItsEpoch: "an old key was used after it was replaced"
        case .noAuthority: "its author's device is none of theirs"
        }
    }
}

extension AccountHeadError {
    fileprivate var words: String {
        switch self {
        case .none: "there is none"
        case .anotherAccount: "it is another account's"
        case .rollback(let known, let received): "number \(received) came, \(known) was seen before"
        case .fork(let number): "two have the number \(number)"
        case .gap(let after): "what follows number \(after) is missing"
        case .noAuthority(let number): "number \(number) was signed by a device that is not yours"
        case .otherNotes: "it is about other notes"
        }
    }
}
