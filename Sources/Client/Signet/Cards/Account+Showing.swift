// SPDX-License-Identifier: Apache-2.0

import CredentialChains
import DeviceIdentity
import Foundation
public import KeyPinning
public import PinnedChains
import PinnedHTTP
import SignetClient
public import SitesClient

extension OpenHome {
    /// Fetches what a link asks for, from the site that it leads to, and verifies who asks. A site gives a request once.
    ///
    /// - Parameters:
    ///   - link: `openid4vp://…`, ASCII.
    ///   - anchors: the trusted roots; nil for the system's.
    ///   - pins: keys that are required in addition.
    /// - Throws: ``SignetError/sites(_:)``.
    public func cardRequest(
        _ link: [UInt8], trusting anchors: TrustAnchors? = nil, pins: PinPolicy? = nil
    ) async throws(SignetError) -> CardRequest {
        let address: ServerAddress
        do {
            let authority = try CardRequest.authority(of: link)
            do throws(TransportError) { address = try ServerAddress("https://" + authority) } catch {
                throw SitesError.transport(error)
            }
        } catch let error as SitesError { throw .sites(error) } catch { throw .sites(.malformedAnswer) }
        let site = try await self.site(address, trusting: anchors, pins: pins)
        let roots = RootTrust(readable: (anchors ?? TrustAnchors.ofSystem()?.anchors)?.certificates ?? [])
        do throws(SitesError) {
            return try await CardRequest.fetch(
                link, from: site, trusting: roots, at: Int64(clamping: client.surroundings.now()))
        } catch { throw .sites(error) }
    }
}

extension Account {
    /// Signs in at a site, and asks whether it wants to see a card.
    ///
    /// - Parameter approval: of `.signIn(_:)` with the site's host.
    /// - Returns: the link of its request, ASCII; nil if it wants to see none.
    /// - Throws: ``SignetError``.
    public func cardLink(at site: SiteConnection, _ approval: consuming Approval) async throws(SignetError) -> [UInt8]?
    {
        try check(approval, is: .signIn(site.host))
        return try await sites(approval) { book, grant throws(SitesError) in try await book.cardLink(at: site, grant) }
    }

    /// What would be shown to the site that asks, for the user to agree to.
    ///
    /// - Parameter approval: of `.showCard(_:)` with the site's host.
    /// - Throws: ``SignetError``: `.sites(.card(.noCard))` if no card has what is asked for, `.sites(.card(.noCopy))` if all copies
    ///   belong to other sites.
    public func consent(
        to request: CardRequest, _ approval: borrowing Approval
    ) async throws(SignetError) -> CardConsent {
        try check(approval, is: .showCard(request.site.host))
        return try await withCards(approval) { book, grant throws(SitesError) in
            try await book.consent(to: request, grant)
        }
    }

    /// Shows what the user has agreed to, and nothing else, encrypted to the site, and finishes in the session in which the site asked.
    ///
    /// - Parameters:
    ///   - digits: what the page of a browser on another device shows; nil unless the consent says that they are needed.
    ///   - approval: of `.showCard(_:)` with the site's host.
    /// - Throws: ``SignetError``: `.sites(.card(.anotherSession))` if the site asked another person, who sent the user the link.
    @discardableResult public func show(
        _ consent: CardConsent, digits: String? = nil, _ approval: consuming Approval
    ) async throws(SignetError) -> AfterShowing {
        try check(approval, is: .showCard(consent.site))
        let cards = CardBook(
            keys: try await siteKeys(approval), list: home.folder.cardList, clock: surroundings.now)
        return try await sites(approval) { book, grant throws(SitesError) in
            try await book.show(consent, digits: digits, from: cards, grant)
        }
    }
}
