// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import NoteLog
import NotesAPI
import SealedNotes
import Signet

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
                "notes.sqlite is damaged or belongs to another program. It holds your notes as received, and "
                    + "changes not sent yet.",
                "Restore it from a copy if you have one. Otherwise move it away and run 'signet notes sync': "
                    + "this device can then "
                    + "no longer tell what the directory hides.")
        case .store(let error): error.sentence("notes.sqlite")
        case .sealed(.tooLong):
            Sentence(
                "That is too long for a note.",
                "A title has at most 4096 bytes, a tag 255, a comment 16,384, a note about 900,000.")
        case .sealed: Sentence("The note could not be sealed.", CommandFailure.bugRemedy)
        case .noSuchNote: Sentence("There is no such note or revision.", "'signet notes ls' shows all notes.")
        case .locked(let lock): lock.sentence
        case .mayNotWrite:
            Sentence("You may read this note but not change it.", "Ask its owner, or copy it into a note of your own.")
        case .onlyOwner(let owner):
            Sentence("Only \(owner), who owns the note, may do that.", "Ask them.")
        case .isGone:
            Sentence(
                "This note is no longer shared with you, or was deleted.", "What you had already read is still here.")
        case .ownersStay:
            Sentence(
                "You own the note, and it would be left without an owner.",
                "Give it to a member with 'signet notes transfer', or delete it with 'signet notes rm'.")
        case .nothingToRevert:
            Sentence(
                "You have already accepted every change to the note that was received.",
                "To go back to an earlier text, take it from 'signet notes log' and write it with 'signet notes edit'.")
        case .notAMember(let handle):
            Sentence("The note is not shared with \(handle).", "'signet notes members' shows who has it.")
        case .memberAlready(let handle):
            Sentence(
                "\(handle) already has the note, in this role or a higher one.",
                "To lower a role, unshare and share again.")
        case .notAccepted(let handle):
            Sentence(
                "\(handle) has not accepted you, so nothing can be shared with them.",
                "They see your request in 'signet people requests'. Share the note again when they have accepted.")
        case .stranger(let handle):
            Sentence("You have not added \(handle) yet.", "Run 'signet people add \(handle)'; then share again.")
        case .changedKeys(let handle, let change):
            Sentence(
                "\(handle): \(change.words). Nothing is encrypted to them until you accept this change.",
                "Ask them over another channel, then run 'signet people trust \(handle)'.")
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
                "Try again. If it was set together with a login key, supply that too: --login-key-file.")
        case .fileChanged:
            Sentence("The file was changed while it was being read.", "Try again when nothing is writing to it.")
        case .nothingUnlocks:
            Sentence(
                "There would be no way to unlock the notes again.",
                "Set a notes password first ('signet notes password'), or print a recovery key ('signet notes recovery')."
            )
        case .refused(let refusal): refusal.sentence
        case .noRoom(let limit): PushProblem.noRoom(limit).sentence
        case .keepsMoving: PushProblem.keepsMoving.sentence
        case .doubted(let doubt): doubt.sentence
        case .bundle(let error): error.sentence
        case .endlessFeed:
            Sentence(
                "The server sent page after page of changes, and says that there are more.",
                "What was received is kept, and the next 'signet notes sync' continues from there. If it does "
                    + "not end, ask the server's operator."
            )
        case .serverWentBack:
            Sentence(
                "The server no longer has what it showed this device before.",
                "It was restored to an old state, or it cheats. Ask its operator; nothing here was changed. If the operator lost data, "
                    + "continue with 'signet notes accept-loss'.")
        case .removalIsLost(let note, let owner):
            Sentence(
                "The server no longer knows that \(owner) removed someone from the note \(note.hexadecimal.prefix(8)): what you "
                    + "write there, that person could read.",
                "Nothing was changed here. Ask \(owner) to run 'signet notes accept-loss', then run it again here. If they cannot, save "
                    + "your notes with 'signet notes export'.")
        case .accountHead(let error):
            Sentence(
                "The server shows this device a history of your notes other than the one your devices signed "
                    + "(\(error.words)).",
                "Do not trust it with changes. Ask its operator; compare with your other devices. If the operator lost data, "
                    + "continue with 'signet notes accept-loss'.")
        case .accountKey:
            Sentence(
                "The server handed out a key for your notes that none of your devices made.",
                "It was not accepted. Ask the server's operator.")
        case .malformedAnswer:
            Sentence("The server's answer cannot be read.", "Ask its operator which version it is.")
        case .noRandomness: Sentence("The system provided no random bytes.", CommandFailure.bugRemedy)
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
                "Its key has not reached this device.",
                "Run 'signet notes sync' on another of your devices, then here; or ask its owner to rekey it.")
        case .noAccountKey: NotesError.noAccountKey.sentence
        case .sealed(.anotherCommitment), .sealed(.anotherOlderCommitment):
            Sentence(
                "A key that its owner sent was never a key of the note.", "It was not accepted. Ask its owner.")
        case .sealed:
            Sentence(
                "It cannot be decrypted: it was changed, or its author's signet is at fault.",
                "It is kept. Ask "
                    + "its author.")
        case .control(let error):
            Sentence(
                "The list of who may read and write it was not accepted (\(error.words)).",
                "It is kept as it was. Ask its owner, and the server's operator.")
        case .revisions(.noAuthority(let number)):
            Sentence(
                "A change to it was not accepted (\(RevisionError.noAuthority(number: number).words)).",
                "Ask its author to change it again; or 'signet notes revert' restores what you had, for everyone."
            )
        case .revisions(let error):
            Sentence(
                "A change to it was not accepted (\(error.words)).",
                "It is kept as it was. Ask its owner, and the server's operator.")
        case .child(let error):
            Sentence("A comment or star was not accepted (\(error.words)).", "It is kept but not shown.")
        case .changedKeys(let handle):
            Sentence(
                "It comes from \(handle), whose devices have changed.",
                "Ask them over another channel, then run 'signet people trust \(handle)' and 'signet notes sync'. "
                    + "If it is not theirs, 'signet notes revert' restores what you had, for everyone.")
        case .withheld:
            Sentence(
                "Another of your devices has seen more of it than the server shows here.",
                "Sync again; if that does not help, the server is holding it back.")
        case .missingFile:
            Sentence(
                "The server does not show the whole file.",
                "The sender may still be sending it, or has removed it. Try again later, or ask them.")
        case .doubted(let doubt): doubt.sentence
        case .erased:
            Sentence(
                "The server says that its owner erased it.", "No one has signed that. What you had of it is still here."
            )
        case .waiting: Sentence("Changes to it have arrived and are waiting.", "Run 'signet notes sync'.")
        case .overfull:
            Sentence(
                "More changes to it that are not accepted arrived than this device keeps, and the rest were dropped.",
                "'signet notes sync --from-start' fetches it again; if someone's devices changed, run 'signet people "
                    + "trust' for them first. "
                    + "If that does not help, ask the server's operator.")
        }
    }
}
