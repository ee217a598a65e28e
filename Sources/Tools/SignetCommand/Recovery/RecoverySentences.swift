// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import SocialRecovery

extension CommandFailure {
    /// Why a step with guardians was not taken.
    init(_ error: RecoveryClientError, session: Session) {
        switch error {
        case .client(let error): self.init(error, session: session)
        case .file(let fault): self.init(fault, path: session.home.path)
        case .damaged(let name): self.init(error.status, Sentence.damaged(name, "\(session.home.path)/\(name)"))
        default: self.init(error.status, error.sentence)
        }
    }
}

extension RecoveryClientError {
    fileprivate var status: ExitStatus {
        switch self {
        case .client(let error): error.family.status
        case .file, .tooEarly: .environment
        case .damaged, .anotherVersion: .badFile
        case .malformedAnswer, .stopped, .journal, .guardedThingsLost, .guardedThingsUnreadable,
            .attempt(.notCommitted), .attempt(.bundle), .guardianCase(.notLogged), .guardianCase(.wrongCode),
            .anotherAsks, .frozen, .ownRequestLost:
            .notProven
        case .notAccepted, .guardedByRemovedDevices, .guardiansElsewhere, .removedDevice:
            .needsDecision
        case .request, .account: .bug
        default: .usage
        }
    }

