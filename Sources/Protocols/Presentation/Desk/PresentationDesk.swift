// SPDX-License-Identifier: Apache-2.0

public import Crypto
import JOSE
public import SelectiveDisclosure
public import StrictJSON
import TokenStatusList

/// What a site remembers of the cards that it asks for: one question, asked of a member or of a browser's session, answered once.
///
/// Each function is one step of the same exchange. Time and randomness come in. A request is closed by the first answer that can be
/// opened, whatever is in it, and by the time: ``lifetime`` seconds.
public struct PresentationDesk: Sendable {
    /// For how long a request is open, in seconds.
    public static let lifetime: Int64 = 300
    /// So many requests are open at once, one for each member, and as many for browsers' sessions: whoever opens these needs no account,
    /// and takes no member's place.
    public static let maximumCount = 4096

    /// A request that waits: for the wallet, then for its answer, then for the session that began it.
    private struct Open: Sendable {
        let asker: [UInt8]
        let draft: RequestDraft
        var isFetched = false
        var isAnswered = false
    }

    private let site: RequestingSite
    private let question: SiteQuestion
    private let trust: IssuerTrust
    /// By the account, or the session, that was asked.
    private var open: [[UInt8]: Open] = [:]

    /// A desk.
    ///
    /// - Parameter trust: whose cards are accepted. What people state about themselves is not.
    public init(of site: RequestingSite, asking question: SiteQuestion, trusting trust: IssuerTrust) {
        self.site = site
        self.question = question
        self.trust = trust.withoutSelfIssued
    }

    /// Asks a member, in the session in which they signed in, or a browser's session. An earlier request to the same is closed.
    ///
    /// - Parameters:
    ///   - asker: the member's account, or what stands for the session.
    ///   - browser: what is asked of a browser's session; nil for a member.
    ///   - random: 80 unpredictable bytes.
    ///   - now: seconds since 1970.
    /// - Returns: the link that the member opens.
    /// - Throws: ``PresentationDeskFault/busy``.
    public mutating func ask(
        _ asker: [UInt8], for browser: BrowserQuestion? = nil, random: [UInt8], at now: Int64
    ) throws(PresentationDeskFault) -> [UInt8] {
        if count(for: browser) >= Self.maximumCount { open = open.filter { now < $0.value.draft.expiry } }
        guard open[asker] != nil || count(for: browser) < Self.maximumCount,
            random.count == RequestDraft.randomByteCount
        else {
            throw .busy
        }
        let draft = RequestDraft(site, question, for: browser, random: random, until: now + Self.lifetime)
        open[asker] = Open(asker: asker, draft: draft)
        return draft.link
    }

    /// How many requests of the same kind are open.
    private func count(for browser: BrowserQuestion?) -> Int {
        open.values.count { ($0.draft.browser == nil) == (browser == nil) }
    }

    /// Gives the request object to the first who fetches it.
    ///
    /// - Parameters:
    ///   - walletNonce: what the wallet sent so that the object is fresh.
    ///   - key: the key of the site's certificate.
    /// - Throws: ``PresentationDeskFault/unknownRequest``, ``PresentationDeskFault/signing``.
    public mutating func object(
        _ identifier: JSONText, walletNonce: JSONText?, signedBy key: P256.Signing.PrivateKey, at now: Int64
    ) throws(PresentationDeskFault) -> [UInt8] {
        guard let request = live(identifier, now), !request.isFetched else { throw .unknownRequest }
        open[request.asker]?.isFetched = true
        return try request.draft.object(walletNonce: walletNonce) { bytes throws(PresentationDeskFault) in
            guard let signature = try? key.signature(for: bytes) else { throw .signing }
            return Array(signature.rawRepresentation)
        }
    }

    /// Judges an answer. This function is the whole decision.
    ///
    /// - Parameters:
    ///   - text: the value of `response`.
    ///   - lists: the newest status lists of the issuers.
    /// - Returns: among other things where the wallet sends the person: with the response code, which is worth something to their
    ///   session alone. The sign-in for a browser's session is not verified.
    /// - Throws: ``PresentationDeskFault``.
    public mutating func receive(
        _ text: [UInt8], for identifier: JSONText, statusLists lists: [[UInt8]], at now: Int64,
        opened note: (JSONText) -> Void = { _ in }
    ) throws(PresentationDeskFault) -> ReceivedCard {
        guard let request = live(identifier, now), request.isFetched, !request.isAnswered else {
            throw .unknownRequest
        }
        let draft = request.draft
        let (answer, presentation) = try opened(text, draft)  // OpenID4VP, sections 8.1 to 8.3
        note(presentation)
        open[request.asker] = nil  // section 14.1: a nonce is for one answer
        let signIn = try checkedSignIn(answer, draft)  // our own profile
        let shown = try verified(presentation, draft, now)  // sections 8.6 and 14.1
        guard shown.claims[question.claim] == .bool(true) else { throw .claim }  // section 6.4.1
        try checkNotWithdrawn(shown, lists, now)  // draft-ietf-oauth-status-list, section 8.3
        // The session on another device has proved by the digits that it is the one at which the person looks.
        guard draft.browser?.digits == nil else {
            return ReceivedCard(asker: request.asker, address: nil, signIn: signIn)
        }
        open[request.asker] = request
        open[request.asker]?.isAnswered = true
        let address = CardRoute.finish.finishAddress(at: site.authority, draft.responseCode)
        return ReceivedCard(asker: request.asker, address: address, signIn: signIn)
    }

