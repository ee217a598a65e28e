// SPDX-License-Identifier: Apache-2.0

import Crypto
import Issuance
import JOSE
import Presentation
import StrictJSON

@testable import SelectiveDisclosure
@testable import TokenStatusList

/// The time at which cards are judged, as long as their seeds are.
let cardTime: Int64 = 1_800_000_000

@Sendable func tokenParsers() -> [Parser] {
    [
        .settled("JSON", { try JSONValue(decoding: $0) }, \.encoded),
        .settled("web key", { try WebKey(JSONObject(decoding: $0)) }, \.object.encoded),
        Parser("signed token") { (try? SignedToken(decoding: $0)) != nil },
        Parser("encrypted token") { bytes in
            (try? EncryptedToken(decoding: bytes, keyID: nil, offered: ContentEncryption.allCases)) != nil
        },
    ]
}

@Sendable func cardParsers() -> [Parser] {
    let (party, request) = needed { (try Party(5), cardRequest()) }
    let trust = IssuerTrust(issuers: [TrustedIssuer(identifier: "urn:issuer", key: party.identity.publicKey)])
    return [
        .canonical("disclosure", Disclosure.init(decoding:), \.text),
        .canonical("credential", HeldCredential.init(decoding:), \.encoded),
        Parser("presentation") { bytes in
            (try? PresentationVerifier.verify(bytes, for: request, trusting: trust, at: cardTime)) != nil
        },
        Parser("claims of a payload") { bytes in
            guard let object = try? JSONObject(decoding: bytes) else { return false }
            return (try? DisclosedClaims(object, [])) != nil
        },
    ]
}

func cardRequest() -> VerificationRequest {
    VerificationRequest(types: ["urn:card"], binding: .init(audience: "verifier", nonce: "n"))
}

@Sendable func statusListParsers() -> [Parser] {
    let (party, reference) = needed { (try Party(5), try cardReference()) }
    return [
        Parser("zlib stream") { bytes in
            guard let inflated = try? ZlibStream.inflated(bytes, maximumByteCount: 1 << 16) else { return false }
            return inflated.count <= 1 << 16
        },
        Parser("status list") { bytes in
            let list = try? StatusListVerifier.verify(
                bytes, for: reference, signedBy: party.identity.publicKey, at: cardTime)
            return list != nil
        },
    ]
}

func cardReference() throws -> StatusReference {
    try StatusReference(["status_list": .object(["uri": .string("https://cred.example/1"), "idx": .integer(0)])])
}

@Sendable func presentationRequestParsers() -> [Parser] {
    let party = needed { try Party(5) }
    let open = OpenRequest(keyID: "e1", offered: ContentEncryption.allCases, state: "s", credentials: ["card"])
    return [
        Parser("link") { (try? RequestLink(decoding: $0)) != nil },
        Parser("query") { bytes in
            guard let value = try? JSONValue(decoding: bytes) else { return false }
            return (try? CredentialsQuery(value)) != nil
        },
        Parser("request of a link alone") { bytes in
            let request = try? RequestVerifier.verify(
                link: bytes, object: nil, trusting: NobodyCertified(), walletNonce: nil, at: cardTime)
            return request != nil
        },
        Parser("answer") { (try? ResponseOpener.open($0, to: open, with: party.agreement)) != nil },
    ]
}

@Sendable func issuanceParsers() -> [Parser] {
    let offer = needed { try offeredCard() }
    return [
        .settled(
            "offer", { try OfferLink(decoding: $0) }, { if case .offer(let offer) = $0 { offer.link } else { [] } }),
        .settled("token request", { try TokenRequest(decoding: $0) }, \.encoded),
        .settled("token answer", { try TokenAnswer(decoding: $0) }, \.object.encoded),
        .settled("request for copies", { try CopiesRequest(decoding: $0) }, \.object.encoded),
        .settled("copies", { try CopiesAnswer(decoding: $0, keyCount: 1) }, \.object.encoded),
        Parser("nonce answer") { (try? NonceAnswer.nonce(decoding: $0)) != nil },
        Parser("issuer") { bytes in
            (try? IssuerVerifier.verify(bytes, server: bytes, for: offer)) != nil
        },
        Parser("proof of a key") { bytes in
            (try? KeyProof.verify(bytes, for: offer.issuer, isFresh: { _ in true }, at: cardTime)) != nil
        },
        Parser("proof of a sender") { bytes in
            let address = offer.issuer.address(of: .token)
            return (try? SenderProof.verify(bytes, to: address, accessToken: nil, at: cardTime)) != nil
        },
    ]
}

func offeredCard() throws -> CredentialOffer {
    try CredentialOffer(
        of: "card", by: IssuerName("https://club.example"), code: "abcdefghijklmnopqrstuvwxyz012345",
        transactionCode: .init(length: 6))
}

private struct NobodyCertified: CertificateTrust {
    func signer(of chain: [[UInt8]], at now: Int64) throws(CertificateTrustFault) -> CertifiedSigner { throw .chain }
}
