// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
public import Issuance
import SelectiveDisclosure
public import StrictJSON

/// An issuer's offer of a card, over a connection that proved the issuer's name. Nobody has agreed to it yet.
///
/// Security: the issuer is known. That the offer is meant for this person is not: whoever has the link and the code gets the card.
public struct CardOffer: Sendable {
    /// Who issues, as the certificate of the connection proves.
    public var host: VerifiedHost { issuer.host }
    /// The type of the card (`vct`).
    public var type: JSONText { accepted.type }
    /// The code that the person has to enter; nil if there is none.
    public var transactionCode: CredentialOffer.TransactionCode? { offer.transactionCode }
    /// The issuer makes at most so many copies at a time.
    public var maximumCopyCount: Int { min(accepted.batchSize, CardBook.maximumCopyCount) }

    let issuer: IssuerConnection
    let offer: CredentialOffer
    let accepted: AcceptedIssuer

    /// The issuer that a link leads to, as `host` or `host:port`. Nothing is proved about it.
    ///
    /// - Throws: ``SitesError/card(_:)``.
    public static func authority(of link: [UInt8]) throws(SitesError) -> String {
        try read(link).issuer.authority.description
    }

    /// Fetches what the issuer says of an offer. This function is the whole decision whether a person is asked about it.
    ///
    /// - Parameter issuer: a connection to ``authority(of:)``.
    /// - Throws: ``SitesError``. The offer is not used up.
    public static func fetch(
        _ link: [UInt8], from issuer: IssuerConnection
    ) async throws(SitesError) -> CardOffer {
        let link = try read(link)
        // The certificate names the host of the connection: no one offers in another issuer's name.
        guard link.issuer == issuer.name else { throw .card(.anotherIssuer) }
        let offer = try await offer(link, from: issuer)
        let description = try await issuer.document(at: JSONText(IssuerRoute.metadata.path))
        let server = try await issuer.document(at: JSONText(IssuerRoute.server.path))
        do throws(IssuanceFault) {
            let accepted = try IssuerVerifier.verify(description, server: server, for: offer)
            return CardOffer(issuer: issuer, offer: offer, accepted: accepted)
        } catch { throw .card(.offer(error)) }
    }

    private static func read(_ link: [UInt8]) throws(SitesError) -> OfferLink {
        do throws(IssuanceFault) { return try OfferLink(decoding: link) } catch { throw .card(.offer(error)) }
    }

    private static func offer(
        _ link: OfferLink, from issuer: IssuerConnection
    ) async throws(SitesError) -> CredentialOffer {
        switch link {
        case .offer(let offer): return offer
        case .reference(let server, let path):
            let text = try await issuer.document(at: path)
            do throws(IssuanceFault) { return try OfferLink.offer(text, from: server) } catch {
                throw .card(.offer(error))
            }
        }
    }
}
