// SPDX-License-Identifier: Apache-2.0

public import JOSE
public import StrictJSON

/// A presentation that passed every check of ``PresentationVerifier``.
///
/// Security: whether the credential was withdrawn is not checked; ``status`` says where to ask. Without ``holder``,
/// anyone with a copy may have presented it.
public struct VerifiedPresentation: Sendable {
    /// What was disclosed, and what stands open, without the digests.
    public let claims: JSONObject
    /// The type of the credential.
    public let type: JSONText
    /// By whom it was issued.
    public let issuer: CredentialIssuer
    /// The key that signed for this verifier and request; nil if none did.
    public let holder: WebKey?
    /// When that key signed, in seconds since 1970, as the holder says; nil if none did.
    public let signedAt: Int64?
    /// The `status` claim, for a check of withdrawal.
    public let status: JSONObject?

    init(claims: JSONObject, type: JSONText, issuer: CredentialIssuer, binding: HolderBinding?) {
        self.claims = claims
        self.type = type
        self.issuer = issuer
        (holder, signedAt) = (binding?.key, binding?.time)
        status = claims["status"]?.object
    }
}
