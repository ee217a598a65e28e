// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyTransparency
import Signet

extension MonitorAlarm {
    /// A name that scripts may rely on.
    var name: String {
        switch self {
        case .unknownDevice: "unknown-device"
        case .unknownVersion: "unknown-version"
        case .withheldVersion: "withheld-version"
        case .reset: "reset"
        case .recovery: "recovery"
        case .formerRecovery: "former-recovery"
        case .recovered: "recovered"
        case .rushed: "rushed-recovery"
        case .closed: "closed"
        case .wrongStep: "wrong-step"
        case .doesNotFollow: "does-not-follow"
        case .vanished: "vanished"
        case .milestone(.index), .milestone(.anotherHistory): "other-past"
        case .milestone: "milestone-not-proven"
        case .unseenDays: "unseen-days"
        }
    }

    /// What happened, and what to do.
    var sentence: Sentence {
        let mine = "If that was you on another device: signet monitor --accept. "
        let theft =
            "If not, someone else has your identity, or the directory forged it: remove what is not yours, and tell "
            + "your "
            + "friends over another channel."
        let lie =
            "Only the directory itself can have done that. Keep this folder, and tell your friends over another "
            + "channel."
        return switch self {
        case .unknownDevice:
            Sentence("A device that you do not know was logged under your name.", mine + theft)
        case .unknownVersion(let version):
            Sentence("Version \(version) of your account was not made on this device.", mine + theft)
        case .withheldVersion(let version):
            Sentence(
                "Version \(version) of your account was not made on this device, and the directory does not show it.",
                mine + theft)
        case .reset(let version):
            Sentence("Your identity was replaced with version \(version), without the old one's signature.", lie)
        case .recovery(let version):
            Sentence(
                "A recovery of your account was begun with version \(version).",
                "If you did not ask your guardians for it, stop it now from one of your devices: signet recover stop. Then ask them who called."
            )
        case .formerRecovery(let version):
            Sentence(
                "A recovery of your account was begun with version \(version); it is over.",
                "If you did not ask your guardians for it, ask them who called. Then: signet monitor --accept."
            )
        case .recovered(let version):
            Sentence(
                "With version \(version) your guardians gave your identity to another device.",
                "If that was you, this device is no longer needed: delete its home folder. If not, tell your friends "
                    + "over another channel, and ask your guardians."
            )
        case .rushed(let version):
            Sentence(
                "With version \(version) your guardians gave your identity to another device without the delay in which you could "
                    + "object.",
                "Guardians and the directory did that together, or the directory hides the request. Tell your "
                    + "friends over "
                    + "another channel, and ask your guardians.")
        case .closed(let version):
            Sentence(
                "Your account was closed with version \(version).",
                "If you did not ask for that, the directory did it without you: tell your friends over another "
                    + "channel.")
        case .wrongStep(let expected, let found):
            Sentence("Version \(found) of your account was logged where version \(expected) belongs.", lie)
        case .doesNotFollow(let version):
            Sentence("Version \(version) of your account does not continue the one before it.", lie)
        case .vanished:
            Sentence("The directory says that your name is not registered, but it proved your account before.", lie)
        case .milestone(let fault): fault.sentence(lie)
        case .unseenDays(let days):
            Sentence(
                "You have not looked for so long that there is no longer any proof of what the directory said about "
                    + "you from "
                    + "\(Moment.day(days.lowerBound)) to \(Moment.day(days.upperBound)).",
                "Everything that was logged under your name has been checked. Ask your friends whether they saw "
                    + "other keys for "
                    + "you in that time; then run: signet monitor --accept.")
        }
    }
}

extension MonitorReport {
    /// That the directory had lost something of the account, and has it back.
    static func sentence(broughtAgain versions: [UInt64]) -> String {
        let (first, last) = (versions.first ?? 0, versions.last ?? 0)
        let which = first == last ? "version \(last)" : "versions \(first) to \(last)"
        return "The directory could not show your account; this device has brought \(which) of it again, as before."
    }
}

extension MilestoneFault {
    func sentence(_ lie: String) -> Sentence {
        let again =
            "This is not proof of misbehaviour: ask again. Until that changes, the directory may be hiding what it "
            + "said about you."
        return switch self {
        case .index(let day, _), .anotherHistory(let day):
            Sentence(
                "On \(Moment.day(day)) the directory's index said something about you that contradicts your history.",
                lie)
        case .missing(let day):
            Sentence("The directory does not show what its index said about you before \(Moment.day(day)).", again)
        case .skipsDays, .notFirstOfDay, .missesMark:
            Sentence("The directory leaves out days when it shows what its index said about you.", lie)
        case .envelope, .order, .surplus, .inclusion, .notRightBefore:
            Sentence("What the directory shows for past days does not match its log.", again)
        }
    }
}

extension HistoryRefusal {
    func sentence(_ alarm: String) -> Sentence {
        switch self {
        case .envelope: Sentence("The directory's answer about a history is malformed.", alarm)
        case .lookup(let error): error.sentence
        case .accountState, .anotherAccount:
            Sentence("The directory shows a past account that cannot have been signed for this name.", alarm)
        case .step:
            Sentence("The directory does not show when a step of a recovery was logged.", alarm)
        case .otherHistory:
            Sentence("The history that the directory shows is not the one in its index.", alarm)
        }
    }
}

extension ShownKeysAlarm {
    /// A name that scripts may rely on.
    var name: String {
        switch fault {
        case .takenBack: "shown-keys-taken-back"
        case .withheld: "shown-keys-withheld"
        case .milestone(.index), .milestone(.anotherHistory): "shown-keys-other-past"
        case .milestone: "shown-keys-not-proven"
        case .unseenDays: "shown-keys-unseen-days"
        }
    }

    /// What happened, and what to do.
    var sentence: Sentence {
        let day = Moment.day(shown.epoch.day)
        let ask =
            "Ask \(shown.handle) over another channel which keys are theirs. Keep this folder: it has the signed "
            + "answer. Then "
            + "run: signet monitor --accept."
        return switch fault {
        case .takenBack:
            Sentence(
                "On \(day) the directory showed you keys for \(shown.handle) that are not in the history it shows now.",
                ask)
        case .withheld:
            Sentence(
                "On \(day) a log that has since ended showed you keys for \(shown.handle), and the directory does "
                    + "not show whether "
                    + "they were in force when it ended.",
                "If their account was erased, it cannot. " + ask)
        case .milestone(let fault):
            Sentence(
                "The directory does not confirm the keys for \(shown.handle) that it showed you on \(day).",
                fault.sentence(ask).remedy)
        case .unseenDays(let days):
            Sentence(
                "You used keys for \(shown.handle) on \(day), and there is no longer any proof of what the directory "
                    + "said about them from "
                    + "\(Moment.day(days.lowerBound)) to \(Moment.day(days.upperBound)).",
                ask)
        }
    }
}
