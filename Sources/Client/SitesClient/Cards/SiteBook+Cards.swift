// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
import Presentation
import RelyingParty
import StrictJSON

extension SiteBook {
    /// Signs in, and asks the site whether it wants to see a card.
    ///
    /// - Returns: the link of its request; nil if it asks for none.
    /// - Throws: ``SitesError``.
    public func cardLink(at site: SiteConnection, _ grant: consuming PresenceGrant) async throws(SitesError) -> [UInt8]?
    {
        let answer = try await site.send(.ask, try await signedChallenge(of: site, grant))
        guard !answer.isEmpty else { return nil }
        if let refusal = try? SiteAnswer(decoding: answer) { throw .refused(refusal) }
        return answer
    }

    /// Brings a response code back to the site, as the one whom the site asked.
    ///
    /// - Throws: ``SitesError``: ``CardFault/anotherSession``: another person began the request.
    func finish(_ code: JSONText, at site: SiteConnection, _ grant: consuming PresenceGrant) async throws(SitesError) {
        let body = try await signedChallenge(of: site, grant) + code.utf8
        let answer: SiteAnswer
        do { answer = try SiteAnswer(decoding: try await site.send(.finish, body)) } catch let error as SitesError {
            throw error
        } catch { throw .malformedAnswer }
        switch answer {
        case .signedIn: return
        case .nothingWaits: throw .card(.anotherSession)
        default: throw .refused(answer)
        }
    }

    /// Shows what the person agreed to, and finishes in the session that began the request: the site must know the person by the same
    /// key. A person who is not registered at the site shows nothing. If a browser's session began it, the person signs in for that.
    ///
    /// - Parameter digits: what the page of that session shows; nil unless the consent says that they are needed.
    /// - Throws: ``SitesError``.
    public func show(
        _ consent: CardConsent, digits: String?, from cards: CardBook, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> AfterShowing {
        let site = consent.request.site
        try await checkKnown(at: site.host, grant.again())
        let asked = consent.request.accepted.signIn
        let entered = digits.map { JSONText($0) }
        guard (asked?.needsDigits == true) == (entered != nil), entered.map(BrowserSignIn.isDigits) ?? true else {
            throw .card(.digits)
        }
        var signIn: [UInt8]?
        if let asked { signIn = try await answer(to: asked, of: site, grant.again()) }
        let sealed = try await cards.answer(consent, signIn: signIn, digits: entered, grant.again())
        guard let back = try await site.answer(sealed, to: consent.request) else { return .otherDevice }
        guard asked == nil else { return .browser(address: back.address.description) }
        try await finish(back.code, at: site, grant)
        return .finished
    }
}
