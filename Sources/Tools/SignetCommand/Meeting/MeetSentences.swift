// SPDX-License-Identifier: Apache-2.0

import ContactMatching
import KeyTransparency
import Meeting
import SelectiveDisclosure
import Signet

extension CommandFailure {
    /// Why two people have not met.
    init(_ refusal: MeetingRefusal) { self.init(refusal.status, refusal.sentence) }
}

extension MeetingRefusal {
    var status: ExitStatus { if case .check(.notAnInvitation) = self { .badFile } else { family.status } }

    var sentence: Sentence {
        switch self {
        case .check(let error): error.sentence
        case .link(let error): error.sentence
        case .incompleteWords:
            Sentence(
                "Those are not three words and two digits; nothing was compared.",
                "Type them as they are on the other screen.")
        case .over: Sentence("This meeting is over.", "Both of you run 'signet meet' again.")
        case .giftsLost:
            Sentence(
                "What the two of you wanted to give each other did not all arrive.",
                "The meeting stands. To give it once more, meet again.")
        case .cardTooLong: Sentence("Your card is too long to be given in a meeting.", "Choose lines with --only.")
        case .card(let fault):
            Sentence(
                "Their card was refused (\(fault.rawValue)), and not kept.",
                "The meeting stands. Ask them for another card.")
        case .cardOfAnother:
            Sentence(
                "ALARM: the card that they gave was signed by somebody else.",
                "It was not kept; the meeting stands. Do not rely on what the card says.")
        case .matching(.tooManyTokens):
            Sentence("You have met too many people to compare them all.", "Leave some out with --hide.")
        case .matching(.unavailable):
            Sentence("This machine cannot compare contacts.", "The meeting stands.")
        case .matching(let error):
            Sentence(
                "Their device does not keep to the rules of comparing contacts (\(error)).",
                "Nothing of it was believed; the meeting stands.")
        case .contacts(let fault):
            Sentence("What people gave you cannot be read or kept: \(fault).", "Check the disk. The meeting stands.")
        case .contactsDamaged:
            Sentence(
                "The file 'met-contacts' of your home folder was changed, or is of another device.",
                "Restore it from a backup, or delete it. The meeting stands.")
        }
    }
}

extension MeetingError {
    fileprivate var sentence: Sentence {
        let again = "Nothing was recorded. Both of you run 'signet meet' again."
        return switch self {
        case .notAnInvitation:
            Sentence(
                "That is not the link of 'signet meet', or a part of it is missing.",
                "Copy it whole, or take a picture of the code: signet meet --scan PICTURE")
        case .expired(let end):
            Sentence("The invitation was good until \(Moment.date(end)).", "Ask them to run 'signet meet' again.")
        case .notInvited:
            Sentence("The other device has not seen your code, so it was not let in.", again)
        case .weakKey, .malformed:
            Sentence("The other device does not keep to the rules of a meeting.", again)
        case .otherOpening:
            Sentence(
                "ALARM: the device that answered is not the one whose code you read.",
                "Nothing was recorded. Somebody in this network has put themselves between the two of you: read the code from their "
                    + "screen again.")
        case .notOpened:
            Sentence(
                "A message of the other device was changed on the way.",
                "Nothing was recorded. Try again; if it happens again, use another network.")
        case .otherDirectory:
            Sentence(
                "They have their account at another directory than you.",
                "Two people of different directories cannot meet this way.")
        case .yourself:
            Sentence(
                "The other device shows your own identity.", "To add a device of yours, run 'signet account join'.")
        case .otherDay(let theirs, let own):
            Sentence(
                "Your clock says \(Moment.day(own)) and theirs says \(Moment.day(theirs)).",
                "Nothing was recorded. Set the clock that is wrong, and meet again.")
        case .invalidSignature, .notBound:
            Sentence(
                "ALARM: the other device does not have the identity that it names.",
                "Nothing was recorded. Whoever holds it is not who they say, or somebody is between the two of you.")
        case .anotherIdentity(let handle):
            Sentence(
                "ALARM: the other device shows another identity of \(handle) than the one that you know.",
                "Nothing was recorded. If they have recovered their identity, 'signet lookup \(handle)' shows it; accept that first. "
                    + "If not, this is not \(handle), or the directory deceived you.")
        case .otherWords:
            Sentence(
                "ALARM: these are not the words that the screen of the other device shows.",
                "Nothing was recorded. If you typed what you saw, the device that answered is not the one before you: somebody is "
                    + "between the two of you.")
        case .declined: Sentence("The other person did not confirm the meeting.", again)
        case .signingFailed:
            Sentence("Your identity key could not sign.", "Connect the place that holds it, and try again.")
        }
    }
}

extension MeetingLinkError {
    fileprivate var sentence: Sentence {
        let again = "Nothing was recorded. Both of you run 'signet meet' again."
        return switch self {
        case .cannotListen:
            Sentence(
                "This machine cannot wait at that address and port.",
                "Give an address of its own, and a port that is free.")
        case .noAddress:
            Sentence(
                "This machine has no address at which another device could reach it.",
                "Join the same network as the other device.")
        case .unreachable:
            Sentence(
                "No device answers at the addresses in the invitation, or says in this network that it is the one.",
                "Both devices have to be in one network, and the other one still has to show its code.")
        case .nobodyCame:
            Sentence("Nobody came before the invitation ended.", "Run 'signet meet' again when they are with you.")
        case .timedOut: Sentence("The other device said nothing for too long.", again)
        case .closed: Sentence("The connection to the other device ended.", again)
        case .tooMuch: Sentence("The other device sent more than belongs to a meeting.", again)
        }
    }
}

extension KeptInPerson {
    /// Why there is no receipt; nil if the user wanted none, or has one.
    func missingReceipt(isWanted: Bool) -> String? {
        if isReceiptMissing { return "The receipt was not made: the signature of \(record.peerHandle) did not arrive." }
        return isWanted && receipt == nil ? "There is no receipt: \(record.peerHandle) did not ask for one." : nil
    }
}