    /// Who was asked by a request; nil if it is closed.
    public func asker(of identifier: JSONText) -> [UInt8]? {
        open.values.first { $0.draft.identifier == identifier }?.asker
    }

    /// Forgets the request to an account or a session.
    public mutating func close(_ asker: [UInt8]) { open[asker] = nil }

    /// Ends a request in a session. It must be the session that began it: otherwise a person could be brought to answer a request of
    /// another, whose session would profit.
    ///
    /// - Parameters:
    ///   - code: the response code.
    ///   - asker: the account of the member who signed in to bring it, or the session whose browser brings it.
    /// - Returns: what the member has proved.
    /// - Throws: ``PresentationDeskFault/unknownRequest``, ``PresentationDeskFault/anotherSession``; the request is closed.
    public mutating func finish(
        _ code: JSONText, by asker: [UInt8], at now: Int64
    ) throws(PresentationDeskFault) -> SiteQuestion {
        guard let request = live(now, where: { $0.isAnswered && $0.draft.responseCode == code }) else {
            throw .unknownRequest
        }
        open[request.asker] = nil
        guard request.asker == asker else { throw .anotherSession }
        return question
    }

    private func live(_ identifier: JSONText, _ now: Int64) -> Open? {
        live(now) { $0.draft.identifier == identifier }
    }

    private func live(_ now: Int64, where isMeant: (Open) -> Bool) -> Open? {
        open.values.first(where: isMeant).flatMap { now < $0.draft.expiry ? $0 : nil }
    }

    private func opened(
        _ text: [UInt8], _ draft: RequestDraft
    ) throws(PresentationDeskFault) -> (answer: OpenedResponse, presentation: JSONText) {
        do throws(ResponseFault) {
            let answer = try ResponseOpener.open(text, to: draft.open, with: draft.key)
            guard let presentation = answer.presentations[SiteQuestion.name] else { throw .presentations }
            return (answer, presentation)
        } catch { throw .response(error) }
    }

    /// A browser's session is signed in, and by a person who looks at its page.
    private func checkedSignIn(
        _ answer: OpenedResponse, _ draft: RequestDraft
    ) throws(PresentationDeskFault) -> ReceivedSignIn? {
        guard let browser = draft.browser else { return nil }
        guard answer.digits == browser.digits else { throw .digits }
        guard let signIn = answer.signIn else { throw .signIn }
        return ReceivedSignIn(challenge: browser.challenge, answer: signIn)
    }

    private func verified(
        _ presentation: JSONText, _ draft: RequestDraft, _ now: Int64
    ) throws(PresentationDeskFault) -> VerifiedPresentation {
        let request = VerificationRequest(
            types: [question.type], requiredClaims: [[question.claim]],
            binding: .init(audience: site.clientID, nonce: draft.nonce, maximumAge: Self.lifetime))
        do { return try PresentationVerifier.verify(presentation.utf8, for: request, trusting: trust, at: now) } catch {
            throw .presentation(error)
        }
    }

    /// A card that can be withdrawn was not: the issuer's newest list says so.
    private func checkNotWithdrawn(
        _ shown: VerifiedPresentation, _ lists: [[UInt8]], _ now: Int64
    ) throws(PresentationDeskFault) {
        guard let claim = shown.status else { return }
        guard let reference = try? StatusReference(claim), let key = key(of: shown.issuer),
            let list = lists.lazy.compactMap({
                try? StatusListVerifier.verify($0, for: reference, signedBy: key, at: now)
            }).first, let status = try? list.status(at: reference.index)
        else { throw .statusUnknown }
        guard status == 0 else { throw .withdrawn }
    }

    private func key(of issuer: CredentialIssuer) -> P256.Signing.PublicKey? {
        switch issuer {
        case .named(let name): trust.issuers.first { $0.identifier == name }?.key
        case .certified(let signer): signer.key
        case .holder: nil
        }
    }
}

/// Why a site does not go on with a request. The request is closed, unless the answer could not be opened.
public enum PresentationDeskFault: Error, Hashable, Sendable {
    /// Too many requests are open.
    case busy
    /// No request is open under this name: it was answered, it has expired, or there was none.
    case unknownRequest
    /// The request object could not be signed.
    case signing
    /// The answer cannot be opened.
    case response(ResponseFault)
    /// The presentation is not what was asked for.
    case presentation(PresentationFault)
    /// The card says no.
    case claim
    /// The issuer has withdrawn the card.
    case withdrawn
    /// The site has no current list of the issuer that says whether the card was withdrawn.
    case statusUnknown
    /// Another session began the request.
    case anotherSession
    /// Not the digits that the page of the session shows.
    case digits
    /// The wallet did not sign in for the session, or not as a member.
    case signIn

    /// The check's name in an answer to a wallet: small letters, digits, `.`, `_` and `-`.
    public var name: String {
        switch self {
        case .busy: "busy"
        case .unknownRequest: "unknown_request"
        case .signing: "server_error"
        case .response(let fault): fault.rawValue
        case .presentation(let fault): fault.rawValue
        case .claim: "claim"
        case .withdrawn: "withdrawn"
        case .statusUnknown: "status_unknown"
        case .anotherSession: "another_session"
        case .digits: "digits"
        case .signIn: "sign_in"
        }
    }
}
