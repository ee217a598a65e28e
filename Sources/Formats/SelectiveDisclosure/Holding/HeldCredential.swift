// SPDX-License-Identifier: Apache-2.0

import JOSE
public import StrictJSON

/// A credential as its holder keeps it: the issuer's token and every disclosure.
///
/// Spec: RFC 9901, section 7.2.
///
/// Security: reading verifies nothing but the form. A holder who wants to know whether the issuer signed asks
/// ``PresentationVerifier`` with a request that demands no binding.
public struct HeldCredential: Sendable {
    /// The header of the issuer's token, which every verifier of the credential sees.
    public let header: JSONObject
    /// What the issuer wrote, digests included.
    public let payload: JSONObject
    /// The disclosures, in the order in which the issuer sent them.
    public let disclosures: [Disclosure]
    private let issuerToken: [UInt8]

    /// Reads what an issuer sent: no key binding.
    ///
    /// - Throws: ``PresentationFault``: a form that no verifier would read. A retry cannot help.
    public init(decoding text: [UInt8]) throws(PresentationFault) {
        let parts = try SeparatedText(text)
        guard parts.keyBinding == nil else { throw .form }
        let token = try PresentationVerifier.issuerToken(parts)
        try PresentationVerifier.checkIssuerHeader(token)
        header = token.header
        payload = try PresentationVerifier.payload(of: token)
        try PresentationVerifier.checkDigestAlgorithm(payload)
        _ = try DisclosedClaims(payload, parts.disclosures)
        var disclosures: [Disclosure] = []
        for text in parts.disclosures { disclosures.append(try Disclosure(decoding: text)) }
        self.disclosures = disclosures
        issuerToken = parts.issuerToken
    }

    /// The credential as the issuer sent it.
    public var encoded: [UInt8] { joined(disclosures) }

    /// The credential with some of its disclosures. Without a signature for a verifier, whoever has it can show it.
    ///
    /// - Parameter chosen: which disclosures go along. One whose digest stands inside another needs that one too, or verifiers refuse.
    public func copied(disclosing chosen: (Disclosure) -> Bool) -> [UInt8] { joined(disclosures.filter(chosen)) }

    private func joined(_ disclosures: [Disclosure]) -> [UInt8] {
        ([issuerToken] + disclosures.map(\.text)).reduce(into: []) { $0 += $1 + [UInt8(ascii: "~")] }
    }

    /// Shows some of the credential to one verifier, for one request.
    ///
    /// - Parameters:
    ///   - chosen: which disclosures go along. One whose digest stands inside another needs that one too, or verifiers refuse.
    ///   - audience: the verifier's whole client identifier, prefix included.
    ///   - nonce: the nonce of the request.
    ///   - now: seconds since 1970.
    ///   - sign: gives r and s of the ECDSA signature by the key that the credential is bound to.
    /// - Throws: what `sign` throws.
    public func presented<Failure: Error>(
        disclosing chosen: (Disclosure) -> Bool, audience: JSONText, nonce: JSONText, at now: Int64,
        sign: ([UInt8]) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [UInt8] {
        let shown = copied(disclosing: chosen)
        let payload: JSONObject = [
            "iat": .integer(now), "aud": .string(audience), "nonce": .string(nonce),
            "sd_hash": .string(PresentationVerifier.hash(of: shown)),
        ]
        let header: JSONObject = ["alg": .string("ES256"), "typ": .string("kb+jwt")]
        return shown + (try SignedToken.encoded(header: header, payload: payload.encoded, sign: sign))
    }
}
