import KeyTransparency
import RecoveryClient
import SignetClient
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
                "Your guardians were chosen with an older version of signet, and can no longer help with what they have.",
                "Give them new parts: signet guardians refresh. Is a recovery under way here? Begin it anew in another folder."
            )
        case .guardedByRemovedDevices:
            Sentence(
                "A device that you removed added to what your guardians guard, and nobody can tell when.",
                "Deal anew, without it: signet guardians refresh")
        case .malformedAnswer:
            Sentence("The directory's answer cannot be read.", "Check that it is the directory, and its version.")
        case .identityElsewhere:
            Sentence(
                "Your identity is on another device.", "Give this command on the device on which the account was made.")
        case .notAccepted(let handle):
            Sentence(
                "\(handle) is nobody whom you added, or changed since you accepted them.",
                "Add them with 'signet people add', or look at the change: signet people trust \(handle)")
        case .boxFull(let handle):
            Sentence("\(handle) has too many letters waiting.", "Ask them to run 'signet guardian', then try again.")
        case .noGuardians: Sentence("You have no guardians.", "Choose them: signet guardians add …")
        case .chosenElsewhere(let hasIdentity):
            Sentence(
                "Your guardians were chosen on another device of yours; this one knows nothing of them.",
                hasIdentity
                    ? "Give this command there. Is that device lost? Choose them anew: signet guardians add …"
                    : "Give this command on the device that holds your identity.")
        case .notInForceYet:
            Sentence(
                "Too few of the guardians whom you ask have answered: they are not in force yet.",
                "Each has to run 'signet guardian' once. Then, here: signet guardians")
        case .nobodyToRemind:
            Sentence(
                "There is nobody to remind: whoever is asked has answered.",
                "'signet guardians' shows who keeps their part, and puts those in force who do not guard you yet.")
        case .removedDevice:
            Sentence(
                "The account does not list this device any more: nothing that it signs counts for anybody.",
                "Was that you? Then delete its home folder. If not, somebody has your identity: tell your guardians and friends."
            )
        case .nobodyAsked:
            Sentence(
                "You are asking nobody to guard you, or enough of them have answered.",
                "'signet guardians' shows who guards you; 'signet guardians replace' chooses others.")
        case .guardiansThere:
            Sentence(
                "You have guardians, or are asking some, or have none to replace.",
                "'signet guardians' shows them, 'replace' chooses others, 'withdraw' gives up those whom you ask.")
        case .changedTooSoon(let end):
            Sentence(
                "Your guardians changed a short while ago. Until \(Moment.date(end)) those from before can still help you.",
                "Change them again after that.")
        case .guardiansElsewhere:
            Sentence(
                "The log names other guardians than this device chose: they were changed elsewhere, or this folder is an older copy.",
                "Was it none of your devices? Then somebody has one: signet devices. Choose yours anew: signet guardians replace …"
            )
        case .somebodyAsks:
            Sentence(
                "Somebody asks for your identity. Your guardians do not change before that has ended.",
                "If it is not you, stop it: signet recover stop. If it is you, let it come to its end.")
        case .listedDevice:
            Sentence(
                "This device belongs to the account: there is nothing to recover here.",
                "Is somebody else asking for it? signet recover stop")
        case .setup(let error): error.sentence
        case .notTheirGuardian(let handle):
            Sentence("You keep nothing for \(handle).", "'signet guardian' shows for whom you do.")
        case .nobodyAsks(let handle):
            Sentence(
                "Nobody asks for the identity of \(handle).", "If they say so, ask them to run 'signet recover start'.")
        case .noSuchNumber(let handle):
            Sentence(
                "No request for the identity of \(handle) has that number.",
                "Ask them to read it once more: 'signet recover' on the new device shows it.")
        case .notRevealed:
            Sentence("There is no code yet.", "Ask them to run 'signet recover' on the new device; it shows one then.")
        case .guardianCase(let error): error.sentence
        case .duty: Sentence("What you keep for them cannot be opened.", "Ask them to choose guardians anew.")
        case .notRecoverable:
            Sentence(
                "This account has no guardians, or the directory does not have what they would open.",
                "Without guardians nobody can recover it.")
        case .anotherAsks(let end):
            Sentence(
                "Another device asks for this identity, until \(Moment.date(end)).",
                "If that is not you, 'signet recover stop' on one of your devices ends it.")
        case .ownRequestLost(let end):
            Sentence(
                "The log shows the request of this device, until \(Moment.date(end)), and the file with which it would go on is damaged.",
                "Put the file 'recovery' back from a copy of the folder. Without one: 'signet recover stop' on a device that is left ends the request; or begin again after that time."
            )
        case .frozen(let device, let end):
            Sentence(
                "Device \(device) of the account stopped a recovery. Nothing new begins before \(Moment.date(end)).",
                "If that was not you, somebody has that device: revoke it from another one, if one is left.")
        case .olderGuardians:
            Sentence(
                "The guardians were chosen with an older version of signet, and cannot help with this one.",
                "On a device that still has the identity: signet guardians refresh")
        case .noFormerGuardians:
            Sentence(
                "There are no guardians from before who could still help.",
                "Without --before those are asked whom the log names now.")
        case .anotherPaper:
            Sentence(
                "That paper is not of the guardians in force.", "Leave --paper out: a guardian can let you begin.")
        case .nobodyConfirmed:
            Sentence(
                "No guardian has confirmed yet.", "Call one, and read them the number that 'signet recover' shows.")
        case .start:
            Sentence("The request cannot begin.", "Check this device's clock, and give the same command again.")
        case .answerRefused(let handle):
            Sentence(
                "The directory did not take your answer for \(handle): its box is full, or it does not know your part.",
                "Tell them, and try again later. If it stays so, ask the directory's operator.")
        case .noRecovery: Sentence("No recovery is under way here.", "Begin with 'signet recover start HANDLE'.")
        case .stopped:
            Sentence(
                "This recovery is over: one of the account's devices stopped it, or another one took its place.",
                "If you did not do that, somebody has one of your devices.")
        case .tooEarly(let time):
            Sentence(
                "Your other devices can stop this until \(Moment.date(time)).",
                "Give the same command again after that.")
        case .attempt(let error): error.sentence
        case .request, .account: Sentence("The request cannot be written down.", CommandFailure.bugRemedy)
        case .nothingToStop: Sentence("Nobody asks for your identity.", "There is nothing to stop.")
        case .guardedThingsLost:
            Sentence(
                "The directory does not have what your guardians would open for you, or not all of it.",
                "Choose them anew, and ask its operator: signet guardians replace …")
        case .guardedThingsUnreadable:
            Sentence(
                "The directory does not have what your guardians would open for you, or nobody can read it. Nothing has begun.",
                "If one of your devices still works, give 'signet guardians' there; else ask the directory's operator for an older copy."
            )
        case .tooMuchToGuard:
            Sentence("There is more to guard than the directory keeps.", "Begin anew: signet guardians replace …")
        case .journal:
            Sentence(
                "Your identity is yours again, but what the directory kept for you is damaged or incomplete.",
                "Ask its operator for an older copy, and give the same command again.")
        }
    }
}

