// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import SwiftASN1
import X509

/// A certificate authority of one's own for one server: for development, and for directories whose clients get
/// the root certificate in their directory file.
///
/// P-256 throughout; the root lives for ten years, the server's certificate for 397 days.
struct DevelopmentAuthority {
    /// DER.
    let root: [UInt8]
    let rootPEM: String
    /// Security: a holder of it can impersonate the server. Keep it away from the server.
    let rootKeyPEM: String
    let serverPEM: String
    /// Security: secret.
    let serverKeyPEM: String

    private static let day = 86_400.0
    /// So long before they are made certificates begin: as long as a log lets its machine's clock be wrong.
    private static let head = LogClock.longestPause
    private static let rootDays = 3652.0
    private static let serverDays = 397.0

    /// Makes both keys and both certificates.
    ///
    /// - Parameters:
    ///   - hosts: DNS names and IP addresses of the server.
    ///   - now: seconds since 1970; certificates are valid from a week before, so that a clock that is a little wrong locks nobody out.
    init(hosts: [ServerHost], at now: UInt64) throws {
        let start = Self.start(now)
        let rootKey = P256.Signing.PrivateKey()
        let serverKey = P256.Signing.PrivateKey()
        let rootName = try DistinguishedName {
            CommonName("Signet local authority")
        }
        let root = try Self.root(rootName, rootKey, start)
        let server = try Self.server(
            SubjectAlternativeNames(hosts.map(\.generalName)), serverKey, rootName, rootKey, start)
        var serializer = DER.Serializer()
        try serializer.serialize(root)
        self.root = serializer.serializedBytes
        rootPEM = try root.serializeAsPEM().pemString + "\n"
        rootKeyPEM = rootKey.pemRepresentation + "\n"
        serverPEM = try server.serializeAsPEM().pemString + "\n"
        serverKeyPEM = serverKey.pemRepresentation + "\n"
    }

    /// Another server certificate of an authority, for the names of an earlier one.
    ///
    /// - Parameters:
    ///   - server: the earlier one, PEM.
    ///   - root: the authority's certificate, PEM.
    ///   - rootKey: its key, PEM.
    /// - Returns: PEM.
    static func certificate(
        for key: P256.Signing.PrivateKey, like server: [UInt8], by root: [UInt8], _ rootKey: String, at now: UInt64
    ) throws(DamagedPart) -> [UInt8] {
        guard let earlier = try? Certificate(pemEncoded: String(decoding: server, as: UTF8.self)),
            let names = try? earlier.extensions.subjectAlternativeNames
        else { throw .server }
        guard let authority = try? Certificate(pemEncoded: String(decoding: root, as: UTF8.self)) else { throw .root }
        guard let signer = try? P256.Signing.PrivateKey(pemRepresentation: rootKey),
            let made = try? Self.server(names, key, authority.subject, signer, start(now)).serializeAsPEM()
        else { throw .rootKey }
        return Array((made.pemString + "\n").utf8)
    }

    /// What no certificate can be made of.
    enum DamagedPart: Error { case server, root, rootKey }

    private static func start(_ now: UInt64) -> Date {
        Date(timeIntervalSince1970: Double(now > head ? now - head : 0))
    }

    private static func root(
        _ name: DistinguishedName, _ key: P256.Signing.PrivateKey, _ start: Date
    ) throws -> Certificate {
        let publicKey = Certificate.PublicKey(key.publicKey)
        return try Certificate(
            version: .v3, serialNumber: .init(), publicKey: publicKey, notValidBefore: start,
            notValidAfter: start.addingTimeInterval(rootDays * day), issuer: name, subject: name,
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: publicKey)
            },
            issuerPrivateKey: .init(key))
    }

    private static func server(
        _ names: SubjectAlternativeNames, _ key: P256.Signing.PrivateKey, _ issuer: DistinguishedName,
        _ issuerKey: P256.Signing.PrivateKey, _ start: Date
    ) throws -> Certificate {
        let identifier = SubjectKeyIdentifier(hash: Certificate.PublicKey(issuerKey.publicKey))
        return try Certificate(
            version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: start,
            notValidAfter: start.addingTimeInterval(serverDays * day), issuer: issuer,
            subject: try DistinguishedName { CommonName("signetd") },
            extensions: try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                names
                AuthorityKeyIdentifier(keyIdentifier: identifier.keyIdentifier)
            },
            issuerPrivateKey: .init(issuerKey))
    }
}

extension ServerHost {
    fileprivate var generalName: GeneralName {
        switch self {
        case .name(let name): .dnsName(name)
        case .address(let bytes): .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
        }
    }
}
