// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DIDKey
import JOSE
public import StrictJSON

/// The requester, with a prefix that says how its identity is proven.
///
/// Spec: OpenID for Verifiable Presentations 1.0, section 5.9.3; OpenID4VC HAIP 1.0, section 5.
public enum ClientIdentifier: Hashable, Sendable {
    /// The host that the certificate of the request's key names.
    case host(JSONText)
    /// base64url of the SHA-256 of that certificate.
    case certificate(JSONText)
    /// A did:key, which is the request's key.
    case did(JSONText)
    /// An address, proven by nothing but that answers go there.
    case address(JSONText)

    /// Reads an identifier with its prefix.
    ///
    /// - Throws: ``RequestFault/clientPrefix``: none of these, `origin` included, which only browsers may say.
    public init(_ text: JSONText) throws(RequestFault) {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: ":")),
            let prefix = JSONText(utf8: Array(text.utf8[..<mark])),
            let rest = JSONText(utf8: Array(text.utf8[(mark + 1)...])), !rest.utf8.isEmpty
        else { throw .clientPrefix }
        switch prefix {
        case "x509_san_dns": self = .host(rest)
        case "x509_hash": self = .certificate(rest)
        case "decentralized_identifier": self = .did(rest)
        case "redirect_uri": self = .address(rest)
        default: throw .clientPrefix
        }
    }

    /// The key that must have signed a request of this client.
    func key(
        of token: SignedToken, trusting certificates: any CertificateTrust, at now: Int64
    ) throws(RequestFault) -> P256.Signing.PublicKey {
        switch self {
        case .host(let host):
            let signer = try Self.signer(of: token, certificates, now)
            guard signer.hosts.contains(host) else { throw .clientHost }
            return signer.key
        case .certificate(let hash):
            let signer = try Self.signer(of: token, certificates, now)
            guard Base64URL.encode(Array(SHA256.hash(data: signer.certificate))) == hash.utf8 else {
                throw .clientHash
            }
            return signer.key
        case .did(let did): return try Self.key(of: token, did)
        case .address: throw .clientUnsignedOnly
        }
    }

    private static func signer(
        of token: SignedToken, _ trust: any CertificateTrust, _ now: Int64
    ) throws(RequestFault) -> CertifiedSigner {
        do throws(CertificateTrustFault) {
            guard let chain = try token.certificates() else { throw CertificateTrustFault.chain }
            return try trust.signer(of: chain, at: now)
        } catch { throw RequestFault(error) }
    }

    private static func key(of token: SignedToken, _ text: JSONText) throws(RequestFault) -> P256.Signing.PublicKey {
        guard let did = try? KeyDID(decoding: text.utf8), did.algorithm == .p256,
            let key = try? P256.Signing.PublicKey(compressedRepresentation: did.publicKey)
        else { throw .clientDID }
        guard token.header["kid"]?.string?.utf8 == did.keyID else { throw .keyID }
        return key
    }
}
