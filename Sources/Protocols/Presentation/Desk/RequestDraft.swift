// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import JOSE
public import StrictJSON

/// The site that asks, as its certificate and its configuration name it.
public struct RequestingSite: Sendable {
    /// The host that the certificate names, without a port.
    public let host: JSONText
    /// The host, with `:port` unless that is 443.
    public let authority: JSONText
    /// The certificates of the key that signs requests, DER, its own first.
    public let certificates: [[UInt8]]

    /// A site.
    public init(host: JSONText, authority: JSONText, certificates: [[UInt8]]) {
        (self.host, self.authority, self.certificates) = (host, authority, certificates)
    }

    /// The client identifier: the audience of presentations.
    ///
    /// Spec: OpenID for Verifiable Presentations 1.0, section 5.9.3 (`x509_san_dns`).
    public var clientID: JSONText { JSONText("x509_san_dns:\(host)") }
}

/// One request of a site, with what is unpredictable in it.
///
/// Spec: OpenID for Verifiable Presentations 1.0, sections 5.1 to 5.10 and 8.2; OpenID4VC HAIP 1.0, section 5.
struct RequestDraft: Sendable {
    /// How many random bytes a request takes.
    static let randomByteCount = 80

    let site: RequestingSite
    let question: SiteQuestion
    /// In the addresses, and the name of the key.
    let identifier: JSONText
    let nonce: JSONText
    let state: JSONText
    /// What the wallet gets for its answer, and what the session gives back.
    let responseCode: JSONText
    /// For the answer to this request alone.
    let key: P256.KeyAgreement.PrivateKey
    /// In seconds since 1970.
    let expiry: Int64
    /// For a browser's session; nil for a member who has signed in.
    let browser: BrowserQuestion?

    init(
        _ site: RequestingSite, _ question: SiteQuestion, for browser: BrowserQuestion?, random: [UInt8],
        until expiry: Int64
    ) {
        (self.site, self.question, self.browser, self.expiry) = (site, question, browser, expiry)
        identifier = Self.text(random.prefix(16))
        nonce = Self.text(random.dropFirst(16).prefix(24))
        state = Self.text(random.dropFirst(40).prefix(24))
        responseCode = Self.text(random.dropFirst(64).prefix(16))
        key = P256.KeyAgreement.PrivateKey()
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> JSONText {
        JSONText(String(decoding: Base64URL.encode(Array(bytes)), as: UTF8.self))
    }

    /// What a person opens or scans.
    var link: [UInt8] {
        Array("openid4vp://?client_id=".utf8) + FormText.escaped(site.clientID.utf8) + Array("&request_uri=".utf8)
            + FormText.escaped(CardRoute.request.address(at: site.authority, identifier).utf8)
            + Array("&request_uri_method=post".utf8)
    }

    /// The request object.
    ///
    /// - Parameter sign: gives r and s of the ECDSA signature by the key of the site's certificate.
    func object(
        walletNonce: JSONText?, sign: ([UInt8]) throws(PresentationDeskFault) -> [UInt8]
    ) throws(PresentationDeskFault) -> [UInt8] {
        let certificates = site.certificates.map { String(decoding: Base64.encode($0), as: UTF8.self) }
        let header: JSONObject = [
            "alg": .string("ES256"), "typ": .string("oauth-authz-req+jwt"),
            "x5c": .array(certificates.map { .string(JSONText($0)) }),
        ]
        var payload: JSONObject = [
            "aud": .string("https://self-issued.me/v2"), "client_id": .string(site.clientID),
            "response_type": .string("vp_token"), "response_mode": .string("direct_post.jwt"),
            "response_uri": .string(CardRoute.response.address(at: site.authority, identifier)),
            "nonce": .string(nonce), "state": .string(state), "exp": .integer(expiry),
            "dcql_query": .object(question.query), "client_metadata": .object(metadata),
        ]
        payload["wallet_nonce"] = walletNonce.map(JSONValue.string)
        if let browser {
            payload[BrowserSignIn.signInName] = .string(Self.text(browser.challenge[...]))
            payload[BrowserSignIn.digitsName] = browser.digits.map { _ in .bool(true) }
        }
        return try SignedToken.encoded(header: header, payload: payload.encoded, sign: sign)
    }

    private var metadata: JSONObject {
        var own = WebKey(key.publicKey).object
        own["use"] = .string("enc")
        own["alg"] = .string("ECDH-ES")
        own["kid"] = .string(identifier)
        let algorithms: JSONValue = .array([.string("ES256")])
        return [
            "jwks": .object(["keys": .array([.object(own)])]),
            "encrypted_response_enc_values_supported": .array([.string("A256GCM")]),
            "vp_formats_supported": .object([
                "dc+sd-jwt": .object(["sd-jwt_alg_values": algorithms, "kb-jwt_alg_values": algorithms])
            ]),
        ]
    }

    /// What the answer must fit.
    var open: OpenRequest {
        OpenRequest(keyID: identifier, offered: [.a256GCM], state: state, credentials: [SiteQuestion.name])
    }
}
