// SPDX-License-Identifier: Apache-2.0

import KeyPinning
import SwiftASN1
import X509

/// A certificate as bytes, as fields and as a value of the X.509 library.
struct ReadCertificate: Sendable {
    let der: [UInt8]
    let certificate: Certificate

    /// Reads one; nil when it, or its key, is of a kind nothing can be verified with.
    init?(_ der: [UInt8]) {
        // Read into its parts once, for both.
        guard let root = try? DER.parse(der), Self.hasWholeSignature(root),
            let certificate = try? Certificate(derEncoded: root)
        else { return nil }
        self.der = der
        self.certificate = certificate
    }

    /// Whether the signature is a number of whole octets. The library passes over the number of unused bits where it reads an
    /// ECDSA or RSA signature, so that one certificate would have several spellings.
    ///
    /// Spec: RFC 5280, section 4.1.1.3; X.690, section 8.6.2.
    private static func hasWholeSignature(_ root: ASN1Node) -> Bool {
        guard case .constructed(let parts) = root.content,
            let signature = Array(parts).last.flatMap({ try? ASN1BitString(derEncoded: $0) })
        else { return false }
        return signature.paddingBits == 0
    }

    /// Each certificate once, in their order.
    static func distinct(_ certificates: [ReadCertificate]) -> [Certificate] {
        certificates.reduce(into: []) { unique, next in
            if !unique.contains(next.certificate) { unique.append(next.certificate) }
        }
    }

    /// Whether nothing is demanded that ``PathCheck`` does not look at.
    var hasOnlyKnownCriticalExtensions: Bool {
        certificate.extensions.allSatisfy { !$0.critical || PathCheck.knownExtensions.contains($0.oid) }
    }
}
