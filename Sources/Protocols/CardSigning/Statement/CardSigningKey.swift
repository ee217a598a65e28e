// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import CryptographicMessages
import SwiftASN1
import X509

/// The private key with which cards are signed.
public struct CardSigningKey: Sendable {
    private let key: Certificate.PrivateKey

    /// Reads a key that belongs to a certificate.
    ///
    /// - Parameters:
    ///   - pem: PKCS #8, SEC 1 or PKCS #1, PEM; P-256, or RSA with 2048 to 4096 bits.
    ///   - certificate: DER.
    /// - Returns: nil if it is not such a key, or another one's.
    public init?(pem: String, of certificate: [UInt8]) {
        guard let key = try? Certificate.PrivateKey(pemEncoded: pem),
            let read = try? Certificate(derEncoded: certificate),
            CardSignatureKind(key.publicKey) != nil, key.publicKey == read.publicKey
        else { return nil }
        self.key = key
    }

    /// Signs a digest.
    ///
    /// - Parameter time: seconds since 1970; the signature says the minute.
    /// - Returns: nil if the digest does not have 32 bytes, or the library cannot.
    public func signed(_ digest: [UInt8], at time: UInt64) -> SignedCardDigest? {
        let minute = time - time % 60
        guard let attributes = try? SignedAttributes(digest: digest, time: minute),
            let kind = CardSignatureKind(key.publicKey),
            let signature = try? key.sign(bytes: attributes.encoded, signatureAlgorithm: kind.certificateAlgorithm)
        else { return nil }
        return SignedCardDigest(time: minute, signature: Array(signature.rawRepresentation))
    }
}

extension PassSubject {
    /// What a certificate for wallet cards says: its user identifier (UID) and its organizational unit (OU). Nil if it lacks one.
    public init?(ofCertificate der: [UInt8]) {
        guard let certificate = try? Certificate(derEncoded: der) else { return nil }
        var (type, team): (String?, String?)
        for attribute in certificate.subject.flatMap({ $0 }) {
            if attribute.type == [0, 9, 2342, 19_200_300, 100, 1, 1] { type = String(attribute.value) }
            if attribute.type == .RDNAttributeType.organizationalUnitName { team = String(attribute.value) }
        }
        guard let type, let team else { return nil }
        self.init(passType: Array(type.utf8), team: Array(team.utf8))
    }
}
