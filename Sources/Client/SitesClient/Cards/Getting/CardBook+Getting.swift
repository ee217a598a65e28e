// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
public import DeviceIdentity
import Issuance
import JOSE
public import SelectiveDisclosure
import SignetClient
import StrictJSON

/// Getting a card from its issuer over the network.
///
/// The keys of an offer are in the list before the issuer hears of them, and they stay there until the card is: an interruption at any step
/// loses nothing, because the same call goes on with the same keys, for which the issuer gives the same card again.
extension CardBook {
    /// Gets the card of an offer, verifies every copy, and keeps all of them or none.
    ///
    /// Spec: OpenID for Verifiable Credential Issuance 1.0, sections 3.5, 6, 7 and 8; RFC 9449, sections 5 and 7.
    ///
    /// - Parameters:
    ///   - offer: what the person has agreed to.
    ///   - transactionCode: what the person entered; nil if the offer asks for nothing.
    ///   - count: how many copies, from 1 on; at most ``CardOffer/maximumCopyCount`` are asked for. An offer that was begun before
    ///     keeps its number.
    ///   - trust: who certifies the issuer.
    /// - Throws: ``SitesError``; nothing was added. Until the offer expires, the same call can succeed later.
    public func get(
        _ offer: CardOffer, transactionCode: String?, copies count: Int, trusting trust: IssuerTrust,
        _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> IssuedCard {
        guard count > 0 else { throw .card(.tooManyKeys) }
        let begun = try await begin(offer, copies: min(count, offer.maximumCopyCount), grant.again())
        let token = try await token(offer, transactionCode, begun.wallet, grant.again())
        let proofs = try await proofs(offer, begun.keys, grant.again())
        let request = CopiesRequest(configuration: offer.offer.configuration, proofs: proofs)
        let texts = try await copies(offer, request, token, begun.wallet, grant.again())
        let card = try await add(
            texts, of: offer, begun, trusting: trust.certifiedOnly, grant)
        // The list no longer names it: if this fails, a key remains that nothing uses.
        try await erase([begun.wallet])
        return card
    }

    // MARK: Keys

    /// The keys of an offer, those that are there from an interrupted try or new ones.
    private func begin(
        _ offer: CardOffer, copies count: Int, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> CardLedger.BegunOffer {
        let (_, seal) = try await list.open(grant)
        let identifier = offer.identifier
        let begun = try list.change(under: seal) { ledger throws(SitesError) in
            if let begun = ledger.offers.first(where: { $0.identifier == identifier }) { return begun }
            guard ledger.waiting.count + count <= Self.maximumWaitingCount else { throw .card(.tooManyKeys) }
            let first = ledger.nextKey
            ledger.nextKey += UInt64(count) + 1
            let begun = CardLedger.BegunOffer(
                identifier: identifier, wallet: first, keys: Array(first + 1..<ledger.nextKey))
            ledger.waiting.formUnion(begun.keys)
            ledger.offers.append(begun)
            return begun
        }
        for number in [begun.wallet] + begun.keys { _ = try await key(number) }
        return begun
    }

    /// The key of a number, made if an interruption came before.
    private func key(_ number: UInt64) async throws(SitesError) -> WebKey {
        let stored: StoredKey?
        do throws(PrivateKeyStoreError) { stored = try await keystore.key(named: .card(number)) } catch {
            throw .keystore(error)
        }
        guard let stored else { return try await makeKey(number) }
        guard let key = WebKey(compressed: stored.publicKey) else { throw .keystore(.damaged) }
        return key
    }

    /// A text that a key signs. The keystore signs asynchronously: the text is made once to learn what is signed, and once more with the
    /// signature.
    private func signed(
        by number: UInt64, _ grant: consuming PresenceGrant,
        _ make: (WebKey, ([UInt8]) -> [UInt8]) -> [UInt8]
    ) async throws(SitesError) -> [UInt8] {
        let key = try await key(number)
        var message: [UInt8] = []
        _ = make(key) { bytes in
            message = bytes
            return []
        }
        let signature: [UInt8]
        do { signature = try await keystore.sign(message, with: .card(number), grant) } catch { throw .keystore(error) }
        return make(key) { _ in signature }
    }

    // MARK: The steps

    private func token(
        _ offer: CardOffer, _ transactionCode: String?, _ wallet: UInt64, _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> JSONText {
        let request = TokenRequest(code: offer.offer.code, transactionCode: transactionCode.map { JSONText($0) })
        let path = offer.accepted.tokenPath
        let proof = try await senderProof(to: path, of: offer, with: nil, wallet, grant)
        let answer = try await offer.issuer.post(
            request.encoded, as: "application/x-www-form-urlencoded", to: path, [("dpop", proof)])
        do throws(IssuanceFault) { return try TokenAnswer(decoding: answer).accessToken } catch {
            throw .card(.offer(error))
        }
    }

    private func proofs(
        _ offer: CardOffer, _ keys: [UInt64], _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> [[UInt8]] {
        let answer = try await offer.issuer.post([], as: "application/json", to: offer.accepted.noncePath)
        let nonce: JSONText
        do throws(IssuanceFault) { nonce = try NonceAnswer.nonce(decoding: answer) } catch {
            throw .card(.offer(error))
        }
        let (name, now) = (offer.accepted.name, Int64(clamping: clock()))
        var proofs: [[UInt8]] = []
        for number in keys {
            proofs.append(
                try await signed(by: number, grant.again()) { key, sign in
                    KeyProof.encoded(of: key, for: name, nonce: nonce, at: now) { bytes throws(Never) in sign(bytes) }
                })
        }
        return proofs
    }

    private func copies(
        _ offer: CardOffer, _ request: CopiesRequest, _ token: JSONText, _ wallet: UInt64,
        _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> [[UInt8]] {
        let path = offer.accepted.credentialPath
        let proof = try await senderProof(to: path, of: offer, with: token, wallet, grant)
        let answer = try await offer.issuer.post(
            request.object.encoded, as: "application/json", to: path,
            [("authorization", Array("DPoP ".utf8) + token.utf8), ("dpop", proof)],
            maximumByteCount: CopiesAnswer.maximumByteCount)
        do throws(IssuanceFault) {
            return try CopiesAnswer(decoding: answer, keyCount: request.proofs.count).copies
        } catch { throw .card(.offer(error)) }
    }

    private func senderProof(
        to path: JSONText, of offer: CardOffer, with token: JSONText?, _ wallet: UInt64,
        _ grant: consuming PresenceGrant
    ) async throws(SitesError) -> [UInt8] {
        let address = JSONText("\(offer.accepted.name.text)\(path)")
        let random = SymmetricKey(size: .bits128).withUnsafeBytes { Array($0) }
        let now = Int64(clamping: clock())
        return try await signed(by: wallet, grant) { key, sign in
            SenderProof.encoded(of: key, to: address, accessToken: token, random: random, at: now) {
                bytes throws(Never) in sign(bytes)
            }
        }
    }
}

extension CardOffer {
    /// What the list knows the offer by, 43 characters: the code itself is not kept.
    fileprivate var identifier: JSONText {
        let hash = SHA256.hash(data: offer.issuer.text.utf8 + [0x0A] + offer.code.utf8)
        return JSONText(String(decoding: Base64URL.encode(Array(hash)), as: UTF8.self))
    }
}
