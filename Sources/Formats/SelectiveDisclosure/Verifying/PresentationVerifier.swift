// SPDX-License-Identifier: Apache-2.0

import JOSE
import StrictJSON

/// Decides whether a presentation of an SD-JWT VC is what a verifier asked for. This page is the whole decision.
///
/// Spec: RFC 9901, sections 7.1 and 7.3; draft-ietf-oauth-sd-jwt-vc, sections 2.2 and 2.4. The profile is narrower: ES256 and
/// SHA-256 alone, one way to name the holder's key, no extension, no address that is followed.
public enum PresentationVerifier {
    /// Judges a presentation.
    ///
    /// - Parameters:
    ///   - text: the issuer's token, disclosures and the holder's token, with tildes between; at most 131,072 bytes.
    ///   - request: what was asked for.
    ///   - trust: whose credentials are taken.
    ///   - now: seconds since 1970.
    /// - Throws: ``PresentationFault``, the first check that fails. A retry cannot help.
    ///
    /// Security: one request's nonce must be taken once; that the caller remembers it is not checked here. Nor is withdrawal.
    public static func verify(
        _ text: [UInt8], for request: VerificationRequest, trusting trust: IssuerTrust, at now: Int64
    ) throws(PresentationFault) -> VerifiedPresentation {
        let parts = try SeparatedText(text)  // RFC 9901, section 4
        let token = try issuerToken(parts)  // RFC 9901, section 7.1, step 2
        try checkIssuerHeader(token)  // SD-JWT VC, section 2.2.1; RFC 7515, section 4.1.11
        try checkBindingIsSent(parts, request.binding)  // RFC 9901, section 7.3, steps 1 and 2
        let payload = try payload(of: token)  // RFC 9901, section 7.1, step 2.c
        let candidate = try issuer(of: token, payload, trust, now)  // SD-JWT VC, section 2.5
        try checkIssuerSignature(token, candidate)  // RFC 9901, section 7.1, step 2.b

        try checkDigestAlgorithm(payload)  // RFC 9901, section 4.1.1
        let claims = try DisclosedClaims(payload, parts.disclosures).claims  // RFC 9901, section 7.1, steps 3 to 5
        let type = try checkedType(claims, request.types)  // SD-JWT VC, section 2.2.2.1
        try checkTimes(claims, now)  // RFC 9901, section 7.1, step 6; RFC 7519, sections 4.1.4 and 4.1.5
        let holder = try holderKey(claims)  // RFC 9901, section 4.1.2; RFC 7800, section 3.2
        try checkIssuerMayIssue(candidate, type, claims, holder)  // SD-JWT VC, section 2.5

        let binding = try holderBinding(parts, holder, request.binding, now)  // RFC 9901, section 7.3, step 5
        try checkRequiredClaims(claims, request.requiredClaims)  // OpenID4VP, section 8.6
        return VerifiedPresentation(claims: claims, type: type, issuer: candidate.issuer, binding: binding)
    }
}
