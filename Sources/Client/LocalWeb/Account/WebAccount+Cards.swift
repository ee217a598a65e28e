// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// A site's request for a card, between its link and the user's answer.
struct AskedCard: Sendable {
    /// Tells a page of this request from one of another, which may be open too.
    let number: UInt64
    let request: CardRequest
    /// What the site would see; nil until the user has given the passphrase.
    var consent: CardConsent?
}

/// An issuer's offer of a card, between its link and the user's answer.
struct OfferedCard: Sendable {
    /// How many copies are asked for: at so many sites the card can be shown.
    static let copyCount = 10

    let number: UInt64
    let offer: CardOffer
}

/// What issuers offer.
extension WebAccount {
    /// Fetches what a link offers, and keeps it. The offer is not used up.
    func look(atOffer link: String) async throws(SignetError) {
        _ = try await needed()
        offered = nil
        let offer = try await home.cardOffer(Array(link.utf8), trusting: equipment.siteRoots)
        offered = OfferedCard(number: .random(in: .min ... .max), offer: offer)
    }

    /// Gets what is offered.
    ///
    /// - Parameter number: of the offer on the page that the user saw.
    /// - Returns: nil if that is not the one that waits.
    func get(_ number: UInt64?, code: String?, with passphrase: SecretBytes) async throws(SignetError) -> IssuedCard? {
        guard let offered, offered.number == number else { return nil }
        let roots = equipment.siteRoots
        let card = try await approved(.carryCards, with: passphrase) { account, approval throws(SignetError) in
            try await account.getCard(
                offered.offer, transactionCode: offered.offer.transactionCode == nil ? nil : code,
                copies: OfferedCard.copyCount, trusting: roots, approval)
        }
        if self.offered?.number == number { self.offered = nil }
        return card
    }

    func dropOffer() { offered = nil }
}

/// What sites ask for.
extension WebAccount {
    /// Connects to a site, and has it prove its name.
    func site(_ address: ServerAddress) async throws(SignetError) -> SiteConnection {
        try await needed().site(address, trusting: equipment.siteRoots)
    }

    /// Fetches what a link asks for, and keeps it. A site gives a request once.
    func ask(_ link: String) async throws(SignetError) {
        _ = try await needed()
        asked = nil
        let request = try await home.cardRequest(Array(link.utf8), trusting: equipment.siteRoots)
        asked = AskedCard(number: .random(in: .min ... .max), request: request)
    }

    /// Looks into the user's cards for what the site asks for.
    func lookForCard(with passphrase: SecretBytes) async throws(SignetError) {
        guard let number = asked?.number, let request = asked?.request else { return }
        let consent = try await approved(.showCard(request.site.host), with: passphrase) {
            account, approval throws(SignetError) in
            try await account.consent(to: request, approval)
        }
        if asked?.number == number { asked?.consent = consent }
    }

    /// Shows what the user has agreed to. A request is answered once, whatever comes of it.
    ///
    /// - Parameter number: of the request on the page that the user saw.
    /// - Returns: nil if that is not the one that waits.
    func show(
        _ number: UInt64?, digits: String?, with passphrase: SecretBytes
    ) async throws(SignetError) -> AfterShowing? {
        guard let asked, asked.number == number, let consent = asked.consent else { return nil }
        let next = try await approved(.showCard(consent.site), with: passphrase) {
            account, approval throws(SignetError) in
            try await account.show(consent, digits: digits, approval)
        }
        self.asked = nil
        return next
    }

    /// Answers nothing. The site is not told.
    func dropRequest() { asked = nil }
}