extension RecoverySetupError {
    fileprivate var sentence: Sentence {
        switch self {
        case .tooManyGuardians(let count): Sentence("\(count) guardians are too many.", "Choose at most 16.")
        case .tooFewGuardians(let needed):
            Sentence("Losing a single guardian would make recovery impossible.", "Choose at least \(needed).")
        case .thresholdTooLow:
            Sentence("One guardian alone must not be able to take your identity.", "Say --needed 2 or more.")
        case .repeatedGuardian: Sentence("Somebody is named twice.", "Name each guardian once.")
        case .ownGuardian: Sentence("You cannot guard yourself.", "Choose other people.")
        case .delayTooLong: Sentence("That wait is too long.", "At most 30 days.")
        case .invalidGuardianKey(let handle), .notKept(let handle):
            Sentence("\(handle) cannot keep a part now.", "Choose somebody else.")
        default: Sentence("Your guardians could not be set up.", "Try again.")
        }
    }
}

extension Sentence {
    /// A file about guardians that cannot be read.
    fileprivate static func damaged(_ name: String, _ path: String) -> Sentence {
        let copy = "Put it back from a copy of the folder"
        return switch name {
        case "recovery":
            Sentence(
                "\(path) is damaged: what this device kept of the recovery under way.",
                "\(copy), or begin anew: signet recover start HANDLE --directory FILE")
        case "guardian-duties":
            Sentence("\(path) is damaged: what you keep for others.", "\(copy), or ask them to choose guardians anew.")
        case "guardian-cases", "guardian-objections":
            Sentence("\(path) is damaged: which requests you saw, and who objected.", "\(copy).")
        default: Sentence("\(path) is damaged: what this device keeps of your guardians.", "\(copy).")
        }
    }

    /// What was typed as a code is none.
    static var incompleteCode: Sentence {
        Sentence(
            "That is no code: a code is three words of the list and two digits.",
            "Nothing was compared. Ask them to read it once more: --code \"word word word 42\"")
    }
}

extension GuardianCaseError {
    fileprivate var sentence: Sentence {
        switch self {
        case .wrongCode:
            Sentence(
                "That is not the code. You do not help with this request any more.",
                "Either it was read or typed wrongly, or somebody pretends to be them. Call them in another way.")
        case .incompleteCode: Sentence.incompleteCode
        case .notTheCommittedNumber:
            Sentence(
                "The requesting device did not reveal the number that it committed to.",
                "Someone may be intercepting the connection. Do not help.")
        case .notLogged, .notCommitted:
            Sentence("The log does not show this request, or one of their devices stopped it.", "Do not help.")
        case .expired: Sentence("This request is too old.", "They have to begin anew.")
        case .anotherEpoch: Sentence("They have other guardians by now.", "Somebody else has to help.")
        case .tooEarly(let time):
            Sentence("Your part is not sent before \(Moment.date(time)).", "Run 'signet guardian' then.")
        case .viewTooOld:
            Sentence(
                "What the directory shows is too old to tell whether somebody objected.", "Run 'signet guardian' later."
            )
        case .invalidObjection:
            Sentence("That is no objection of one of their devices.", "Call them.")
        case .outOfOrder(.stopped):
            Sentence("One of their devices says that it was not them.", "Do not help. Call them.")
        case .outOfOrder(.declined), .outOfOrder(.reported):
            Sentence("You do not help with this request any more.", "If it is them after all, they have to begin anew.")
        case .outOfOrder: Sentence("You have confirmed this already.", "'signet guardian' shows how it stands.")
        default: Sentence("This request is not for what you keep.", "Do not help.")
        }
    }
}

extension RecoveryAttemptError {
    fileprivate var sentence: Sentence {
        switch self {
        case .notEnough(let missing):
            Sentence(
                "\(Moment.count(UInt64(max(0, missing)), "more guardian")) \(missing == 1 ? "has" : "have") to help.",
                "'signet recover' shows who helped, and whose part was wrong.")
        case .notCommitted, .bundle:
            Sentence(
                "What the directory gives out is not what the account promised: it is older, or somebody else's.",
                "Ask its operator. Do not go on with it.")
        case .recoveryKeyUnused:
            Sentence("The identity could not be taken over.", "Give the same command again.")
        default: Sentence("The recovery does not go on.", "'signet recover' shows how it stands.")
        }
    }
}
