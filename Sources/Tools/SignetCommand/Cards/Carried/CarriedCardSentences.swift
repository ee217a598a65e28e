// SPDX-License-Identifier: Apache-2.0

import Issuance
import Presentation
import SelectiveDisclosure
import Signet

extension CardFault {
    func sentence(_ place: String) -> Sentence {
        switch self {
        case .notIssued(let fault): fault.issuedSentence
        case .anotherKey:
            Sentence(
                "This card is not for a key that waits here: it is another person's, or you have added it before.",
                "For a card of your own, give the issuer the file of 'signet cards request'.")
        case .mixed:
            Sentence("The file has copies of different cards.", "Add each card from a file of its own.")
        case .linkable:
            Sentence(
                "Sites could find out from the copies that they know one person: they share an entry of a status list or a "
                    + "salt, or something in them can carry a mark.",
                "Nothing was added. Tell the issuer.")
        case .namelessIssuer:
            Sentence("The issuer's certificate gives it no name.", "Nothing was added. Tell the issuer.")
        case .tooManyKeys:
            Sentence(
                "More than \(CardBook.maximumWaitingCount) keys would wait for cards.",
                "Add the cards that you asked for, or forget the keys: signet cards rm --waiting.")
        case .unknown(let number):
            Sentence("You carry no card \(number).", "'signet cards list' lists your cards.")
        case .request(let fault): fault.sentence
        case .anotherHost:
            Sentence(
                "The request is in the name of another site than the one that sent it.",
                "Someone may be passing on a request. Nothing was sent; open the site yourself.")
        case .unencrypted:
            Sentence("The site wants to get your card unencrypted.", "Nothing was sent. Tell its operator.")
        case .noCard:
            Sentence(
                "You carry no valid card that has what the site asks for.",
                "Nothing was sent, and the site is not told. 'signet cards list' lists your cards.")
        case .noCopy:
            Sentence(
                "Every copy of the card belongs to another site, and a copy is shown to one site only.",
                "Nothing was sent. Ask the issuer for more copies: signet cards request.")
        case .changed: Sentence("Your cards changed in the meantime.", "Nothing was sent. Try again.")
        case .digits:
            Sentence(
                "The digits must be the two that the page with the code shows, and only such a page has any.",
                "Nothing was sent. Ask the site for a new code.")
        case .refused(let check): check.sentence(place)
        case .offer(let fault): fault.sentence(place)
        case .anotherIssuer:
            Sentence(
                "\(place) is not the issuer of this card.",
                "Nothing was added. Someone may be passing on another issuer's offer; ask the issuer for it yourself.")
        case .anotherType:
            Sentence("\(place) sent another card than it offered.", "Nothing was added. Tell the issuer.")
        case .notMade(let refusal): refusal.sentence(place)
        case .anotherSession:
            Sentence(
                "The site did not ask you, but the person who began this request and whom you got the link from.",
                "They gain nothing from it, but the site has seen your card. Open only links that you asked for yourself."
            )
        }
    }
}

extension RefusedCheck {
    fileprivate func sentence(_ place: String) -> Sentence {
        switch self {
        case .withdrawn: Sentence("The issuer has withdrawn this card.", "Ask the issuer for a new one.")
        case .statusUnknown:
            Sentence(
                "The site cannot find out whether the issuer has withdrawn this card.", "Tell the site's operator.")
        case .issuer, .issuerChain:
            Sentence("The site does not accept cards of this issuer.", "Ask the site whose cards it accepts.")
        case .unknownRequest:
            Sentence(
                "The site knows no such request: it was used, it has expired, or it was never made.",
                "Begin again on the page of the site, or ask it with 'signet sites signin HOST --cards'.")
        case .digits:
            Sentence(
                "These are not the digits that the page of the site shows.",
                "The site has seen your card, and nobody was signed in. If you do not have that page open, somebody wanted you to sign "
                    + "them in. Otherwise ask the site for a new code.")
        case .signIn:
            Sentence(
                "The site does not know you by this key, so it did not sign you in.",
                "Register first, then ask the site again: signet sites register HOST.")
        case .other:
            Sentence("The site refused what it was sent.", "Try again with a new link, or tell the site's operator.")
        }
    }
}

