import Signet
import SignetClient

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
                .usage, "Another signet is making an account in \(folder).",
                "Wait until it has ended; 'signet account show' then shows its account. Nothing was changed.")
        case .isTaken(let folder, let holder): self.init(.usage, holder.sentence(folder))
        case .file(let fault, let path): self.init(fault, path: path)
        case .directoryFile(let error, let path): self.init(error, path: path)
        case .keystore(let error, let path): self.init(error, path: path)
        case .store(let error, let path): self.init(error, path: path)
        case .memoryLost(let path):
            self.init(
                .badFile, "\(path) is empty: this home has lost its memory of whose keys are whose.",
                "Put it back from a copy. Without one, remove it, and compare keys with your people again as you add them."
            )
        case .weakPassphrase(let weakness): self.init(.usage, weakness.sentence)
        case .address(let error, let url): self.init(.badFile, error.sentence(url))
        case .profile(let error, let url): self.init(.badFile, error.sentence(url))
        case .quorumWeakened:
            self.init(
                .needsDecision,
                "The directory has changed its keys, and other or fewer witnesses would suffice from now on.",
                "Look at the change with 'signet directory update', and ask whoever runs it.")
        case .evidenceHeld:
            self.init(
                .needsDecision, "The directory has changed its keys, and you hold evidence against it.",
                "Look at it with 'signet evidence list', and ask whoever runs the directory; 'signet directory update --accept' goes on."
            )
        case .client, .handleTaken, .handleTakenAndKept, .stranger, .changed, .contradicted, .message, .notes:
            // These come of what a session does, which knows whose account and directory they are about.
            self.init(.bug, "The home folder could not be opened: \(error.family).", Self.bugRemedy)
        }
    }

    /// What came of something that was done in a session.
    init(_ error: SignetError, session: Session) {
        guard case .client(let error) = error else {
            self.init(error)
            return
        }
        self.init(error, session: session)
    }

    /// What came of registering.
    init(_ error: SignetError, session: Session, registering handle: String) {
        let what = "The directory says that somebody else has registered \(handle). It cannot prove that."
        switch error {
        case .handleTaken(let keystore, let directory):
            self.init(
                .notProven, what,
                "The new keys were put aside in \(keystore). Choose another handle; if 'signet lookup' ever shows "
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
            Sentence("The account of \(handle) is there already.", "'signet account show' shows it.")
        case .anotherDirectory:
            Sentence(
                "\(folder) goes by another directory file: a newer one, or another directory's.",
                "Give its own, --directory \(HomeFolder(path: folder).directory.path), or choose another folder with --home."
            )
        case .linkedDevice(let handle):
            Sentence(
                "\(folder) holds a device that was linked to \(handle), or waits for that.",
                "'signet account show' shows it. To recover the identity, choose another folder with --home.")
        case .account(let handle):
            Sentence(
                "\(folder) holds the account of \(handle) already.", "Choose another folder with --home.")
        }
    }
}
