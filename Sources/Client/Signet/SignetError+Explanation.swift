// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import DeviceKeystores
import NotesClient
import PinnedHTTP
import RecoveryClient
import SelectiveDisclosure
import SignetClient
import SitesClient

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What happened and what to do about it, for an app's screen and log. It contains no handle, key or path, and nothing that a
/// server sent.
public struct Explanation: Hashable, Sendable {
    /// What happened, in one sentence.
    public let what: String
    /// What to do about it, in one or two sentences.
    public let remedy: String

    package init(_ what: String, _ remedy: String) {
        self.what = what
        self.remedy = remedy
    }
}

extension SignetError: CustomStringConvertible {
    /// The ``explanation`` in one line.
    public var description: String { "\(explanation.what) \(explanation.remedy)" }

    /// The explanation for the user.
    public var explanation: Explanation {
        switch self {
        case .noAccount: Explanation("There is no account on this device.", "Create one, or link this device to one.")
        case .isBeingMade:
            Explanation("Another program is making an account here.", "Try again when it has finished.")
        case .isBusy: Explanation("Another program is using this account.", "Try again when it has finished.")
        case .isTaken(_, .sameAccount): Explanation("The account already exists.", "Open it.")
        case .isTaken: Explanation("This place holds another account.", "Choose another place.")
        case .file(let fault, _):
            Explanation("A file of this account cannot be used: \(fault).", "Check the disk and its permissions.")
        case .directoryFile(let error, _): error.explanation
        case .keystore(.wrongPassphraseOrDamaged, _):
            Explanation(
                "The passphrase is wrong, or the keystore is damaged.", "Try again, or restore the file from a backup.")
        case .keystore(.place(_, .absent), _):
            Explanation(
                "The TPM or keyring that holds a part of the keys cannot be reached.", "Connect it, and try again.")
        case .keystore(.place(_, .locked), _), .keystore(.place(_, .lockedOut), _):
            Explanation(
                "The TPM or keyring that holds a part of the keys is locked.",
                "Unlock it, or wait until it "
                    + "unlocks; then try again.")
        case .keystore(.place(_, .nothingThere), _), .keystore(.place(_, .damaged), _):
            Explanation(
                "The keys open only on the machine where they were made.",
                "Use that machine, or recover the identity with your guardians.")
        case .keystore(let error, _):
            Explanation("The keystore cannot be opened: \(error).", "Restore it from a backup.")
        case .store(let error, _):
            Explanation("This device's stored data cannot be read: \(error).", "Restore it from a backup.")
        case .memoryLost:
            Explanation(
                "This device has lost its record of which keys belong to whom.",
                "Restore it from a backup. Without one, remove it, and compare keys with your contacts again.")
        case .weakPassphrase: Explanation("The passphrase would be too easy to guess.", "Choose a longer one.")
        case .address, .profile:
            Explanation("The directory file cannot be used.", "Get it again from the directory's operator.")
        case .client(let error): error.explanation
        case .quorumWeakened:
            Explanation(
                "The directory has changed its keys, and from now on other or fewer witnesses would suffice.",
                "Ask its operator before you continue.")
        case .evidenceHeld:
            Explanation(
                "The directory has changed its keys, and there is evidence against it on this device.",
                "Ask its operator before you continue.")
        case .handleTaken, .handleTakenAndKept:
            Explanation(
                "The directory says that the handle is taken, but does not prove it.",
                "If it is yours, link this device from another one or recover the account; otherwise choose another handle."
            )
        case .presence(let refusal): refusal.explanation
        case .removedDevice:
            Explanation(
                "This device was removed from the account.",
                "If that was not you, someone else has your identity: tell your contacts.")
        case .otherCard:
            Explanation(
                "This card is not the one that your new device made.",
                "Nothing was linked. Carry the card over again, in a way that no one can intercept.")
        case .otherAccount:
            Explanation(
                "The account that the directory shows this device is not the one that your other device has.",
                "Nothing was accepted. Type the digits again; if they still differ, do not use this directory.")
        case .recovery(.client(let error)): error.explanation
        case .recovery(let error):
            Explanation("The step with guardians was not taken (\(error)).", error.remedy)
        case .sites(.card(let fault)):
            Explanation(
                "A card was not kept or not shown (\(fault.name)).",
                "Look at the list of your cards, or ask the issuer.")
        case .sites(let error): Explanation("Nothing was done at the site (\(error.name)).", error.remedy)
        case .walletCard(let fault): fault.explanation
        case .businessCard:
            Explanation("A line of the card is missing, too long, or has characters that are not seen.", "Correct it.")
        case .webPage(let fault): fault.explanation
        case .siteKeys(.keystore(.wrongPassphraseOrDamaged), _):
            Explanation("The passphrase does not open the keys to your sites.", "Restore their file from a backup.")
        case .siteKeys:
            Explanation("The file with the keys to your sites cannot be used.", "Check the disk, or restore the file.")
        case .stranger: Explanation("You have not added this person.", "Add them first.")
        case .changed:
            Explanation(
                "This person's devices or identity have changed since you accepted them.",
                "Ask them over another channel whether that was them, and then accept the change.")
        case .contradicted:
            Explanation(
                "What the directory shows about this person contradicts what it proved before.",
                "Do not use this directory until its operator has explained this.")
        case .comparison(.tooFewDigits, _):
            Explanation("Those are not all the digits to compare.", "Type all of them. Nothing was recorded.")
        case .comparison:
            Explanation(
                "What you compared is not what you and this person have.",
                "Compare again. If it still differs, the directory gave one of you a wrong key: do not use it.")
        case .meeting(let refusal): refusal.explanation
        case .message(let error): Explanation("The message was refused: \(error.name).", error.remedy)
        case .notes(.client(let error)): error.explanation
        case .notes(let error):
            Explanation("The notes could not be used (\(error)).", error.remedy)
        }
    }
}

