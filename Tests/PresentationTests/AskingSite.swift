// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DIDKey
import JOSE
import Presentation
import StrictJSON

/// A site that asks under a did:key, so that no certificate is needed.
struct AskingSite {
    let signer = P256.Signing.PrivateKey()
    let key = P256.KeyAgreement.PrivateKey()
    let did: KeyDID
    static let now: Int64 = 1_800_000_000

    init() throws { did = try KeyDID(.p256, publicKey: Array(signer.publicKey.compressedRepresentation)) }

    var clientID: String { "decentralized_identifier:" + String(decoding: did.encoded, as: UTF8.self) }

    var link: String {
        "openid4vp://?client_id=\(clientID.replacing(":", with: "%3A"))&request_uri=https%3A%2F%2Fshop.example%2Fr"
    }

    var parameters: JSONObject {
        var key = WebKey(key.publicKey).object
        for (name, value) in [("use", "enc"), ("alg", "ECDH-ES"), ("kid", "e1")] as [(JSONText, String)] {
            key[name] = .string(JSONText(value))
        }
        return [
            "client_id": .string(JSONText(clientID)), "aud": .string("https://self-issued.me/v2"),
            "response_type": .string("vp_token"), "response_mode": .string("direct_post.jwt"),
            "response_uri": .string("https://shop.example/answer"), "state": .string("n4C6MZOJwVMbp0LN"),
            "nonce": .string("H-uCNuj7T0B_yU0ebXxHQ1EqK9zD3VT6"), "dcql_query": Self.query(),
            "client_metadata": .object([
                "jwks": .object(["keys": .array([.object(key)])]),
                "encrypted_response_enc_values_supported": .array([.string("A256GCM")]),
            ]),
        ]
    }

    /// A query for one credential, with changes.
    static func query(_ changes: JSONObject = [:], beside others: JSONObject = [:]) -> JSONValue {
        var credential: JSONObject = [
            "id": .string("card"), "format": .string("dc+sd-jwt"),
            "meta": .object(["vct_values": .array([.string("urn:card")])]),
            "claims": .array([.object(["id": .string("a"), "path": .array([.string("age_over_18")])])]),
        ]
        for (name, value) in changes.members { credential[name] = value }
        var query: JSONObject = ["credentials": .array([.object(credential)])]
        for (name, value) in others.members { query[name] = value }
        return .object(query)
    }

    func object(_ changes: [JSONText: JSONValue?] = [:], header more: JSONObject = [:]) throws -> [UInt8] {
        var parameters = parameters
        for (name, value) in changes { parameters[name] = value }
        var header: JSONObject = [
            "alg": .string("ES256"), "typ": .string("oauth-authz-req+jwt"),
            "kid": .string(JSONText(String(decoding: did.keyID, as: UTF8.self))),
        ]
        for (name, value) in more.members { header[name] = value }
        return try SignedToken.encoded(header: header, payload: parameters.encoded) { bytes in
            Array(try signer.signature(for: bytes).rawRepresentation)
        }
    }

    func accepted(
        _ changes: [JSONText: JSONValue?] = [:], header: JSONObject = [:], link: String? = nil,
        walletNonce: JSONText? = nil
    ) throws -> AcceptedRequest {
        try RequestVerifier.verify(
            link: Array((link ?? self.link).utf8), object: try object(changes, header: header),
            trusting: NoCertificates(),
            walletNonce: walletNonce, at: Self.now)
    }
}

/// Trust in no certificate.
struct NoCertificates: CertificateTrust {
    func signer(of chain: [[UInt8]], at now: Int64) throws(CertificateTrustFault) -> CertifiedSigner { throw .chain }
}
