// SPDX-License-Identifier: Apache-2.0

import Crypto
import KeyPinning
import StrictJSON
import SwiftASN1
import X509

/// A certificate as bytes and as a value of the X.509 library, of a kind that can be verified with.
struct ReadSigner: Sendable {
    let der: [UInt8]
    private let certificate: Certificate
    private let fields: CertificateFields
    private let constraints: BasicConstraints?
    private let usage: KeyUsage?
    private let names: SubjectAlternativeNames?

    /// Reads one; nil when it is malformed, of another algorithm than ECDSA with SHA-256, or demands what is not looked at.
    init?(_ der: [UInt8]) {
        guard let fields = try? CertificateFields(der), let certificate = try? Certificate(derEncoded: der),
            certificate.signatureAlgorithm == .ecdsaWithSHA256
        else { return nil }
        let extensions = certificate.extensions
        guard extensions.allSatisfy({ !$0.critical || Self.known.contains($0.oid) }) else { return nil }
        do {
            constraints = try extensions.basicConstraints
            usage = try extensions.keyUsage
            names = try extensions.subjectAlternativeNames
        } catch { return nil }
        self.der = der
        self.certificate = certificate
        self.fields = fields
    }

    private static let known: Set<ASN1ObjectIdentifier> = [
        .X509ExtensionID.basicConstraints, .X509ExtensionID.keyUsage, .X509ExtensionID.subjectAlternativeName,
        .X509ExtensionID.extendedKeyUsage,
    ]

    var key: P256.Signing.PublicKey? { P256.Signing.PublicKey(certificate.publicKey) }

    var hosts: [JSONText] {
        (names ?? .init([])).compactMap { if case .dnsName(let name) = $0 { JSONText(name) } else { nil } }
    }

    var identifiers: [JSONText] {
        (names ?? .init([])).compactMap {
            if case .uniformResourceIdentifier(let name) = $0 { JSONText(name) } else { nil }
        }
    }

    /// Whether it may sign certificates: so it says, and its key usage, if it has one, agrees.
    var mayCertify: Bool {
        guard case .isCertificateAuthority = constraints else { return false }
        return usage?.keyCertSign ?? true
    }

    /// Whether this one's key signed the other, and may, with so many certificates between it and the signer's own.
    func certifies(_ other: ReadSigner, below count: Int) -> Bool {
        guard mayCertify, certificate.subject == other.certificate.issuer,
            certificate.publicKey.isValidSignature(other.certificate.signature, for: other.certificate)
        else { return false }
        guard case .isCertificateAuthority(let most?) = constraints else { return true }
        return count <= most
    }

    /// Whether a time, in seconds since 1970, is within its validity.
    func isValid(at now: Int64) -> Bool {
        fields.notBefore <= now && now <= fields.notAfter
    }
}
