// SPDX-License-Identifier: Apache-2.0

import Signet

extension CommandFailure {
    /// Why a home folder was not opened.
    init(_ error: SignetError) {
        switch error {
        case .noAccount(let folder):
            self.init(
                .usage, "There is no account in \(folder).",
                "Make one with 'signet account create HANDLE --directory FILE', or name another folder with --home.")
        case .isBeingMade(let folder):
            self.init(
                .usage, "Another signet process is making an account in \(folder).",
                "Wait until it has finished; 'signet account show' then shows its account. Nothing was changed.")
        case .isBusy(let folder):
            self.init(
                .environment, "Another signet process has been working in \(folder) for twenty seconds.",
                "Wait until it has finished, and run the command again. Nothing was changed.")
        case .isTaken(let folder, let holder): self.init(.usage, holder.sentence(folder))
        case .file(let fault, let path): self.init(fault, path: path)
        case .directoryFile(let error, let path): self.init(error, path: path)
        case .keystore(let error, let path): self.init(error, path: path)
        case .store(let error, let path): self.init(error, path: path)
        case .memoryLost(let path):
            self.init(
                .badFile, "\(path) is empty: this home has lost its record of which keys belong to whom.",
                "Restore it from a copy. Without one, remove it, and compare keys with your contacts again as you "
                    + "add them."
            )
        case .weakPassphrase(let weakness): self.init(.usage, weakness.sentence)
        case .address(let error, let url): self.init(.badFile, error.sentence(url))
        case .profile(let error, let url): self.init(.badFile, error.sentence(url))
        case .quorumWeakened:
            self.init(
                .needsDecision,
                "The directory has changed its keys, and from now on other or fewer witnesses would suffice.",
                "Ask the directory's operator, and look at the change with 'signet directory update'. If that does not reach the server, run "
                    + "'signet pins accept FILE --accept-witnesses' first.")
        case .evidenceHeld:
            self.init(
                .needsDecision, "The directory has changed its keys, and you hold evidence against it.",
                "Look at it with 'signet evidence list', and ask the directory's operator; 'signet directory update "
                    + "--accept' accepts the change."
            )
        case .presence(let refusal): self.init(refusal)
        case .removedDevice:
            self.init(
                .needsDecision, "This device was removed from the account.",
                "If that was you, delete its home folder. If not, someone else has your identity: tell your friends.")
        case .otherCard:
            self.init(
                .notProven, "This card is not the one that your new device made.",
                "Nothing was linked. Carry the card over again, in a way that no one can intercept.")
        case .otherAccount:
            self.init(
                .notProven,
                "ALARM: the account that the directory shows this device is not the one that your other device has.",
                "Nothing was accepted. Type the digits again; if they still differ, do not use this directory. "
                    + "If the account has changed since, 'signet devices add' with the same card shows its new digits.")
        case .siteKeys(let fault, let path): self.init(fault, path: path)
        case .sites(let error): self.init(error.family.status, error.sentence("a site of yours"))
        case .walletCard(let fault): self.init(fault)
        case .businessCard(let fault): self.init(fault)
        case .webPage(let fault):
            self.init(.notProven, fault.explanation.what, fault.explanation.remedy)
        case .comparison(let refusal, let peer): self.init(refusal, peer)
        case .meeting(let refusal): self.init(refusal)
        case .contradicted(_, let contradiction): self.init(.notProven, contradiction.sentence)
        case .client, .handleTaken, .handleTakenAndKept, .stranger, .changed, .message, .notes, .recovery:
            // These come of what a session does, which knows whose account and directory they are about.
            self.init(.bug, "The home folder could not be opened: \(error.family).", Self.bugRemedy)
        }
    }

    /// The result of something that was done in a session.
    init(_ error: SignetError, session: Session) {
        switch error {
        case .client(let error): self.init(error, session: session)
        case .notes(let error): self.init(error, session: session)
        case .recovery(let error): self.init(error, session: session)
        default: self.init(error)
        }
    }

    /// The result of registering.
    init(_ error: SignetError, session: Session, registering handle: String) {
        let what = "The directory says that someone else has registered \(handle). It cannot prove that."
        let current =
            "Ask its operator, over a channel that the directory does not control, for the present directory file, and run the same command "
            + "with it."
        switch error {
        case .client(.log(.checkpoint)):
            self.init(
                .notProven,
                "The directory's log is not signed by the keys in the directory file, and no change of keys that would explain it was proven.",
                "Nothing was sent. \(current)")
        case .client(let fault) where fault.mayBeSuccession:
            self.init(
                .notProven,
                "The directory's answer is not signed by the keys in the directory file. \(handle) may be registered nevertheless.",
                "The keys are kept. \(current) It completes the account with the same keys.")
        case .handleTaken(let keystore, let directory):
            self.init(
                .notProven, what,
                "If it is yours, join it with 'signet account join' or 'signet recover start'. The new keys were moved to \(keystore). Choose another handle; if 'signet lookup' ever shows "
                    + "that one with these keys, rename that file to 'keystore' and \(directory) to 'directory'.")
        case .handleTakenAndKept(let fault, let keystore):
            self.init(
                .notProven, "\(what) The new keys are still in \(keystore): \(fault.sentence(keystore).what)",
                "Choose another handle and another folder with --home.")
        default: self.init(error, session: session)
        }
    }
}

extension SignetError.TakenFolder {
    func sentence(_ folder: String) -> Sentence {
        switch self {
        case .sameAccount(let handle):
            Sentence("The account of \(handle) is already there.", "'signet account show' shows it.")
        case .anotherDirectory:
            Sentence(
                "\(folder) uses another directory file: a newer one, or one for another directory.",
                "Give its own, --directory \(HomeFolder(path: folder).directory.path), or choose another folder with --home."
            )
        case .linkedDevice(let handle):
            Sentence(
                "\(folder) holds a device that was linked to \(handle), or is waiting to be linked.",
                "'signet account show' shows it. To recover the identity, choose another folder with --home.")
        case .account(let handle):
            Sentence(
                "\(folder) already holds the account of \(handle).", "Choose another folder with --home.")
        case .keysElsewhere(let handle):
            Sentence(
                "\(folder) holds keys for \(handle) that were started with another --keystore.",
                "Leave out --keystore to continue with them, or choose another folder with --home.")
        }
    }
}
