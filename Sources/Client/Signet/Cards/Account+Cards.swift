// SPDX-License-Identifier: Apache-2.0

import CredentialChains
import Credentials
import DeviceIdentity
public import JOSE
import SelectiveDisclosure
public import SitesClient
public import StrictJSON

/// An issuer as the user names it: only the user knows whose cards are worth carrying.
public enum CardIssuer: Sendable {
    /// Whoever has a certificate of one of these authorities, DER.
    case certified(by: [[UInt8]])
    /// The holder of this did:key.
    case did(JSONText)
}

/// The cards that issuers made for the user. Each is kept in copies, and each copy is shown to one site only, so that two sites
/// cannot find out from the cards that they know one person. The issuer knows all copies.
extension Account {
    /// Makes keys to which an issuer binds the copies of one card.
    ///
    /// - Parameters:
    ///   - count: how many copies, 1 to ``CardBook/maximumCopyCount``, and so at how many sites the card can be shown.
    ///   - approval: of `.carryCards`.
    /// - Throws: ``SignetError``.
    public func cardKeys(forCopies count: Int, _ approval: consuming Approval) async throws(SignetError) -> [WebKey] {
        try check(approval, is: .carryCards)
        return try await withCards(approval) { book, grant throws(SitesError) in
            try await book.keys(forCopies: count, grant)
        }
    }

    /// Adds a card that an issuer made for keys of ``cardKeys(forCopies:_:)``.
    ///
    /// - Parameters:
    ///   - copies: as the issuer sent them.
    ///   - issuer: whom the user expects it from.
    ///   - approval: of `.carryCards`.
    /// - Throws: ``SignetError``; nothing was added.
    public func addCard(
        _ copies: [[UInt8]], from issuer: CardIssuer, _ approval: consuming Approval
    ) async throws(SignetError) -> IssuedCard {
        try check(approval, is: .carryCards)
        guard let trust = IssuerTrust(issuer) else { throw .sites(.card(.notIssued(.issuerChain))) }
        return try await withCards(approval) { book, grant throws(SitesError) in
            try await book.add(copies, trusting: trust, grant)
        }
    }

    /// Every card, in the order in which they were added.
    ///
    /// - Parameter approval: of `.carryCards`.
    /// - Throws: ``SignetError``.
    public func cards(_ approval: consuming Approval) async throws(SignetError) -> [IssuedCard] {
        try check(approval, is: .carryCards)
        return try await withCards(approval) { book, grant throws(SitesError) in try await book.cards(grant) }
    }

    /// Forgets a card, and erases its keys.
    ///
    /// - Parameters:
    ///   - number: ``IssuedCard/number``; nil for the keys for which no card has arrived.
    ///   - approval: of `.carryCards`.
    /// - Throws: ``SignetError``.
    public func removeCard(_ number: UInt64?, _ approval: consuming Approval) async throws(SignetError) {
        try check(approval, is: .carryCards)
        try await withCards(approval) { book, grant throws(SitesError) in
            if let number { try await book.remove(number, grant) } else { try await book.forgetWaitingKeys(grant) }
        }
    }
}

extension IssuerTrust {
    /// Trust in one issuer alone; nil if the name or a certificate cannot be read.
    init?(_ issuer: CardIssuer) {
        switch issuer {
        case .certified(let roots):
            guard let trust = try? RootTrust(roots: roots) else { return nil }
            self.init(certificates: trust)
        case .did(let did):
            guard let issuer = TrustedIssuer(did: did) else { return nil }
            self.init(issuers: [issuer])
        }
    }
}
