// SPDX-License-Identifier: Apache-2.0

public import Crypto
public import StrictJSON

/// Who is trusted to certify signers: a decision of the caller, because reading X.509 needs another library.
public protocol CertificateTrust: Sendable {
    /// The key that a chain certifies.
    ///
    /// - Parameters:
    ///   - chain: DER, the signer's own certificate first, at least one.
    ///   - now: seconds since 1970.
    /// - Throws: ``CertificateTrustFault``. A retry cannot help.
    func signer(of chain: [[UInt8]], at now: Int64) throws(CertificateTrustFault) -> CertifiedSigner
}

/// Why a chain certifies no key.
public enum CertificateTrustFault: Error, Hashable, Sendable {
    /// It ends in no trusted root, or a certificate on it does not certify the next.
    case chain
    /// A certificate on it is not yet or no longer valid.
    case validity
}

/// A key with the names that a certificate gives it.
public struct CertifiedSigner: Sendable {
    /// The key.
    public let key: P256.Signing.PublicKey
    /// The DNS names of the certificate, as they appear in it.
    public let hosts: [JSONText]
    /// The URIs of the certificate, as they appear in it.
    public let identifiers: [JSONText]
    /// The certificate, DER.
    public let certificate: [UInt8]

    /// A key that a ``CertificateTrust`` found good.
    public init(
        key: P256.Signing.PublicKey, hosts: [JSONText], identifiers: [JSONText], certificate: [UInt8]
    ) {
        self.key = key
        self.hosts = hosts
        self.identifiers = identifiers
        self.certificate = certificate
    }
}
