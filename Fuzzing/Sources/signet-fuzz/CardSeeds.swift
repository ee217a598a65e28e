// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Issuance
import JOSE
import SelectiveDisclosure
import StrictJSON

/// A card, what is shown of it, a list on which it stands, a request for it and the answer.
func cardSeeds() throws -> [[UInt8]] {
    let party = try Party(5)
    let draft = CredentialDraft(
        open: ["iss": .string("urn:issuer"), "vct": .string("urn:card")], hidden: ["tier": .string("crew")],
        holder: WebKey(party.identity.publicKey))
    var generator = SystemRandomNumberGenerator()
    let card = try HeldCredential(
        decoding: try draft.issued(using: &generator) { try? party.identitySignature($0) })
    let shown = try card.presented(
        disclosing: { _ in true }, audience: "verifier", nonce: "n", at: cardTime, sign: party.identitySignature)
    let target = EncryptionTarget(key: WebKey(party.agreement.publicKey), keyID: "e1", encryption: .a128GCM)
    let answer = needed {
        EncryptedToken.sealed(bytes(#"{"state":"s","vp_token":{"card":["a~b~c"]}}"#), to: target)
    }
    return [card.encoded, shown, answer, card.payload.encoded, target.key.object.encoded]
        + card.disclosures.map(\.text) + (try statusListSeeds(party)) + requestSeeds()
        + (try issuanceSeeds(party))
}

private func statusListSeeds(_ party: Party) throws -> [[UInt8]] {
    let stream = try Base64URL.decode(bytes("eNrbuRgAAhcBXQ"))  // draft-ietf-oauth-status-list, section 4.2
    let payload = bytes(
        #"{"sub":"https://cred.example/1","iat":1800000000,"status_list":{"bits":1,"lst":"eNrbuRgAAhcBXQ"}}"#)
    let list = try SignedToken.encoded(
        header: ["alg": .string("ES256"), "typ": .string("statuslist+jwt")], payload: payload,
        sign: party.identitySignature)
    return [stream, list]
}

private func requestSeeds() -> [[UInt8]] {
    let query = #"{"credentials":[{"id":"a","format":"dc+sd-jwt","meta":{"vct_values":["urn:a"]}}]}"#
    let escaped = query.replacing("+", with: "%2B").replacing("\"", with: "%22")
    let link =
        "openid4vp://?client_id=redirect_uri:https://shop.example/cb&response_type=vp_token"
        + "&response_mode=direct_post&nonce=H-uCNuj7T0B_yU0ebXxHQ1EqK9zD3VT6&dcql_query="
    return [bytes(query), bytes(link + escaped)]
}

private func issuanceSeeds(_ party: Party) throws -> [[UInt8]] {
    let (offer, key) = (try offeredCard(), WebKey(party.identity.publicKey))
    let metadata = IssuerMetadata(issuer: offer.issuer, configuration: "card", type: "urn:card", batchSize: 10)
    // The parser gets one text for both documents, so the seed is both.
    let both = metadata.serverObject.members.merging(metadata.issuerObject.members) { first, _ in first }
    let proof = try KeyProof.encoded(
        of: key, for: offer.issuer, nonce: "nonce", at: cardTime, sign: party.identitySignature)
    let sender = try SenderProof.encoded(
        of: key, to: offer.issuer.address(of: .token), accessToken: nil, random: [1], at: cardTime,
        sign: party.identitySignature)
    return [
        offer.link, JSONObject(both).encoded, proof, sender,
        TokenRequest(code: offer.code, transactionCode: "123456").encoded,
        TokenAnswer(accessToken: offer.code, lifetime: 300).object.encoded,
        NonceAnswer.object("nonce-of-an-issuer").encoded,
        CopiesRequest(configuration: "card", proofs: [proof]).object.encoded,
        CopiesAnswer(copies: [bytes("a~")]).object.encoded,
    ]
}
