// SPDX-License-Identifier: Apache-2.0

import DeviceIdentity
import KeyPinning
import PinnedHTTP
import RelyingParty
import Signet

extension VerifiedHost {
    /// As a person writes it.
    var words: String { PrintedValue.printable(text) }
}

extension PresenceAction {
    /// `to sign in at shop.example`.
    var purpose: String {
        switch self {
        case .unlock: "to unlock your keys"
        case .signIn(let host): "to sign in at \(host.words)"
        case .register(let host): "to register at \(host.words)"
        case .showSites: "to show your sites"
        case .forgetSite(let host): "to forget \(host.words)"
        case .reRegister(let host): "to give \(host.words) new keys"
        case .objectAt(let host): "to object at \(host.words)"
        case .carryCards: "to open your cards"
        case .showCard(let host): "to show a card to \(host.words)"
        case .updateAccount: "to update your account"
        case .linkDevice: "to link a device"
        case .revokeDevice(let number): "to remove device \(number)"
        case .setUpGuardians: "to change your guardians"
        case .confirmRecovery(let handle): "to help \(handle) recover"
        case .recoverIdentity: "to make your identity yours again"
        case .cancelRecovery: "to stop a recovery of your identity"
        case .showPaperShare: "to show what you keep on paper"
        case .exportIdentity: "to take your identity to another device"
        }
    }
}

extension CommandFailure {
    init(_ refusal: PresenceRefusal) {
        switch refusal {
        case .wait(let until):
            self.init(
                .badFile, "There were too many wrong passphrases.", "Wait until \(Moment.date(until)), then try again.")
        case .locked: self.init(.usage, "Your keys are locked.", "Unlock them first.")
        case .unanswered(.failed(let until)):
            self.init(
                .badFile, "The passphrase is wrong, or the key file was changed; there is no way to tell which.",
                until.map { "Wait until \(Moment.date($0)), then try again." } ?? "Try again.")
        case .unanswered(.tooLate):
            self.init(.usage, "Timed out waiting for the passphrase.", "Try again.")
        case .unanswered(.declined), .unanswered(.notAsked):
            self.init(.interrupted, "No passphrase was given.", "Nothing was done.")
        }
    }

    init(_ fault: SealedFileFault, path: String) {
        switch fault {
        case .file(let fault): self.init(fault, path: path)
        case .keystore(let error): self.init(error, path: path)
        }
    }
}

extension SitesError {
    func sentence(_ place: String) -> Sentence {
        switch self {
        case .host:
            Sentence(
                "\(place) cannot be a site: it has no name of its own.",
                "Use the site's name, such as shop.example; IP addresses and single-label names can change owner.")
        case .transport(let error): error.siteSentence(place)
        case .noSite(let status):
            Sentence("\(place) answers but does not speak Signet (status \(status)).", "Check the name.")
        case .malformedAnswer:
            Sentence("\(place) sent a malformed response.", "Tell its operator. Nothing was changed here.")
        case .refused(let answer): answer.sentence(place)
        case .identity(.unknownSite):
            Sentence(
                "\(place) does not know you.",
                "Register with 'signet sites register \(place)'. None of your other identities is used instead.")
        case .identity(.knownSite): Sentence("\(place) already knows you.", "Use 'signet sites signin \(place)'.")
        case .identity(.tooMany):
            Sentence("You are registered at too many sites.", "Forget some: 'signet sites forget'.")
        case .identity: Sentence("Your site list is inconsistent.", CommandFailure.bugRemedy)
        case .needsNewKeys:
            Sentence(
                "\(place) still knows you from before your recovery.",
                "Give it new keys with 'signet sites re-register \(place)'.")
        case .noRecoveryKey:
            Sentence(
                "This device has no recovery key with which to give \(place) new keys.",
                "Ask the site how to register again.")
        case .keystore(let error): error.siteSentence
        case .list(let fault): fault.sentence("your list of sites or cards")
        case .listDamaged:
            Sentence(
                "Your list of sites or cards was changed or belongs to other keys.", "Put back a copy if you have one.")
        case .card(let fault): fault.sentence(place)
        case .statement: Sentence("The statement to be sent to \(place) is not valid.", CommandFailure.bugRemedy)
        }
    }
}

