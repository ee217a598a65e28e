// SPDX-License-Identifier: Apache-2.0

import Credentials
import SelectiveDisclosure
import Signet

extension CommandFailure {
    /// A card that was shown and is not taken.
    init(card fault: PresentationFault) {
        switch fault {
        case .form, .limits, .base64URL, .json, .duplicateMember, .disclosureEncoding, .disclosureForm, .digestForm:
            self.init(.badFile, "This is not a card that can be read.", "Ask the person to show it once more.")
        case .type:
            self.init(.badFile, "This is not a business card.", "Cards of other kinds are not checked here.")
        case .issuerUntrusted, .issuerChain, .issuerChainValidity:
            self.init(
                .notProven, "This card was made by an issuer, and signet does not know the issuer.",
                "Only cards that people make of themselves are checked here.")
        case .bindingMissing:
            self.init(
                .notProven,
                "This card has no signature of this moment: everybody who has a copy of it can give it away.",
                "Ask the person for what 'signet card show' gives with --qr or --out.")
        case .bindingTime, .bindingNonce:
            self.init(
                .notProven, "This card was not shown within the last two minutes.",
                "Ask to see it once more. If that does not help, one of the two clocks is wrong.")
        case .bindingAudience:
            self.init(
                .notProven, "This was shown to a site, not to you.",
                "It may have been copied there. Ask the person to show you the card.")
        case .expired:
            self.init(.notProven, "This card has ended.", "Ask the person to make a new one.")
        case .notYet, .timeForm:
            self.init(.notProven, "This card is not good yet.", "Check the clock of this device.")
        default:
            self.init(
                .notProven, "This card was changed, or the one who shows it did not make it.",
                "Do not rely on anything that it says.")
        }
    }

    /// What cannot be written on a card.
    init(_ error: BusinessCardFault) {
        let most = BusinessCard.maximumByteCount
        switch error {
        case .noName: self.init(.usage, "A card needs a name.", "Give it with --name.")
        case .length(let field):
            self.init(
                .usage, "The \(field.words) is empty or longer than \(most) bytes.", "Write less, or leave it out.")
        case .control(let field):
            self.init(.usage, "The \(field.words) has characters that cannot be read.", "Write it on one line.")
        case .key: self.init(.bug, "The identity key is malformed.", CommandFailure.bugRemedy)
        }
    }
}
