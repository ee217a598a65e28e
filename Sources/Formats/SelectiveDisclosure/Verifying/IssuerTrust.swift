// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import JOSE
public import StrictJSON

/// An issuer that a verifier trusts by name.
public struct TrustedIssuer: Sendable {
    /// The `iss` of its credentials, compared byte by byte.
    public let identifier: JSONText
    /// Its key.
    public let key: P256.Signing.PublicKey
    /// The types that it may issue; nil for all.
    public let types: Set<JSONText>?

    /// An issuer.
    public init(identifier: JSONText, key: P256.Signing.PublicKey, types: Set<JSONText>? = nil) {
        self.identifier = identifier
        self.key = key
        self.types = types
    }
}

/// Whose credentials a verifier takes.
public struct IssuerTrust: Sendable {
    /// Issuers by name.
    public var issuers: [TrustedIssuer]
    /// Whether what people state of themselves is taken: a credential signed by the key that it is bound to.
    public var acceptsSelfIssued: Bool
    /// Which signer a chain of certificates names at a time; nil if certificates are not taken.
    var certifiedSigner: CertifiedSignerRule?

    typealias CertifiedSignerRule = @Sendable ([[UInt8]], Int64) throws(CertificateTrustFault) -> CertifiedSigner

    /// Trust in these issuers, and in no certificates.
    public init(issuers: [TrustedIssuer] = [], acceptsSelfIssued: Bool = false) {
        self.issuers = issuers
        self.acceptsSelfIssued = acceptsSelfIssued
    }

    /// Trust in the certified issuers alone.
    public var certifiedOnly: IssuerTrust {
        var trust = IssuerTrust()
        trust.certifiedSigner = certifiedSigner
        return trust
    }

    /// The same trust, without what people state of themselves.
    public var withoutSelfIssued: IssuerTrust {
        var trust = self
        trust.acceptsSelfIssued = false
        return trust
    }
}

/// By whom a verified credential was issued.
public enum CredentialIssuer: Sendable {
    /// An issuer whom the verifier knows by this name.
    case named(JSONText)
    /// A signer whom a trusted certifier names.
    case certified(CertifiedSigner)
    /// The holder: only the person states this.
    case holder(JSONText)
}
