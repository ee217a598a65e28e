// SPDX-License-Identifier: Apache-2.0

import Signet
import SocialRecovery

extension RecoverySetupError {
    var sentence: Sentence {
        switch self {
        case .tooManyGuardians(let count): Sentence("\(count) guardians is too many.", "Choose at most 16.")
        case .tooFewGuardians(let needed):
            Sentence(
                "Losing a single guardian would make recovery impossible.",
                "Choose at least \(needed), or ask for fewer of them with --needed N: at least 2, and fewer than you choose."
            )
        case .thresholdTooLow:
            Sentence("One guardian alone must not be able to take your identity.", "Use --needed 2 or more.")
        case .repeatedGuardian: Sentence("A guardian is named twice.", "Name each guardian once.")
        case .ownGuardian: Sentence("You cannot guard yourself.", "Choose other people.")
        case .delayTooLong: Sentence("That wait is too long.", "Choose at most 30 days.")
        case .invalidGuardianKey(let handle), .notKept(let handle):
            Sentence("\(handle) cannot keep a part at the moment.", "Choose someone else.")
        default: Sentence("Your guardians could not be set up.", "Try again.")
        }
    }
}

extension GuardianCaseError {
    var sentence: Sentence {
        switch self {
        case .wrongCode:
            Sentence(
                "That is not the code. You are no longer helping with this request.",
                "Either it was misread or mistyped, or someone is pretending to be them. Call them over another "
                    + "channel.")
        case .incompleteCode: Sentence.incompleteCode
        case .notTheCommittedNumber:
            Sentence(
                "The requesting device did not reveal the number that it committed to.",
                "Someone may be intercepting the connection. Do not help.")
        case .notLogged, .notCommitted:
            Sentence("The log does not show this request, or one of their devices stopped it.", "Do not help.")
        case .expired: Sentence("This request is too old.", "They have to begin again.")
        case .anotherEpoch: Sentence("They have other guardians now.", "Someone else has to help.")
        case .tooEarly(let time):
            Sentence("Your part cannot be sent before \(Moment.date(time)).", "Run 'signet guardian' then.")
        case .viewTooOld:
            Sentence(
                "What the directory shows is too old to tell whether anyone objected.", "Run 'signet guardian' later."
            )
        case .invalidObjection:
            Sentence("That is not an objection from one of their devices.", "Call them.")
        case .outOfOrder(.stopped):
            Sentence("One of their devices says that it was not them.", "Do not help. Call them.")
        case .outOfOrder(.declined), .outOfOrder(.reported):
            Sentence(
                "You are no longer helping with this request.", "If it is them after all, they have to begin again.")
        case .outOfOrder: Sentence("You have already confirmed this.", "'signet guardian' shows its progress.")
        default: Sentence("This request does not match the part that you keep.", "Do not help.")
        }
    }
}

extension RecoveryAttemptError {
    var sentence: Sentence {
        switch self {
        case .notEnough(let missing):
            Sentence(
                "\(Moment.count(UInt64(max(0, missing)), "more guardian")) \(missing == 1 ? "has" : "have") to help.",
                "'signet recover' shows who helped, and whose part was wrong.")
        case .notCommitted, .bundle:
            Sentence(
                "The recovery file that the directory returned is not the one that the account committed to: it is "
                    + "older, or someone else's.",
                "Ask its operator. Do not continue with it.")
        case .recoveryKeyUnused:
            Sentence("The identity could not be taken over.", "Run the same command again.")
        default: Sentence("The recovery cannot continue.", "'signet recover' shows its progress.")
        }
    }
}