extension IssuanceFault {
    fileprivate func sentence(_ place: String) -> Sentence {
        switch self {
        case .link, .linkDuplicate, .form, .limits, .json, .duplicateMember, .base64URL, .configurations, .code,
            .transactionCode, .issuer:
            Sentence(
                "This is not an offer of a card that can be read (\(rawValue)).",
                "Such a link begins with openid-credential-offer:// and names the issuer. Nothing was sent.")
        case .offerAddress, .anotherIssuer, .anotherServer, .endpoint:
            Sentence(
                "The offer, or a part of what the issuer says of itself, is of another host than \(place).",
                "Nothing was added. Ask the issuer for the offer yourself.")
        case .unknownConfiguration, .format, .proofs, .batchSize, .grants:
            Sentence(
                "\(place) offers a card of a kind that Signet does not carry (\(rawValue)).", "Tell the issuer.")
        case .token, .nonce, .credentials, .count:
            Sentence(
                "\(place) sent something else than the card (\(rawValue)).",
                "Nothing was added. Try again, or tell the issuer.")
        }
    }
}

extension IssuerRefusal {
    fileprivate func sentence(_ place: String) -> Sentence {
        switch self {
        case .grant:
            Sentence(
                "\(place) does not accept this offer: it was used, has expired or was withdrawn, or the code is wrong.",
                "Check the code. After a few wrong ones, only a new offer helps.")
        case .request:
            Sentence("\(place) does not understand the request.", "Tell the issuer. Nothing was added.")
        case .denied:
            Sentence(
                "\(place) does not make this card: it was made for another device, or was withdrawn.",
                "Ask the issuer for a new offer.")
        case .nonce: Sentence("That took too long for \(place).", "Try again with the same link.")
        case .unavailable: Sentence("\(place) cannot answer now.", "Try again later with the same link.")
        case .other: Sentence("\(place) refused what it was sent.", "Tell the issuer. Nothing was added.")
        }
    }
}

extension RequestFault {
    fileprivate var sentence: Sentence {
        switch self {
        case .link, .linkDuplicate, .requestMethod, .limits:
            Sentence(
                "This is not a link with which a site asks for a card.",
                "Such a link begins with openid4vp:// and names an address from which the request is fetched.")
        case .chain, .chainValidity, .clientHost, .signature:
            Sentence(
                "The request is not signed by the site that it names, as certified by an authority that you trust.",
                "Someone may have changed it. Nothing was sent.")
        case .expired, .walletNonce:
            Sentence(
                "The request is an old one.",
                "Nothing was sent. Begin again on the page of the site, or ask it with 'signet sites signin HOST --cards'."
            )
        case .clientMismatch, .responseAddress:
            Sentence(
                "The request names another site than the link, or its answer would go to another site.",
                "Nothing was sent. Open the site yourself.")
        default:
            Sentence(
                "The site's request has a form that Signet does not accept (\(rawValue)).", "Tell the site's operator.")
        }
    }
}

extension PresentationFault {
    /// Why a card that an issuer is said to have made is not kept.
    fileprivate var issuedSentence: Sentence {
        switch self {
        case .form, .limits, .base64URL, .json, .duplicateMember, .disclosureEncoding, .disclosureForm, .digestForm:
            Sentence("This is not a card that can be read.", "Ask the issuer for it again. Nothing was added.")
        case .issuerUntrusted, .issuerChain, .issuerDID:
            Sentence(
                "The issuer that you named did not make this card.", "Check --roots or --issuer. Nothing was added.")
        case .issuerChainValidity:
            Sentence("The issuer's certificate is not valid at this time.", "Ask the issuer for a new card.")
        case .expired: Sentence("This card has expired.", "Ask the issuer for a new one. Nothing was added.")
        case .notYet, .timeForm:
            Sentence("This card is not valid yet.", "Check the clock of this device. Nothing was added.")
        default:
            Sentence(
                "This card was changed after the issuer signed it.", "Ask the issuer for it again. Nothing was added.")
        }
    }
}
