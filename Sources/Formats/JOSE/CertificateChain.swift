// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import StrictJSON

extension SignedToken {
    /// At most so many certificates are read.
    public static let maximumCertificateCount = 5

    /// The certificates of the header, DER, the signer's own first; nil if the header has none.
    ///
    /// Spec: RFC 7515, section 4.1.6 (base64 with padding, unlike everything else).
    ///
    /// - Throws: ``CertificateTrustFault/chain``: an empty list, too many, or a text that is not base64.
    public func certificates() throws(CertificateTrustFault) -> [[UInt8]]? {
        guard let member = header["x5c"] else { return nil }
        guard let texts = member.strings, !texts.isEmpty, texts.count <= Self.maximumCertificateCount else {
            throw .chain
        }
        let certificates = texts.compactMap { try? Base64.decode($0.utf8) }
        guard certificates.count == texts.count else { throw .chain }
        return certificates
    }
}
