// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SwiftASN1
import X509

/// A key with a name, which may certify others.
struct LabIdentity {
    let name: DistinguishedName
    let key: P256.Signing.PrivateKey

    init(_ name: String) throws {
        self.name = try DistinguishedName { CommonName(name) }
        key = P256.Signing.PrivateKey()
    }
}

/// Makes the certificates of scenarios: P-256, valid around one moment.
struct CertificateLab {
    /// What a certificate is for.
    enum Purpose {
        /// An authority that may have so many others below it; nil for any number.
        case authority(pathLength: Int?)
        /// A server of these names.
        case server([String])
        /// A client, although it has a server's name.
        case client([String])
    }

    let now: Date

    private static let day = 86_400.0

    /// A certificate.
    ///
    /// - Parameter days: from when to when it is valid, in days from the lab's moment.
    func certify(
        _ subject: LabIdentity, as purpose: Purpose, by issuer: LabIdentity, days: ClosedRange<Double> = -1...90
    ) throws -> [UInt8] {
        let certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(subject.key.publicKey),
            notValidBefore: now.addingTimeInterval(days.lowerBound * Self.day),
            notValidAfter: now.addingTimeInterval(days.upperBound * Self.day), issuer: issuer.name,
            subject: subject.name, extensions: try extensions(purpose, subject, issuer),
            issuerPrivateKey: .init(issuer.key))
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    /// A certificate of an authority by itself.
    func root(_ identity: LabIdentity) throws -> [UInt8] {
        try certify(identity, as: .authority(pathLength: nil), by: identity, days: -1000...3000)
    }

    private func extensions(
        _ purpose: Purpose, _ subject: LabIdentity, _ issuer: LabIdentity
    ) throws -> Certificate.Extensions {
        let identifier = SubjectKeyIdentifier(hash: .init(issuer.key.publicKey))
        return try Certificate.Extensions {
            switch purpose {
            case .authority(let pathLength):
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: pathLength))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
            case .server(let names):
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names.map { .dnsName($0) })
            case .client(let names):
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.clientAuth])
                SubjectAlternativeNames(names.map { .dnsName($0) })
            }
            SubjectKeyIdentifier(hash: .init(subject.key.publicKey))
            AuthorityKeyIdentifier(keyIdentifier: identifier.keyIdentifier)
        }
    }
}
