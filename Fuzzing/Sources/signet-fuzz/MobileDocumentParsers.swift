// SPDX-License-Identifier: Apache-2.0

import CBOR
import Crypto
import JOSE

@testable import MobileDocument

@Sendable func mobileDocumentParsers() -> [Parser] {
    let (trust, request) = needed { (try PartyTrust(), ageRequest) }
    return [
        .canonical("CBOR", { try CBORValue(decoding: $0) }, \.encoded),
        Parser("COSE_Sign1") { bytes in (try? COSESign1(CBORValue(decoding: bytes))) != nil },
        Parser("security object") { (try? SecurityObject($0)) != nil },
        Parser("element") { bytes in (try? SignedItem(CBORValue(decoding: bytes))) != nil },
        Parser("answer with a document") { bytes in
            (try? MobileDocumentVerifier.verify(bytes, for: request, trusting: trust, at: cardTime)) != nil
        },
    ]
}

private let ageRequest = MobileDocumentRequest(
    documentType: "d", requiredElements: [ElementName("n", "a")],
    session: SessionTranscript(clientID: "c", nonce: "n", keyThumbprint: nil, responseAddress: "r"))

/// Takes any certificate as one of the party's key: the parsers of certificates are not fuzzed.
private struct PartyTrust: CertificateTrust {
    let party: Party

    init() throws { party = try Party(5) }

    func signer(of chain: [[UInt8]], at now: Int64) throws(CertificateTrustFault) -> CertifiedSigner {
        CertifiedSigner(key: party.identity.publicKey, hosts: [], identifiers: [], certificate: chain.first ?? [])
    }
}

/// An answer with a document of the party, its security object, the issuer's signature and an element.
func mobileDocumentSeeds() throws -> [[UInt8]] {
    let party = try Party(5)
    let draft = MobileDocumentDraft(
        documentType: "d", elements: [(ElementName("n", "a"), .bool(true)), (ElementName("n", "b"), "text")],
        deviceKey: party.identity.publicKey, certificate: [1], validity: cardTime - 60...cardTime + 60)
    var generator = SystemRandomNumberGenerator()
    let held = try draft.issued(using: &generator) { try? party.identitySignature($0) }
    let shown = try held.presented(
        disclosing: { _ in true }, in: ageRequest.session, sign: party.identitySignature)
    let proof = needed { try COSESign1(held.proof) }
    return [shown, held.proof.encoded] + [proof.unverifiedPayload ?? []] + held.items.map(\.item.sent.encoded)
}