extension SignetError: LocalizedError {
    /// ``Explanation/what``.
    public var errorDescription: String? { explanation.what }
    /// ``Explanation/remedy``.
    public var recoverySuggestion: String? { explanation.remedy }
}

extension ClientError {
    fileprivate var explanation: Explanation {
        if SignetError.client(self).isUnknownHandle {
            return Explanation(
                "The directory knows no one by that name.", "Check the spelling, or wait until they have an account.")
        }
        return switch family {
        case .environment:
            Explanation("The directory could not be reached (\(self)).", "Check the network and try again.")
        case .peer:
            Explanation(
                "The directory's answer was refused (\(self)).",
                "Nothing was sent or accepted. Ask the directory's operator.")
        case .caller: Explanation("This cannot be done (\(self)).", "Check what was asked for.")
        case .bug: Explanation("This is a bug in Signet (\(self)).", "Please report it.")
        }
    }
}

extension PresenceRefusal {
    fileprivate var explanation: Explanation {
        switch self {
        case .wait: Explanation("There were too many wrong passphrases.", "Wait, then try again.")
        case .locked: Explanation("Your keys are locked.", "Unlock them first.")
        case .unanswered(.failed): Explanation("The passphrase is wrong.", "Try again.")
        case .unanswered(.tooLate): Explanation("The question timed out.", "Try again.")
        case .unanswered(.declined), .unanswered(.notAsked):
            Explanation("You have not approved this.", "Nothing was done.")
        }
    }
}

extension RecoveryClientError {
    /// The error family, which says who is at fault.
    var family: ErrorFamily {
        switch self {
        case .client(let error): error.family
        case .file, .tooEarly, .boxFull: .environment
        case .malformedAnswer, .journal, .guardedThingsLost, .guardedThingsUnreadable: .peer
        case .start, .request, .account: .bug
        default: .caller
        }
    }

    fileprivate var remedy: String {
        switch family {
        case .environment: "Try again later."
        case .peer: "Look at your guardians: that stores again what was lost, if this device has it."
        case .caller: "Look at your guardians, and at who is asking them."
        case .bug: "Please report it."
        }
    }
}

extension NotesError {
    fileprivate var remedy: String {
        switch family {
        case .environment: "Check the network and the disk, and try again."
        case .peer: "Keep this device's copy of the notes, and ask the server's operator."
        case .caller: "Look at the note, and at the people it is shared with."
        case .bug: "Please report it."
        }
    }
}

extension SitesError {
    fileprivate var remedy: String {
        switch family {
        case .environment: "Check the network and try again."
        case .peer: "Ask the site's operator. Nothing was changed here."
        case .caller: "Look at the list of your sites."
        case .bug: "Please report it."
        }
    }
}

extension MeetingRefusal {
    fileprivate var explanation: Explanation {
        switch (self, family) {
        case (.incompleteWords, _):
            Explanation("Those are not three words and two digits.", "Type them as they are on the other screen.")
        case (.check(let error), .peer):
            Explanation(
                "The other device was refused (\(error.name)). Nothing was recorded.",
                "Make sure that you read the code from the screen of the person before you, and meet again.")
        case (.check(let error), _):
            Explanation(
                "The meeting did not take place (\(error.name)).", "Nothing was recorded. Both of you begin again.")
        case (.link(let error), _):
            Explanation(
                "The two devices could not talk to each other (\(error.name)). Nothing was recorded.",
                "Both have to be in one network; begin again.")
        case (.over, _): Explanation("This meeting is over.", "Both of you begin again.")
        case (.giftsLost, _):
            Explanation(
                "What you wanted to give each other did not all arrive. The meeting stands.",
                "Meet again to give it once more.")
        case (.cardTooLong, _): Explanation("Your card is too long to be given in a meeting.", "Choose fewer lines.")
        case (.card(let error), _):
            Explanation("Their card was refused (\(error.rawValue)). The meeting stands.", "Ask them for another card.")
        case (.cardOfAnother, _):
            Explanation(
                "They gave a card that somebody else has signed. It was not kept; the meeting stands.",
                "Do not rely on what it says.")
        case (.matching, .peer):
            Explanation(
                "Their device does not keep to the rules of comparing contacts. The meeting stands.",
                "Nothing of the comparison was believed.")
        case (.matching, _):
            Explanation("Contacts were not compared. The meeting stands.", "Hide some people, and try again.")
        case (.contacts(let fault), _):
            Explanation("What people gave you cannot be read or kept: \(fault).", "Check the disk and its permissions.")
        case (.contactsDamaged, _):
            Explanation(
                "The file with what people gave you was changed, or is of another device.",
                "Restore it from a backup, or delete it.")
        }
    }
}

extension SealedMessageError {
    fileprivate var remedy: String {
        isOfTheCaller
            ? "Nothing was sealed." : "It may have been changed on the way; ask its sender to send it again."
    }
}

extension Error {
    /// The name of the case, without the people it concerns.
    fileprivate var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
