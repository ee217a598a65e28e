// SPDX-License-Identifier: Apache-2.0

import Credentials
import SelectiveDisclosure
import Signet

extension CommandFailure {
    /// Why a card that was shown is refused.
    init(card fault: PresentationFault) {
        let refusal = ShownCardRefusal(fault)
        self.init(refusal.isUnreadable ? .badFile : .notProven, "\(refusal.what)", "\(refusal.remedy)")
    }

    /// Why a card for a wallet was not made.
    init(_ fault: WalletCardFault) {
        switch fault {
        case .tooLong:
            self.init(.usage, "This is too much for a card with a code.", "Choose fewer lines with --only.")
        case .noSigner:
            self.init(
                .notProven, "The directory's server signs no cards for wallets.",
                "Ask the directory's operator to give it a certificate: 'signetd cards set'.")
        case .signer(let fault):
            self.init(
                .notProven,
                "The server's signer is not the one that the log shows, or it signed something else (\(fault)).",
                "No card was made. Tell the directory's operator.")
        case .noneLeft:
            self.init(.notProven, "All cards of this month have been signed.", "Try again next month.")
        }
    }

    /// Why a card cannot be made of what the user wrote.
    init(_ error: BusinessCardFault) {
        let most = BusinessCard.maximumByteCount
        switch error {
        case .noName: self.init(.usage, "A card needs a name.", "Fill it in; on the command line: --name NAME")
        case .length(let field):
            self.init(
                .usage, "The \(field.words) is empty or longer than \(most) bytes.", "Shorten it, or leave it out.")
        case .control(let field):
            self.init(
                .usage, "The \(field.words) contains control characters, or others that are not seen.",
                "Write it on one line.")
        case .key: self.init(.bug, "The identity key is malformed.", CommandFailure.bugRemedy)
        }
    }
}
