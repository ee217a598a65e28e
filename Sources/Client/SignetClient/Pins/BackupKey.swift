// SPDX-License-Identifier: Apache-2.0

import Crypto
public import KeyPinning
import SwiftASN1
import X509

/// A reserve key: made now, pinned now, and certified only when it is needed.
public struct BackupKey: Sendable {
    /// PKCS#8, PEM.
    ///
    /// Security: secret. Do not keep it on the server or together with the other key.
    public let privateKeyPEM: String
    /// A certificate signing request for the hosts, PKCS#10, PEM.
    public let requestPEM: String
    /// The key's pin.
    public let pin: SPKIPin

    /// Makes a P-256 key.
    ///
    /// - Parameter hosts: DNS names and addresses for the request. The first is also the subject's name.
    /// - Throws: ``BackupKeyFault``.
    public init(for hosts: [ServerName]) throws(BackupKeyFault) {
        guard let first = hosts.first else { throw .noHost }
        let key = P256.Signing.PrivateKey()
        privateKeyPEM = key.pemRepresentation + "\n"
        pin = SPKIPin(hashing: Array(key.publicKey.derRepresentation))
        do {
            let names = SubjectAlternativeNames(hosts.map(\.generalName))
            let extensions = ExtensionRequest(extensions: try Certificate.Extensions { names })
            let request = try CertificateSigningRequest(
                version: .v1,
                subject: try DistinguishedName { CommonName(String(decoding: first.text, as: UTF8.self)) },
                privateKey: .init(key), attributes: .init([.init(extensions)]), signatureAlgorithm: .ecdsaWithSHA256)
            requestPEM = try request.serializeAsPEM().pemString + "\n"
        } catch { throw .notMade }
    }
}

/// Why a reserve key was not made.
public enum BackupKeyFault: Error, Hashable, Sendable {
    /// No host was named.
    case noHost
    /// The library did not make the request.
    case notMade
}

extension ServerName {
    fileprivate var generalName: GeneralName {
        switch self {
        case .dns(let name): .dnsName(String(decoding: name, as: UTF8.self))
        case .address(let bytes): .ipAddress(ASN1OctetString(contentBytes: bytes[...]))
        }
    }
}
