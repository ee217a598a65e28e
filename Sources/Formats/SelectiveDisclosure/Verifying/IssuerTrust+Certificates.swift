// SPDX-License-Identifier: Apache-2.0

public import JOSE

extension IssuerTrust {
    /// Trust in these issuers, and in those that are certified.
    ///
    /// - Parameter certificates: who certifies further issuers; nil if certificates are not taken.
    public init(
        issuers: [TrustedIssuer] = [], acceptsSelfIssued: Bool = false, certificates: (any CertificateTrust)?
    ) {
        self.init(issuers: issuers, acceptsSelfIssued: acceptsSelfIssued)
        guard let certificates else { return }
        certifiedSigner = { chain, now throws(CertificateTrustFault) in try certificates.signer(of: chain, at: now) }
    }
}
