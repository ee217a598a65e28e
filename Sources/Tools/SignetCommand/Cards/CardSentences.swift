// SPDX-License-Identifier: Apache-2.0

import Credentials
import SelectiveDisclosure
import Signet

extension CommandFailure {
    /// Why a card that was shown is refused.
    init(card fault: PresentationFault) {
        switch fault {
        case .form, .limits, .base64URL, .json, .duplicateMember, .disclosureEncoding, .disclosureForm, .digestForm:
            self.init(.badFile, "This card cannot be read.", "Ask the person to show it again.")
        case .type:
            self.init(.badFile, "This is not a business card.", "Signet does not check other kinds of card.")
        case .issuerUntrusted, .issuerChain, .issuerChainValidity:
            self.init(
                .notProven, "An issuer made this card, and signet does not know the issuer.",
                "Signet checks only cards that people make of themselves.")
        case .bindingMissing:
            self.init(
                .notProven,
                "This card was not signed when it was shown, so anyone with a copy of it could have shown it.",
                "Ask the person to show the card with 'signet card show' and --qr or --out.")
        case .bindingTime, .bindingNonce:
            self.init(
                .notProven, "This card was not shown within the last two minutes.",
                "Ask the person to show it again. If that does not help, one of your two clocks is wrong.")
        case .bindingAudience:
            self.init(
                .notProven, "This card was shown to a site, not to you.",
                "The site may have copied it. Ask the person to show you the card.")
        case .expired:
            self.init(.notProven, "This card has expired.", "Ask the person to make a new one.")
        case .notYet, .timeForm:
            self.init(.notProven, "This card is not valid yet.", "Check the clock of this device.")
        default:
            self.init(
                .notProven, "This card was changed, or the person who shows it did not make it.",
                "Do not rely on anything that it says.")
        }
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
        case .noName: self.init(.usage, "A card needs a name.", "Give it with --name.")
        case .length(let field):
            self.init(
                .usage, "The \(field.words) is empty or longer than \(most) bytes.", "Shorten it, or leave it out.")
        case .control(let field):
            self.init(.usage, "The \(field.words) contains control characters.", "Write it on one line.")
        case .key: self.init(.bug, "The identity key is malformed.", CommandFailure.bugRemedy)
        }
    }
}
