// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Signet
import SignetAPI

extension CommandFailure {
    /// What the client could not do.
    init(_ error: ClientError, session: Session) {
        switch error {
        case .store(let error): self.init(error, path: session.storePath)
        case .keystore(let error): self.init(error, path: session.home.keystore.path)
        case .refused(let code, let wait):
            self.init(error.family == .environment ? .environment : .notProven, code.sentence(wait))
            retryAfter = wait
        case .notReached(_, let wait):
            self.init(.environment, error.sentence(session.profile.url))
            retryAfter = wait
        case .submission(let error): self.init(.badFile, error.sentence)
        case .lookup(let refusal): self.init(refusal: refusal, session: session)
        case .notRegistered(let absence): self.init(.noKeys, absence.sentence)
        case .accountClosed(let closure):
            self.init(.noKeys, closure.sentence(isOwn: closure.handle == session.keystore?.handle))
        case .ownAccountChanged, .peerChanged: self.init(.needsDecision, error.sentence(session.profile.url))
        case .misuse(.deviceNotAddedYet) where session.keystore?.identityKey != nil:
            self.init(
                .usage, "The account is not registered yet: that was interrupted.",
                "Do it once more, with the keys that are here: signet account create, with the same handle and directory file"
            )
        default: self.init(error.family.status, error.sentence(session.profile.url))
        }
    }
}

extension CommandFailure {
    /// An answer that failed a check. That one's own account is gone is a matter of its own.
    init(refusal: LookupRefusal, session: Session) {
        guard case .history(.vanished) = refusal.error, refusal.handle == session.keystore?.handle else {
            self.init(refusal.error.status, refusal.sentence)
            return
        }
        self.init(
            .notProven,
            "The directory says that \(refusal.handle) is not registered, but it proved that account, which is "
                + "yours, to you before.",
            "The directory lies: keep this folder, and tell your friends over another channel.")
    }
}

extension ClientError {
    func sentence(_ directory: String) -> Sentence {
        let alarm =
            "Do not use this directory until its operator has explained this. 'signet evidence list' shows what was kept."
        return switch self {
        case .transport(let error): error.sentence(directory)
        case .refused(let code, let wait): code.sentence(wait)
        case .notReached(let status, _): .notReached(directory, status)
        case .unexpectedStatus(let status):
            Sentence(
                "The directory answered with HTTP status \(status), which it never should.",
                "Check that \(directory) is the directory and not a proxy.")
        case .malformedAnswer:
            Sentence(
                "The directory's answer cannot be read.",
                "Check that \(directory) is the directory, and its version.")
        case .lookup(let refusal): refusal.sentence
        case .history(let refusal): refusal.sentence(alarm)
        case .withheld(let handle):
            Sentence(
                "The directory says that there is no \(handle), but does not prove it.",
                "An honest directory proves it. Check its version, and ask its operator.")
        case .deviceKeysWithheld(let handle):
            Sentence(
                "The directory proves which devices \(handle) has, but does not show all of their keys.",
                "An honest directory shows them. Check its version, and ask its operator.")
        case .eCall(let error): error.sentence
        case .notRegistered(let absence): absence.sentence
        case .accountClosed(let closure): closure.sentence(isOwn: false)
        case .notWhatWasSent:
            Sentence("The directory took your change, but its log shows something else.", alarm)
        case .ownAccountChanged(let change):
            Sentence(
                "Your account is not as this device left it: \(change.words).",
                "If that was you on another device, run 'signet people trust' with your own handle. If not, someone "
                    + "else has your identity: "
                    + "revoke what is not yours, and tell your friends.")
        case .peerChanged(let handle, let change):
            Sentence(
                "\(handle) is blocked: \(change.words) since you accepted them.",
                "Ask them over another channel whether that was them. If so: signet people trust \(handle)")
        case .contactCard(let mismatch): mismatch.sentence
        case .friendRequest(let handle, let error): error.sentence(handle)
        case .friendList(let error): error.sentence
        case .linkCard(let error): error.sentence
        case .forkMet:
            Sentence("ALARM: the directory showed this person another log than you, and signed both.", alarm)
        case .contradicted(let contradiction): contradiction.sentence
        case .log(let error): error.sentence(alarm)
        case .succession(let error): error.sentence
        case .pins(let error): error.sentence
        case .former(let handle, let fault): fault.sentence(handle, alarm)
        case .showsLess(let size, let since):
            Sentence(
                "The directory shows less than it did: on \(Moment.date(since)) its log had \(size) entries. Its servers say that they are "
                    + "behind, and have been for too long.",
                "Nothing was accepted. An honest server is not behind for ten minutes: ask the operator whether a backup was restored, and "
                    + "tell your contacts.")
        case .viewKeepsMoving:
            Sentence("Other signet processes on this machine were faster eight times in a row.", "Try again.")
        case .store(let error): error.sentence("the store")
        case .keystore(let error): error.sentence("the keystore")
        case .submission(let error): error.sentence
        case .account: Sentence("The account cannot be encoded.", CommandFailure.bugRemedy)
        case .misuse(let misuse): misuse.sentence
        }
    }
}

