import DeviceIdentity
import DeviceKeystores
import RecoveryClient
import SignetClient
import SitesClient

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// What happened, and what to do about it, for an app's screen and log. No handle, no key, no path, and nothing of what a server sent.
public struct Explanation: Hashable, Sendable {
    /// What happened; one sentence.
    public let what: String
    /// What to do about it; one or two sentences.
    public let remedy: String

    package init(_ what: String, _ remedy: String) {
        self.what = what
        self.remedy = remedy
    }
}

extension SignetError: CustomStringConvertible {
    /// ``explanation`` in one line.
    public var description: String { "\(explanation.what) \(explanation.remedy)" }

    /// For the user.
    public var explanation: Explanation {
        switch self {
        case .noAccount: Explanation("There is no account on this device.", "Create one, or link this device to one.")
        case .isBeingMade:
            Explanation("An account is being made here by another program.", "Try again when it has ended.")
        case .isBusy: Explanation("Another program is at work in this account.", "Try again when it has ended.")
        case .isTaken(_, .sameAccount): Explanation("The account exists already.", "Open it.")
        case .isTaken: Explanation("This place holds another account.", "Choose another place.")
        case .file(let fault, _):
            Explanation("A file of this account cannot be used: \(fault).", "Check the disk and its permissions.")
        case .directoryFile:
            Explanation("That is not a directory file.", "Get it again from whoever runs the directory.")
        case .keystore(.wrongPassphraseOrDamaged, _):
            Explanation(
                "The passphrase is wrong, or the keystore is damaged.", "Try again, or restore the file from a backup.")
        case .keystore(.place(_, .absent), _):
            Explanation(
                "The TPM or keyring that holds a part of the keys cannot be reached.", "Connect it, and try again.")
        case .keystore(.place(_, .locked), _), .keystore(.place(_, .lockedOut), _):
            Explanation(
                "What holds a part of the keys is locked.", "Unlock it, or wait until it lets go; then try again.")
        case .keystore(.place(_, .nothingThere), _), .keystore(.place(_, .damaged), _):
            Explanation(
                "The keys open only on the machine where they were made.",
                "Use that machine, or recover the identity with your guardians.")
        case .keystore(let error, _):
            Explanation("The keystore cannot be opened: \(error).", "Restore it from a backup.")
        case .store(let error, _):
            Explanation("What this device remembers cannot be read: \(error).", "Restore it from a backup.")
        case .memoryLost:
            Explanation(
                "This device has lost its memory of whose keys are whose.",
                "Restore it from a backup. Without one, remove it, and compare keys with your contacts again.")
        case .weakPassphrase: Explanation("The passphrase would be guessed too soon.", "Choose a longer one.")
        case .address, .profile:
            Explanation("The directory file cannot be used.", "Get it again from whoever runs the directory.")
        case .client(let error): error.explanation
        case .quorumWeakened:
            Explanation(
                "The directory has changed its keys, and other or fewer witnesses would suffice from now on.",
                "Ask whoever runs it before you go on.")
        case .evidenceHeld:
            Explanation(
                "The directory has changed its keys, and there is evidence against it on this device.",
                "Ask whoever runs it before you go on.")
        case .handleTaken, .handleTakenAndKept:
            Explanation("The directory says that the handle is taken, and does not prove it.", "Choose another handle.")
        case .presence(let refusal): refusal.explanation
        case .removedDevice:
            Explanation(
                "This device was removed from the account.",
                "If that was not you, somebody else has your identity: tell your contacts.")
        case .otherCard:
            Explanation(
                "This card is not the one that your new device made.",
                "Nothing was linked. Carry the card over once more, in a way that nobody can get between.")
        case .otherAccount:
            Explanation(
                "The account that the directory shows this device is not the one that your other device has.",
                "Nothing was accepted. Type the digits once more; if they differ again, do not use this directory.")
        case .recovery(.client(let error)): error.explanation
        case .recovery(let error):
            Explanation("The step with guardians was not taken (\(error.name)).", error.remedy)
        case .sites(let error): Explanation("Nothing was done at the site (\(error.name)).", error.remedy)
        case .siteKeys(.keystore(.wrongPassphraseOrDamaged), _):
            Explanation("The passphrase does not open the keys to your sites.", "Restore their file from a backup.")
        case .siteKeys:
            Explanation("The file of the keys to your sites cannot be used.", "Check the disk, or restore it.")
        case .stranger: Explanation("This is nobody whom you added.", "Add them first.")
        case .changed:
            Explanation(
                "This person's devices or identity have changed since you accepted them.",
                "Ask them in another way whether that was them, and accept the change then.")
        case .contradicted:
            Explanation(
                "What the directory shows of this person contradicts what it proved before.",
                "Do not use this directory until its operator has explained this.")
        case .message(let error): Explanation("The message was refused: \(error.name).", error.remedy)
        case .notes(.client(let error)): error.explanation
        case .notes(let error):
            Explanation(
                "The notes could not be used (\(Mirror(reflecting: error).children.first?.label ?? "\(error)")).",
                "Nothing was lost.")
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
                "The directory knows nobody of that name.", "Check the spelling, or wait until they have an account.")
        }
        return switch family {
        case .environment:
            Explanation("The directory could not be reached (\(self)).", "Check the network and try again.")
        case .peer:
            Explanation(
                "The directory's answer was refused (\(self)).",
                "Nothing was sent or believed. Ask whoever runs the directory.")
        case .caller: Explanation("This cannot be done (\(self)).", "Check what was asked for.")
        case .bug: Explanation("A mistake in Signet (\(self)).", "Please report it.")
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
            Explanation("You have not approved of this.", "Nothing was done.")
        }
    }
}

extension RecoveryClientError {
    /// Whose fault it is.
    var family: ErrorFamily {
        switch self {
        case .client(let error): error.family
        case .file, .tooEarly, .boxFull: .environment
        case .malformedAnswer, .journal, .guardedThingsLost, .guardedThingsUnreadable: .peer
        case .start, .request, .account: .bug
        default: .caller
        }
    }

    fileprivate var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }

    fileprivate var remedy: String {
        switch family {
        case .environment: "Try again later."
        case .peer: "Look at your guardians: what is lost is stored again if this device has it."
        case .caller: "Look at your guardians, and at who asks them."
        case .bug: "Please report it."
        }
    }
}

extension SitesError {
    fileprivate var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }

    fileprivate var remedy: String {
        switch family {
        case .environment: "Check the network and try again."
        case .peer: "Ask whoever runs the site. Nothing was changed here."
        case .caller: "Look at the list of your sites."
        case .bug: "Please report it."
        }
    }
}

extension SealedMessageError {
    /// The check that failed; without whom it names.
    fileprivate var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }

    fileprivate var remedy: String {
        isOfTheCaller
            ? "Nothing was sealed." : "Whoever carried it may have changed it; ask its sender to send it again."
    }
}
