// SPDX-License-Identifier: Apache-2.0

import PinnedHTTP
import Signet
import SignetAPI

extension CommandFailure {
    /// A file that the user named or that lies in the home folder.
    init(_ fault: FileFault, path: String) {
        self.init(fault.family == .environment ? .environment : .badFile, fault.sentence(path))
    }

    init(_ error: HomeError, path: String) {
        switch error {
        case .file(let fault): self.init(fault, path: path)
        case .profile(let error): self.init(.badFile, error.sentence(path))
        }
    }

    init(_ error: KeystoreError, path: String) {
        let status: ExitStatus =
            switch error.family {
            case .environment: .environment
            case .bug: .bug
            default: .badFile
            }
        self.init(status, error.sentence(path))
    }

    init(_ error: StoreError, path: String) {
        if case .file(let fault) = error {
            self.init(fault, path: path)
        } else {
            self.init(error.family == .environment ? .environment : .badFile, error.sentence(path))
        }
    }
}

extension FileFault {
    func sentence(_ path: String) -> Sentence {
        switch self {
        case .notFound: Sentence("There is no file \(path).", "Check the name.")
        case .exists:
            Sentence(
                "\(path) already exists.", "It was not changed. Choose another name, or move it away.")
        case .isDirectory: Sentence("\(path) is a folder.", "Name a file.")
        case .notADirectory: Sentence("\(path) is a file, or part of the path to it is.", "Name a folder.")
        case .notPermitted:
            Sentence("The system does not let signet use \(path).", "Check who owns it and its permissions.")
        case .noSpace: Sentence("The disk of \(path) is full.", "Make room and try again; nothing was lost.")
        case .readOnly:
            Sentence(
                "\(path) is on a disk that cannot be written to.",
                "Make it writable, or choose another --home.")
        case .tooLong(let limit):
            Sentence(
                "\(path) is longer than \(limit) bytes, so it is not a file of this kind.",
                "Check that you named the right file.")
        case .openToOthers:
            Sentence(
                "Other users of this machine may read \(path).",
                "Take away their access (chmod 700 for the folder, 600 for files), and consider who may have read it."
            )
        case .system(let number):
            Sentence(
                "The system could not read or write \(path) (error number \(number)).",
                "Check the disk and try again.")
        }
    }
}

extension DirectoryProfileError {
    func sentence(_ path: String) -> Sentence {
        let remedy = "Get the directory file again from the directory's operator."
        return switch self {
        case .unknownFormat: Sentence("\(path) is not a directory file.", remedy)
        case .tooLong: Sentence("\(path) is too long for a directory file.", remedy)
        case .invalidLine(let name): Sentence("In \(path) the line '\(name)' is missing or wrong.", remedy)
        case .bytesLeft: Sentence("\(path) continues where it should end.", remedy)
        case .policyMissing: Sentence("\(path) ends before it says whom to trust.", remedy)
        case .policy: Sentence("In \(path) the part that says whom to trust (the policy) is wrong.", remedy)
        }
    }
}

extension PolicyFileError {
    func sentence(_ path: String) -> Sentence {
        switch self {
        case .directory(let error): error.sentence(path)
        case .policy(let error): error.sentence(path)
        }
    }
}

extension KeystoreError {
    func sentence(_ path: String) -> Sentence {
        let backup = "Restore the file from a copy if you have one."
        return switch self {
        case .unknownFormat: Sentence("\(path) is not a keystore.", backup)
        case .malformed: Sentence("The keystore \(path) is incomplete or was changed.", backup)
        case .costTooLow:
            Sentence(
                "The keystore \(path) makes its passphrase too easy to guess: it was changed.",
                backup)
        case .costTooHigh:
            Sentence("The keystore \(path) asks for more memory than any that signet makes: it was changed.", backup)
        case .wrongPassphraseOrDamaged:
            Sentence(
                "The passphrase is wrong, or the keystore \(path) was changed; there is no way to tell which.",
                "Try the passphrase again. " + backup)
        case .emptyPassphrase: Sentence("The passphrase is empty.", "Choose one with at least a few words.")
        case .keysDoNotFit: Sentence("The keys in \(path) do not belong together.", CommandFailure.bugRemedy)
        case .notEnoughMemory:
            Sentence(
                "There is not enough memory to open the keystore.", "Close other programs and try again.")
        case .unavailable:
            Sentence("This build cannot open keystores: libsodium is missing.", CommandFailure.bugRemedy)
        case .place(let kind, let fault): fault.sentence(kind, path)
        }
    }
}

extension KeystorePlaceFault {
    fileprivate func sentence(_ kind: KeystorePlaceKind, _ path: String) -> Sentence {
        let place = kind == .tpm ? "this machine's TPM" : "this desktop's keyring"
        let subject = kind == .tpm ? "This machine's TPM" : "This desktop's keyring"
        let remedy = """
            It opens only on the machine where it was made. If that machine is lost, 'signet recover' makes the \
            identity yours again.
            """
        return switch self {
        case .notGiven: Sentence("The keystore \(path) needs \(place).", CommandFailure.bugRemedy)
        case .absent where kind == .tpm:
            Sentence(
                "There is no TPM here that signet can reach.",
                "Install tpm2-tools, join the group that may use /dev/tpmrm0 (tss), or choose another --keystore.")
        case .absent:
            Sentence(
                "There is no keyring here that signet can reach.",
                "Install libsecret-tools and log in at a desktop with a keyring, or choose another --keystore.")
        case .locked: Sentence("\(subject) is locked.", "Unlock it and try again.")
        case .lockedOut:
            Sentence(
                "After too many wrong passphrases, the TPM refuses even the right one.",
                "Wait: it forgets the wrong attempts one by one, at the pace that its owner has set.")
        case .nothingThere:
            Sentence(
                "\(subject) does not hold what opens the keystore \(path).",
                remedy)
        case .damaged:
            Sentence(
                "The part of the keystore \(path) that \(place) holds was changed or belongs to another machine.",
                remedy)
        case .failed: Sentence("\(subject) did not answer.", "Try again.")
        }
    }
}

extension StoreError {
    func sentence(_ path: String) -> Sentence {
        switch self {
        case .file(let fault): fault.sentence(path)
        case .busy: Sentence("Another signet process is using \(path).", "Wait until it has ended and try again.")
        case .noSpace: Sentence("The disk of \(path) is full.", "Make room and try again; nothing was lost.")
        case .readOnly:
            Sentence("\(path) cannot be written.", "Check its permissions and those of its folder.")
        case .damaged:
            Sentence(
                "\(path) is damaged or belongs to another program. It records whose devices you accepted.",
                "Restore it from a copy if you have one. Otherwise move it away: everyone will then count as new, and "
                    + "evidence kept in it is gone.")
        case .newerVersion(let version):
            Sentence("A newer signet wrote \(path) (version \(version)).", "Use that version.")
        case .failed(let code):
            Sentence(
                "\(path) could not be read or written (SQLite says \(code)).", "Check the disk and try again."
            )
        }
    }
}
