// SPDX-License-Identifier: Apache-2.0

public import SelectiveDisclosure

/// What a person may conclude from a card that was shown to them and passed every check, and what not. The command line and the page
/// that verifies cards say the same.
public enum ShownCardWords {
    /// What is proved.
    public static let proved: StaticString =
        "the person who made this card showed it within the last two minutes, and nothing in it was changed."
    /// What is not proved.
    public static let notProved: [StaticString] = [
        "that the card is true. Only its maker says so.",
        "who made it. If you both have Signet, compare keys: signet people verify.",
        "that the person before you made it. A photograph of the code is accepted for two minutes: ask the person to show the card again.",
    ]
    /// The same of a copy of a card.
    public static let provedOfCopy: StaticString =
        "the person who made this card signed what it says, and nothing in it was changed."
    /// The same of a copy of a card.
    public static let notProvedOfCopy: [StaticString] =
        notProved.dropLast() + [
            "that the person before you made it. It is a copy, and anyone who has seen it can show it."
        ]
}

/// Why a card that somebody shows is not accepted, in words for the person who looks at it. The command line and the page that verifies
/// cards say the same.
public struct ShownCardRefusal: Sendable {
    /// Whether the text is no card at all; otherwise it is one that proves nothing.
    public let isUnreadable: Bool
    /// What is wrong.
    public let what: StaticString
    /// What to do.
    public let remedy: StaticString

    /// The words for a check.
    public init(_ fault: PresentationFault) {
        switch fault {
        case .form, .limits, .base64URL, .json, .duplicateMember, .disclosureEncoding, .disclosureForm, .digestForm,
            .timeForm:
            self.init(unreadable: "This card cannot be read.", "Ask the person to show it again.")
        case .type:
            self.init(unreadable: "This is not a business card.", "Signet does not check other kinds of card.")
        case .issuerUntrusted, .issuerChain, .issuerChainValidity:
            self.init(
                unproven: "An issuer made this card, and signet does not know the issuer.",
                "Signet checks only cards that people make of themselves.")
        case .bindingMissing:
            self.init(
                unproven:
                    "This card was not signed when it was shown, so anyone with a copy of it could have shown it.",
                "Ask the person to show the card now: 'signet card show' with --qr, --link or --out.")
        case .bindingTime, .bindingNonce:
            self.init(
                unproven: "This card was not shown within the last two minutes.",
                "Ask the person to show it again. If that does not help, one of your two clocks is wrong.")
        case .bindingAudience:
            self.init(
                unproven: "This card was signed for a site or for another purpose, not for you.",
                "A site may have copied it. Ask the person to show you the card.")
        case .expired: self.init(unproven: "This card has expired.", "Ask the person to make a new one.")
        case .notYet:
            self.init(unproven: "This card is not valid yet.", "Check the clock of this device.")
        default:
            self.init(
                unproven: "This card was changed, or the person who shows it did not make it.",
                "Do not rely on anything that it says.")
        }
    }

    private init(unreadable what: StaticString, _ remedy: StaticString) {
        (isUnreadable, self.what, self.remedy) = (true, what, remedy)
    }

    private init(unproven what: StaticString, _ remedy: StaticString) {
        (isUnreadable, self.what, self.remedy) = (false, what, remedy)
    }
}
