// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
import Presentation
import SelectiveDisclosure
import StrictJSON

extension CardBook {
    /// What would be shown to a site that asks.
    ///
    /// - Throws: ``SitesError``: ``CardFault/noCard`` or ``CardFault/noCopy``. A site is told neither.
    public func consent(
        to request: CardRequest, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> CardConsent {
        let (ledger, _) = try await list.open(grant)
        let choices = try choices(for: request, in: ledger)
        return CardConsent(
            site: request.site.host, purpose: request.accepted.query.purpose,
            parts: choices.map { choice in
                let card = ledger.cards[choice.card]
                return .init(
                    card: IssuedCard(card), shown: choice.shown, usesCopy: card.copies[choice.copy].site == nil)
            }, request: request)
    }

    /// What the person agreed to, signed and encrypted to the site. The copies belong to the site from now on, whether or not it gets them.
    ///
    /// - Parameters:
    ///   - signIn: for a browser's session, the person's key at the site and what it signed.
    ///   - digits: what the page of that session shows.
    func answer(
        _ consent: CardConsent, signIn: [UInt8]?, digits: JSONText?, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> [UInt8] {
        let request = consent.request
        let (_, seal) = try await list.open(grant.again())
        let chosen = try list.change(under: seal) { ledger throws(SitesError) in
            let choices = try choices(for: request, in: ledger)
            guard choices.map({ ledger.cards[$0.card].number }) == consent.parts.map(\.card.number),
                choices.map(\.shown) == consent.parts.map(\.shown)
            else { throw .card(.changed) }
            return choices.map { choice in
                ledger.cards[choice.card].copies[choice.copy].site = request.site.host
                return (choice, ledger.cards[choice.card].copies[choice.copy])
            }
        }
        var presentations: [JSONText: JSONText] = [:]
        for (choice, copy) in chosen {
            presentations[choice.query] = try await presented(copy, choice.shown, request, grant.again())
        }
        let draft = ResponseDraft(presentations: presentations, signIn: signIn, digits: digits)
        guard let sealed = draft.sealed(for: request.accepted) else { throw .card(.unencrypted) }
        return sealed
    }

    private func presented(
        _ copy: CardLedger.Copy, _ shown: JSONObject, _ request: CardRequest, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> JSONText {
        let now = Int64(clamping: clock())
        func presented(signature: [UInt8], message: inout [UInt8]) -> [UInt8] {
            copy.credential.presented(
                disclosing: { $0.name.map { shown[$0] != nil } ?? false }, audience: request.accepted.clientID,
                nonce: request.accepted.nonce, at: now
            ) { bytes throws(Never) in
                message = bytes
                return signature
            }
        }
        // The keystore signs asynchronously: once to learn what is signed, and once more with the signature.
        var message: [UInt8] = []
        _ = presented(signature: [], message: &message)
        let signature: [UInt8]
        do { signature = try await keystore.sign(message, with: .card(copy.key), grant) } catch {
            throw .keystore(error)
        }
        return JSONText(String(decoding: presented(signature: signature, message: &message), as: UTF8.self))
    }

    // MARK: Choosing

    /// A copy that answers one query.
    private struct Choice {
        let query: JSONText
        let card: Int
        let copy: Int
        let shown: JSONObject
    }

    private func choices(for request: CardRequest, in ledger: CardLedger) throws(SitesError) -> [Choice] {
        let query = request.accepted.query
        let fitting = Dictionary(query.credentials.map { ($0.name, cards(for: $0, in: ledger)) }) { first, _ in first }
        guard let needed = query.needed(canShow: { !(fitting[$0.name] ?? []).isEmpty }) else { throw .card(.noCard) }
        var choices: [Choice] = []
        for credential in needed {
            guard let choice = choice(of: fitting[credential.name] ?? [], credential.name, request.site.host, ledger)
            else { throw .card(.noCopy) }
            choices.append(choice)
        }
        return choices
    }

    /// The cards that are in time and have what is asked for, with what they would show.
    private func cards(for query: CredentialQuery, in ledger: CardLedger) -> [(card: Int, shown: JSONObject)] {
        let now = Int64(clamping: clock())
        return ledger.cards.indices.compactMap { place in
            guard let credential = ledger.cards[place].copies.first?.credential,
                credential.payload["exp"]?.integer.map({ now < $0 }) ?? true,
                let shown = query.claims(shownBy: credential)
            else { return nil }
            return (place, shown)
        }
    }

    /// The copy that the site has seen before, or one that no site has seen.
    private func choice(
        of cards: [(card: Int, shown: JSONObject)], _ query: JSONText, _ host: VerifiedHost, _ ledger: CardLedger
    ) -> Choice? {
        for site in [host, nil] {
            for (card, shown) in cards {
                guard let copy = ledger.cards[card].copies.firstIndex(where: { $0.site == site }) else { continue }
                return Choice(query: query, card: card, copy: copy, shown: shown)
            }
        }
        return nil
    }
}
