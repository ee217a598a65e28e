// SPDX-License-Identifier: Apache-2.0

import CredentialChains
import DeviceIdentity
public import KeyPinning
public import PinnedChains
import PinnedHTTP
import SelectiveDisclosure
import SignetClient
public import SitesClient

extension OpenHome {
    /// Fetches what the issuer says of an offer of a card, and requires the issuer to prove its name. The offer is not used up.
    ///
    /// - Parameters:
    ///   - link: `openid-credential-offer://…`, ASCII.
    ///   - anchors: the trusted roots; nil for the system's.
    ///   - pins: keys that are required in addition.
    /// - Throws: ``SignetError/sites(_:)``.
    public func cardOffer(
        _ link: [UInt8], trusting anchors: TrustAnchors? = nil, pins: PinPolicy? = nil
    ) async throws(SignetError) -> CardOffer {
        do throws(SitesError) {
            let authority = try CardOffer.authority(of: link)
            let address: ServerAddress
            do throws(TransportError) { address = try ServerAddress("https://" + authority) } catch {
                throw .transport(error)
            }
            let connector: PinnedConnector
            do throws(SignetError) {
                connector = try self.connector(to: address, trusting: anchors, pins: pins)
            } catch {
                guard case .sites(let error) = error else { throw .malformedAnswer }
                throw error
            }
            return try await CardOffer.fetch(link, from: IssuerConnection(address, through: connector))
        } catch { throw .sites(error) }
    }
}

extension Account {
    /// Gets a card that an issuer offers, in copies that are each bound to a fresh key. Every copy is verified before any is kept. After
    /// an interruption, call it again: it continues with the same keys until the offer expires.
    ///
    /// - Parameters:
    ///   - offer: what the user has agreed to.
    ///   - transactionCode: what the user entered; nil if the offer asks for nothing.
    ///   - count: how many copies, from 1 on, and so at how many sites the card can be shown. The issuer may make fewer.
    ///   - anchors: who certifies the issuer; nil for the system's roots.
    ///   - approval: of `.carryCards`.
    /// - Throws: ``SignetError``; nothing was added.
    public func getCard(
        _ offer: CardOffer, transactionCode: String?, copies count: Int, trusting anchors: TrustAnchors? = nil,
        _ approval: consuming Approval
    ) async throws(SignetError) -> IssuedCard {
        try check(approval, is: .carryCards)
        let roots = RootTrust(readable: (anchors ?? TrustAnchors.ofSystem()?.anchors)?.certificates ?? [])
        return try await withCards(approval) { book, grant throws(SitesError) in
            try await book.get(
                offer, transactionCode: transactionCode, copies: count,
                trusting: IssuerTrust(certificates: roots), grant)
        }
    }
}