extension ErrorCode {
    func sentence(_ wait: UInt64?) -> Sentence {
        switch self {
        case .badRequest:
            Sentence(
                "The directory cannot read the request.",
                "It may be of another version. " + CommandFailure.bugRemedy)
        case .tooLarge: Sentence("The request is too long for the directory.", CommandFailure.bugRemedy)
        case .notSigned, .notYourAccount:
            Sentence(
                "The directory does not recognise this device as one of the account's.",
                "If it was revoked, add it again: 'signet account join'.")
        case .suspended:
            Sentence(
                "The directory's operator has suspended this account.",
                "Ask the operator. Notes and changes that wait stay on this device, and devices can still be revoked.")
        case .notInvited:
            Sentence(
                "The directory knows no invitation like this for the handle, or registers people by invitation only.",
                "Ask its operator for an invitation for this handle, and give it with --invitation. It can be used once, within seven days. "
                    + "If you gave one that is for something else, leave it out."
            )
        case .tokenNeeded:
            Sentence(
                "This directory registers handles of this domain with a token of its operator's login system.",
                "Log in there, let it make a token for this handle and this device, and give the token's file with --token. The same "
                    + "command with --advanced shows what the login system needs.")
        case .tokenRefused:
            Sentence(
                "The directory does not take the token: it is over, or not for this handle, this device and this directory.",
                "Get a new one for exactly this handle and this device, within fifteen minutes of use.")
        case .codeSent:
            Sentence(
                "The directory has sent a code of six digits to the handle, which is a mail address.",
                "Read that mail, and run the same command again with --code, within fifteen minutes.")
        case .codeRefused:
            Sentence(
                "The directory does not take the code: it is not the one that was sent last, or its time is over.",
                "Look at the newest mail. After three wrong codes run the command without --code: it sends another one."
            )
        case .domainClosed:
            Sentence(
                "This directory does not register handles of this domain.",
                "Choose a handle of a domain that it registers, or ask its operator for an invitation.")
        case .released:
            Sentence(
                "The handle waits for another person.", "Whoever has the operator's code for it can register it.")
        case .wrongTime:
            Sentence(
                "This device's clock and the directory's are more than five minutes apart.",
                "Set the clock and try again.")
        case .stepTooOld:
            Sentence(
                "This was signed on this device more than five minutes ago, and the directory no longer accepts it.",
                "Try again: it is then signed afresh. If that does not help, set the clock.")
        case .notYet:
            Sentence(
                "The witnesses cannot show yet that this recovery waited long enough, so your contacts would take it "
                    + "for an attack.",
                "Try again later. The wait is longer if witnesses were away when the recovery began.")
        case .replayed: Sentence("The directory has already seen this exact request.", "Try again.")
        case .handleTaken:
            Sentence(
                "The directory says that someone else has registered this handle.",
                "It cannot prove that. Choose another one, or ask the directory's operator.")
        case .versionConflict:
            Sentence(
                "The account was changed on another device in the meantime.",
                "Run 'signet devices list', then try again.")
        case .keyInUse:
            Sentence(
                "One of the device's keys already belongs to another device.", "Make new keys for the device.")
        case .possessionNotProven:
            Sentence(
                "The device card is too old, or was not made for this directory.",
                "Make a new card with 'signet account join' on the new device.")
        case .notFound:
            Sentence(
                "The directory knows nothing by that name.",
                "Check the spelling; 'signet lookup' asks it for the proof.")
        case .tooManyRequests:
            Sentence(
                "The directory refuses more requests for now.",
                "Try again " + (wait.map { "in \(Moment.span($0))." } ?? "later."))
        case .unavailable: Sentence("The directory cannot do this at the moment.", "Try again later.")
        case .behind:
            Sentence(
                "The server that answered has not come as far as the directory showed before.",
                "Try again in a moment. If it goes on for ten minutes, 'signet' says that the directory shows less than it did."
            )
        case .unwitnessed:
            Sentence(
                "The directory has your change but cannot show it yet: too few witnesses have cosigned its log.",
                "Run the same command again later; nothing is done twice.")
        }
    }
}

