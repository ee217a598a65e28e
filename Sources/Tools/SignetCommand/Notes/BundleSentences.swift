// SPDX-License-Identifier: Apache-2.0

import Signet

extension BundleError {
    var sentence: Sentence {
        let nothing = "Nothing was imported from it."
        return switch self {
        case .otherFormat:
            Sentence(
                "That is not a sealed export made by this program, or a newer signet made it.",
                "Check its name. " + nothing)
        case .tooMuchWork:
            Sentence(
                "The export asks for more memory or work than any that signet makes: it was changed.",
                "Take another copy of it. " + nothing)
        case .tooLittleWork:
            Sentence(
                "The export makes its passphrase too easy to guess: it was changed.",
                "Take another copy of it. " + nothing)
        case .emptyPassphrase: Sentence("The passphrase is empty.", "Choose one with at least a few words.")
        case .wrongPassphrase:
            Sentence("The passphrase of the export is wrong.", "Try again. " + nothing)
        case .wrongPassphraseOrDamaged:
            Sentence(
                "The passphrase is wrong, or the export was changed; there is no way to tell which.",
                "Try again. " + nothing)
        case .damaged:
            Sentence("The export is incomplete or was changed.", "Take another copy of it. " + nothing)
        case .malformed:
            Sentence("The export opens, but it does not contain an export of notes.", nothing)
        case .notRead:
            Sentence("The export cannot be read, or was changed in the meantime.", "Check the disk and try again.")
        case .notWritten: Sentence("The disk is full or cannot be written to.", "Make room and try again.")
        case .notEnoughMemory:
            Sentence("There is not enough memory for the passphrase.", "Close other programs and try again.")
        case .notSealed: Sentence("The export could not be sealed.", CommandFailure.bugRemedy)
        }
    }
}
