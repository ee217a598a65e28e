// SPDX-License-Identifier: Apache-2.0

public import KeyPinning
import SwiftASN1
import X509

/// A certificate in words, for a person to look at. Nothing is verified.
public struct CertificateSummary: Hashable, Sendable {
    /// The subject's name, such as `CN=example.org`.
    public let subject: String
    /// The issuer's name.
    public let issuer: String
    /// What pinning needs.
    public let fields: CertificateFields

    /// Reads a certificate, DER, of any kind of key.
    ///
    /// - Throws: ``KeyPinning/DERFault``.
    public init(_ der: [UInt8]) throws(DERFault) {
        fields = try CertificateFields(der)
        subject = Self.text(fields.subject)
        issuer = Self.text(fields.issuer)
    }

    private static func text(_ name: ArraySlice<UInt8>) -> String {
        (try? DistinguishedName(derEncoded: DER.parse(Array(name))))?.description ?? "(unreadable name)"
    }
}
