// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import JOSE
import SelectiveDisclosure
import StrictJSON

/// Presentations of SD-JWT VCs, as a verifier judges them.
struct PresentationSuite: VectorSuite {
    static let configuration = CommandConfiguration(
        commandName: "sd-jwt-vc",
        abstract: "SD-JWT VC: each presentation gives its claims, or is refused.",
        discussion: "A presentation that another check refuses than the one the set names passes, with a remark.")

    @Argument(help: "The JSON file.") var path: String

    func fill(_ report: inout VectorReport) throws(VectorFileError) {
        for vector in try CredentialCase.load(path) {
            let (text, request, trust) = (try vector.text("presentation").utf8, try request(vector), try trust(vector))
            let now = try vector.number("now")
            var (refusal, difference): (String?, String?)
            do throws(PresentationFault) {
                let shown = try PresentationVerifier.verify(text, for: request, trusting: trust, at: now)
                difference = shown.claims == vector.fields["claims"]?.object ? nil : "gives other claims"
            } catch { refusal = error.rawValue }
            try vector.count(&report, refusal: refusal, difference: difference)
        }
    }

    private func request(_ vector: CredentialCase) throws(VectorFileError) -> VerificationRequest {
        let policy = CredentialCase(path: path, fields: try vector.object("policy"))
        let binding = VerificationRequest.Binding(
            isRequired: policy.fields["require_key_binding"] != .bool(false), audience: try vector.text("aud"),
            nonce: try vector.text("nonce"), maximumAge: try policy.number("max_kb_age"),
            clockSkew: try policy.number("clock_skew"))
        let paths = (policy.fields["required_claims"]?.array ?? []).compactMap { ClaimPath($0) }
        return VerificationRequest(
            types: try policy.array("vct_values").compactMap(\.string), requiredClaims: paths, binding: binding)
    }

    private func trust(_ vector: CredentialCase) throws(VectorFileError) -> IssuerTrust {
        let issuers = try vector.object("issuer_keys").members.compactMap { name, key in
            key.object.flatMap { try? WebKey($0).signingKey }.map { TrustedIssuer(identifier: name, key: $0) }
        }
        return IssuerTrust(
            issuers: issuers, acceptsSelfIssued: try vector.object("policy")["allow_self_issued"] == .bool(true),
            certificates: try vector.roots("issuer_roots"))
    }
}
