// SPDX-License-Identifier: Apache-2.0

public import JOSE
public import StrictJSON

/// A credential as its issuer means it, before it is signed.
///
/// Spec: RFC 9901, sections 4.1, 4.2 and 9.7; draft-ietf-oauth-sd-jwt-vc, section 2.2.
public struct CredentialDraft: Sendable {
    /// What every verifier of the credential sees: `vct`, `iss`, `exp`, `status` and the like.
    public var open: JSONObject
    /// What the holder shows or keeps back, one by one.
    public var hidden: JSONObject
    /// The holder's key.
    public var holder: WebKey
    /// How many digests the credential has, those that stand for nothing included. Credentials of one kind should have the
    /// same number, so that it says nothing.
    public var digestCount: Int
    /// The issuer's certificates, DER, its own first; none if the verifier knows the issuer by name.
    public var certificates: [[UInt8]]

    /// A draft.
    public init(
        open: JSONObject, hidden: JSONObject, holder: WebKey, digestCount: Int = 0, certificates: [[UInt8]] = []
    ) {
        self.open = open
        self.hidden = hidden
        self.holder = holder
        self.digestCount = digestCount
        self.certificates = certificates
    }
}

/// Why a draft cannot be issued: a mistake of the caller.
public enum CredentialDraftFault: Error, Hashable, Sendable {
    /// A claim that must be open, or a name that digests need, stands among the hidden ones.
    case reserved(JSONText)
    /// A claim stands among the open and among the hidden ones.
    case twice(JSONText)
    /// The draft has no type.
    case noType
    /// The signature could not be made.
    case signing
}
