import KeyPinning
import SwiftASN1
import X509

/// A certificate as bytes, as fields and as a value of the X.509 library.
struct ReadCertificate: Sendable {
    let der: [UInt8]
    let certificate: Certificate

    /// Reads one; nil when it, or its key, is of a kind nothing can be verified with.
    init?(_ der: [UInt8]) {
        guard let certificate = try? Certificate(derEncoded: der) else { return nil }
        self.der = der
        self.certificate = certificate
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
