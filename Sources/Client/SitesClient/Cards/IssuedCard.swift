// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
public import Issuance
public import PinnedHTTP
public import Presentation
public import SelectiveDisclosure
public import StrictJSON

/// A card that an issuer made for the person, as a list shows it.
public struct IssuedCard: Hashable, Sendable {
    /// What the person calls it by: counts up from 1, and is not used again.
    public let number: UInt64
    /// The type (`vct`).
    public let type: JSONText
    /// What the issuer's certificate calls the issuer, or the issuer's did:key.
    public let issuer: JSONText
    /// What the issuer states, each of which can be shown or hidden.
    public let claims: JSONObject
    /// When it expires, in seconds since 1970; nil if it does not.
    public let expiry: Int64?
    /// How many copies no site has seen: as many further sites can see the card.
    public let unusedCount: Int
    /// The sites that have seen a copy, each another one, in order of host.
    public let sites: [VerifiedHost]

    init(_ card: CardLedger.Card) {
        let first = card.copies.first?.credential
        number = card.number
        type = first?.type ?? ""
        issuer = card.issuer
        claims = first?.hidden ?? JSONObject()
        expiry = first?.payload["exp"]?.integer
        unusedCount = card.copies.filter { $0.site == nil }.count
        sites = card.copies.compactMap(\.site).sorted { $0.text.lexicographicallyPrecedes($1.text) }
    }
}

extension HeldCredential {
    /// The type; nil if it has none, which no verifier accepts.
    var type: JSONText? { payload["vct"]?.string }

    /// The claims that can be shown or hidden, by name.
    var hidden: JSONObject {
        JSONObject(
            Dictionary(disclosures.compactMap { shown in shown.name.map { ($0, shown.value) } }) { first, _ in first })
    }
}

/// Why a card was not kept, or not shown.
public enum CardFault: Error, Hashable, Sendable {
    /// It is no card that can be read, it was changed, it has expired, or its issuer is not one of those that the person named.
    case notIssued(PresentationFault)
    /// The issuer made it for a key that does not wait for a card here: it is another person's, or it was added before.
    case anotherKey
    /// The copies are not of one card, so that some of them would surprise the person when they are shown.
    case mixed
    /// Copies have an entry of a status list, a digest or a salt in common, or can carry a mark: sites could link them.
    case linkable
    /// The certificate gives the issuer no name that could be shown.
    case namelessIssuer
    /// Keys for more copies than a card has were asked for, or more would wait than are kept: ``CardBook/maximumCopyCount``,
    /// ``CardBook/maximumWaitingCount``.
    case tooManyKeys
    /// No card has this number.
    case unknown(UInt64)
    /// The link, or the request that was fetched, is not acceptable.
    case request(RequestFault)
    /// The request is another site's than that of the connection, or its answer would go to another.
    case anotherHost
    /// The site wants the answer open.
    case unencrypted
    /// No card has what the site asks for.
    case noCard
    /// Every copy of the card belongs to another site.
    case noCopy
    /// The cards changed since the person was asked. Nothing was sent.
    case changed
    /// Not two digits where they are asked for, or some where they are not. Nothing was sent.
    case digits
    /// The site refused what it was shown, or knows no such request.
    case refused(by: RefusedCheck)
    /// The offer of a card, or what its issuer sent for it, is not acceptable.
    case offer(IssuanceFault)
    /// The offer, or a copy, is of another issuer than the connection.
    case anotherIssuer
    /// The copies are of another type than the card that was offered.
    case anotherType
    /// The issuer makes no card.
    case notMade(by: IssuerRefusal)
    /// The request was begun by another person, who would have profited.
    case anotherSession

    /// Whose fault it is.
    public var family: ErrorFamily {
        switch self {
        case .notIssued, .mixed, .linkable, .namelessIssuer, .request, .anotherHost, .unencrypted, .refused,
            .anotherSession, .offer, .anotherIssuer, .anotherType:
            .peer
        case .notMade(by: .unavailable), .notMade(by: .nonce): .environment
        case .notMade: .peer
        case .anotherKey, .tooManyKeys, .unknown, .noCard, .noCopy, .changed, .digits: .caller
        }
    }
}

/// The check of a site that what it was shown did not pass, so far as a person is told.
public enum RefusedCheck: String, Hashable, Sendable {
    /// The issuer has withdrawn the card.
    case withdrawn
    /// The site cannot find out whether the issuer has withdrawn the card.
    case statusUnknown = "status_unknown"
    /// The site does not trust the issuer.
    case issuer = "iss.untrusted"
    /// The same, of an issuer with a certificate.
    case issuerChain = "iss.x5c"
    /// The request was answered, has expired, or was never made.
    case unknownRequest = "unknown_request"
    /// Other digits than the page of the browser's session shows.
    case digits
    /// The sign-in for a browser's session.
    case signIn = "sign_in"
    /// Any other.
    case other
}