extension ClientMisuse {
    var sentence: Sentence {
        switch self {
        case .noAccount:
            Sentence(
                "There is no account on this device.",
                "Make one with 'signet account create HANDLE --directory FILE'.")
        case .notALogKey:
            Sentence("That is not the key of a log.", "Give the 32 bytes of an Ed25519 key, in base64.")
        case .profileNeedsOneLog:
            Sentence("The directory file does not name exactly one log.", "Get the directory file again.")
        case .identityKeyElsewhere:
            Sentence(
                "This device does not hold the account's identity.",
                "Do this on the device on which the account was made.")
        case .anotherAccount(let handle):
            Sentence(
                "That card is for \(handle), which is not this account.",
                "Make a card with the handle of this account.")
        case .noSuchDevice(let number):
            Sentence("The account has no device \(number).", "'signet devices list' shows the numbers.")
        case .ownDevice: Sentence("That is the device you are using.", "Revoke it from another one.")
        case .deviceAlreadyAdded(let number):
            Sentence("That device is already in the account, as number \(number).", "There is nothing left to do.")
        case .tooManyDevices:
            Sentence(
                "The account has \(AccountState.maximumDeviceCount) devices, the maximum.",
                "Revoke one first.")
        case .noDeviceNumberLeft:
            Sentence("All device numbers of this account are used up.", "Only a new account can have another device.")
        case .yourself: Sentence("That is you.", "Name someone else.")
        case .nothingToAccept: Sentence("Nothing has changed; there is nothing to accept.", "Carry on.")
        case .noRequest(let handle):
            Sentence(
                "\(handle) has not asked you, so there is nothing to accept.",
                "'signet people requests' shows who is asking; 'signet people add \(handle)' asks them.")
        case .changeHasMoved:
            Sentence("It has changed again since you looked.", "Look at it again before you decide.")
        case .nothingPinned:
            Sentence(
                "You have not accepted anything from this person yet.", "Add them first: 'signet people add'.")
        case .deviceNotAddedYet:
            Sentence(
                "This device has not been added to the account yet, or you have not confirmed the account here.",
                "On a device that holds the identity, run 'signet devices add' with this device's card; then here: signet devices confirm"
            )
        case .nothingToConfirm:
            Sentence(
                "There is nothing to confirm on this device.",
                "If it is to join an account, make its card: signet account join")
        }
    }
}

extension SubmissionError {
    var sentence: Sentence {
        switch self {
        case .malformed, .unknownFormat, .tokenTooLong, .invalidHandle, .state, .invalidOpening:
            Sentence("That is not a device card.", "Make one with 'signet account join' on the new device.")
        case .invalidSignature, .invalidDeviceKey:
            Sentence("The device card was changed in transit.", "Carry it over again.")
        case .unanswerableChallenge: Sentence("The directory asked for proof of other keys.", "Try again.")
        case .unknownToken, .challengeExpired, .possessionNotProven:
            Sentence("The device card is too old.", "Make a new one with 'signet account join'.")
        }
    }
}