    fileprivate var sentence: Sentence {
        switch self {
        case .client(let error): error.sentence("")
        case .file: Sentence("A file of the home folder cannot be used.", "Check the disk and its permissions.")
        case .damaged(let name): Sentence.damaged(name, name)
        case .anotherVersion:
            Sentence(
                "Your guardians were chosen with an older version of signet, and the parts that they hold no longer "
                    + "help.",
                "Give them new parts: signet guardians refresh. If a recovery is under way here, begin it again in "
                    + "another folder."
            )
        case .guardedByRemovedDevices:
            Sentence(
                "A device that you removed has added to what your guardians protect, and there is no way to tell when.",
                "Give out new parts, without those additions: signet guardians refresh")
        case .malformedAnswer:
            Sentence("The directory's answer cannot be read.", "Check that it is the directory, and its version.")
        case .identityElsewhere:
            Sentence(
                "Your identity is on another device.", "Run this command on the device on which the account was made.")
        case .notAccepted(let handle):
            Sentence(
                "You have not added \(handle), or they have changed since you accepted them.",
                "Add them with 'signet people add', or look at the change: signet people trust \(handle)")
        case .boxFull(let handle):
            Sentence("\(handle) has too many letters waiting.", "Ask them to run 'signet guardian', then try again.")
        case .noGuardians: Sentence("You have no guardians.", "Choose them: signet guardians add …")
        case .chosenElsewhere(let hasIdentity):
            Sentence(
                "Your guardians were chosen on another device of yours; this one knows nothing about them.",
                hasIdentity
                    ? "Run this command there. If that device is lost, choose guardians again: signet guardians add …"
                    : "Run this command on the device that holds your identity.")
        case .notInForceYet:
            Sentence(
                "Too few of the guardians whom you asked have answered: they are not in force yet.",
                "Each of them has to run 'signet guardian' once. Then run here: signet guardians")
        case .allHaveAnswered:
            Sentence(
                "There is no one to remind: everyone you asked has answered.",
                "'signet guardians' shows who keeps their part, and puts in force those who do not guard you yet.")
        case .removedDevice:
            Sentence(
                "The account no longer lists this device: no one accepts what it signs.",
                "If you removed it, delete its home folder. If not, someone has your identity: tell your guardians "
                    + "and friends."
            )
        case .noneAsked:
            Sentence(
                "You are not asking anyone to guard you, or enough of them have answered.",
                "'signet guardians' shows who guards you; 'signet guardians replace' chooses others.")
        case .guardiansThere:
            Sentence(
                "That does not fit what 'signet guardians' shows.",
                "With guardians in force, choose others with 'signet guardians replace'; with none, choose some with 'signet guardians add'; while "
                    + "some are being asked, finish that or give it up with 'signet guardians withdraw'.")
        case .changedTooSoon(let end):
            Sentence(
                "Your guardians changed recently. Until \(Moment.date(end)) the previous ones can still help you.",
                "Change them again after that time.")
        case .guardiansElsewhere:
            Sentence(
                "The log names guardians other than those this device chose: they were changed elsewhere, or this "
                    + "folder is an older copy.",
                "If none of your devices did that, someone has one of them: signet devices. Choose your guardians "
                    + "again: signet guardians replace …"
            )
        case .recoveryIsOpen:
            Sentence(
                "Someone is asking for your identity. Your guardians cannot change until that request has ended.",
                "If it is not you, stop it: signet recover stop. If it is you, let it finish.")
        case .listedDevice:
            Sentence(
                "This device belongs to the account: there is nothing to recover here.",
                "If someone else is asking for the identity: signet recover stop")
        case .setup(let error): error.sentence
        case .notTheirGuardian(let handle):
            Sentence("You keep nothing for \(handle).", "'signet guardian' shows for whom you keep a part.")
        case .nobodyAsks(let handle):
            Sentence(
                "No one is asking for the identity of \(handle).",
                "If they say so, ask them to run 'signet recover "
                    + "start'.")
        case .noSuchNumber(let handle):
            Sentence(
                "No request for the identity of \(handle) has that number.",
                "Ask them to read it again: 'signet recover' on the new device shows it.")
        case .notRevealed:
            Sentence("There is no code yet.", "Ask them to run 'signet recover' on the new device; it shows one then.")
        case .guardianCase(let error): error.sentence
        case .duty: Sentence("The part that you keep for them cannot be opened.", "Ask them to choose guardians again.")
        case .notRecoverable:
            Sentence(
                "This account has no guardians, or the directory lacks the recovery file that they would open.",
                "Without guardians it cannot be recovered.")
        case .anotherAsks(let end):
            Sentence(
                "Another device is asking for this identity, until \(Moment.date(end)).",
                "If that is not you, 'signet recover stop' on one of your devices ends it.")
        case .ownRequestLost(let end):
            Sentence(
                "The log shows this device's request, until \(Moment.date(end)), but the file needed to continue it "
                    + "is damaged.",
                "Restore the file 'recovery' from a copy of the folder. Without one, 'signet recover stop' on a "
                    + "remaining device ends the request; or begin again after that time."
            )
        case .frozen(let device, let end):
            Sentence(
                "Device \(device) of the account stopped a recovery. No new one can begin before \(Moment.date(end)).",
                "If that was not you, someone has that device: revoke it from another one, if you have one left.")
        case .olderGuardians:
            Sentence(
                "The guardians were chosen with an older version of signet, and cannot help with this one.",
                "On a device that still has the identity: signet guardians refresh")
        case .noFormerGuardians:
            Sentence(
                "There are no previous guardians who could still help.",
                "Without --before, the guardians whom the log names now are asked.")
        case .anotherPaper:
            Sentence(
                "That paper does not belong to the guardians in force.",
                "Leave out --paper: a guardian can let you "
                    + "begin.")
        case .nobodyConfirmed:
            Sentence(
                "No guardian has confirmed yet.", "Call one, and read them the number that 'signet recover' shows.")
        case .start:
            Sentence("The request cannot begin.", "Check this device's clock, and run the same command again.")
        case .answerRefused(let handle):
            Sentence(
                "The directory did not take your answer for \(handle): its box is full, or it does not know your part.",
                "Tell them, and try again later. If that does not help, ask the directory's operator.")
        case .noRecovery: Sentence("No recovery is under way here.", "Begin with 'signet recover start HANDLE'.")
        case .stopped:
            Sentence(
                "This recovery is over: one of the account's devices stopped it, or another recovery replaced it.",
                "If you did not do that, someone has one of your devices.")
        case .tooEarly(let time):
            Sentence(
                "Your other devices can stop this until \(Moment.date(time)).",
                "Run the same command again after that time.")
        case .attempt(let error): error.sentence
        case .request, .account: Sentence("The request cannot be encoded.", CommandFailure.bugRemedy)
        case .nothingToStop: Sentence("No one is asking for your identity.", "There is nothing to stop.")
        case .guardedThingsLost:
            Sentence(
                "The directory lacks all or part of the recovery file that your guardians would open for you.",
                "Choose guardians again (signet guardians replace …), and ask the directory's operator.")
        case .guardedThingsUnreadable:
            Sentence(
                "The directory lacks the recovery file that your guardians would open for you, or it cannot be read. "
                    + "Nothing has begun.",
                "If one of your devices still works, run 'signet guardians' there; otherwise ask the directory's "
                    + "operator for an older copy."
            )
        case .tooMuchToGuard:
            Sentence("There is more to protect than the directory keeps.", "Start again: signet guardians replace …")
        case .journal:
            Sentence(
                "Your identity is yours again, but what the directory kept for you is damaged or incomplete.",
                "Ask its operator for an older copy, and run the same command again.")
        }
    }
}

extension Sentence {
    /// A file about guardians that cannot be read.
    fileprivate static func damaged(_ name: String, _ path: String) -> Sentence {
        let copy = "Restore it from a copy of the folder"
        return switch name {
        case "recovery":
            Sentence(
                "\(path) is damaged: it is this device's record of the recovery under way.",
                "\(copy), or begin again: signet recover start HANDLE --directory FILE")
        case "guardian-duties":
            Sentence(
                "\(path) is damaged: it holds what you keep for others.",
                "\(copy), or ask them to choose guardians again.")
        case "guardian-cases", "guardian-objections":
            Sentence("\(path) is damaged: it records which requests you saw and who objected.", "\(copy).")
        default: Sentence("\(path) is damaged: it is this device's record of your guardians.", "\(copy).")
        }
    }

    /// What was typed as a code is none.
    static var incompleteCode: Sentence {
        Sentence(
            "That is not a code: a code is three words from the list and two digits.",
            "Nothing was compared. Ask them to read it again: --code \"word word word 42\"")
    }
}