extension TransportError {
    /// Of a site, which no directory file describes.
    fileprivate func siteSentence(_ place: String) -> Sentence {
        switch self {
        case .nameNotFound: Sentence("There is no host with the name in \(place).", "Check the name, and the network.")
        case .unreachable:
            Sentence("Nothing answers at \(place).", "Check the name and the port, and that the network is up.")
        case .timedOut(.handshake):
            Sentence(
                "\(place) did not complete the TLS handshake in time.",
                "Try again; if that does not help, ask the site's operator.")
        case .closedInHandshake:
            Sentence(
                "\(place) closed the connection at once. It may have as many as it takes.", "Try again in a minute.")
        case .handshakeFailed: Sentence("\(place) does not speak TLS as a site does.", "Check the name and the port.")
        case .malformedResponse:
            Sentence("What answers at \(place) is not a site that takes Signet.", "Check the name and the port.")
        case .tooLong(let limit):
            Sentence(
                "The answer is longer than any honest one (\(limit) bytes).",
                "It was dropped. If it happens again, the site misbehaves.")
        case .refused(let refusal): refusal.siteSentence(place)
        default: sentence(place)
        }
    }
}

extension ChainRefusal {
    /// Of a site, of which the user has no announcement: at the first contact nothing of it is known here.
    fileprivate func siteSentence(_ place: String) -> Sentence {
        let said = sentence(place)
        return switch reason {
        case .untrusted, .noPinMatched:
            Sentence(
                said.what,
                "Nothing was sent. If an authority of its own certifies it, name that with --roots FILE. If it worked before, "
                    + "someone may be intercepting the connection.")
        case .path(.authorityAsServer), .path(.notForServers), .path(.noNames), .path(.keyUsage):
            Sentence(
                said.what,
                "Nothing was sent. Its operator has to get another certificate. If it worked before, someone may be "
                    + "intercepting the connection.")
        default: said
        }
    }
}

extension SiteAnswer {
    fileprivate func sentence(_ place: String) -> Sentence {
        switch self {
        case .unknownKey:
            Sentence(
                "\(place) no longer knows you.",
                "If you did not ask for that, someone else may have given it new keys: ask the site.")
        case .keyInUse:
            Sentence("\(place) says that these keys are already in use.", "Ask the site; nothing was changed here.")
        case .staleChallenge: Sentence("That took too long for \(place).", "Try again.")
        case .refused: Sentence("\(place) does not accept what was sent.", "The site may go by another name.")
        case .nothingWaits: Sentence("There is nothing pending at \(place) that you could object to.", "")
        case .busy: Sentence("\(place) is busy.", "Try again later.")
        case .recoveryWaits(let until):
            Sentence("\(place) accepts your new keys from \(Moment.date(until)) on.", "Try again then.")
        case .registered, .signedIn, .recovered, .objected:
            Sentence("The answer from \(place) does not fit the request.", "Tell its operator.")
        }
    }
}

extension PrivateKeyStoreError {
    fileprivate var siteSentence: Sentence {
        switch self {
        case .absent: Sentence("This device has no such key storage.", "Choose another.")
        case .locked: Sentence("Your keys have been locked in the meantime.", "Try again.")
        case .lockedOut: Sentence("There were too many wrong answers.", "Wait, then try again.")
        case .noSuchKey, .invalidated:
            Sentence("The keys for this site are gone.", "Ask the site how to register again.")
        case .damaged:
            Sentence("Your key file was changed or is damaged.", "Put back a copy if you have one.")
        case .busy: Sentence("Another signet process is using your keys.", "Wait until it has ended and try again.")
        case .unavailable: Sentence("Your keys cannot be read or written.", "Check the disk and try again.")
        case .nameTaken, .unsupported, .invalidInput:
            Sentence("The keys cannot be used in this way.", CommandFailure.bugRemedy)
        }
    }
}
