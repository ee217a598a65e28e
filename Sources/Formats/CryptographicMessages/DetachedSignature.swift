// SPDX-License-Identifier: Apache-2.0

import SwiftASN1

/// A signature of a content that stands elsewhere, by one signer, with the certificates of the signer.
///
/// Spec: RFC 5652, section 5; RFC 5754, sections 2 and 3, for the names of the algorithms.
public struct DetachedSignature: Hashable, Sendable {
    /// How the attributes were signed.
    public enum Algorithm: Hashable, Sendable {
        /// ECDSA with SHA-256; the signature is the DER of r and s.
        case ecdsaSHA256
        /// RSA PKCS #1 version 1.5 with SHA-256.
        case rsaSHA256
    }

    /// What was signed.
    public let attributes: SignedAttributes
    /// How.
    public let algorithm: Algorithm
    /// The signature of ``SignedAttributes/encoded``.
    public let signature: [UInt8]
    /// DER, the signer's first.
    public let certificates: [[UInt8]]
    /// Who signed, as its certificate says: the name of its issuer and its serial number, DER.
    private let signer: [UInt8]

    /// A signature that was made with the key of the first certificate. It is not verified.
    ///
    /// - Throws: ``CryptographicMessageFault/certificate``.
    public init(
        of attributes: SignedAttributes, _ algorithm: Algorithm, signature: [UInt8], certificates: [[UInt8]]
    ) throws(CryptographicMessageFault) {
        guard let first = certificates.first, let signer = Self.name(of: first) else { throw .certificate }
        self.attributes = attributes
        self.algorithm = algorithm
        self.signature = signature
        self.certificates = certificates
        self.signer = signer
    }

    /// The message: the DER of a ContentInfo with SignedData.
    public var encoded: [UInt8] {
        DERText.of { message in
            message.appendConstructedNode(identifier: .sequence) { info in
                DERText.write(.signedData, to: &info)
                info.appendConstructedNode(identifier: DERText.tag(0)) { signedData(&$0) }
            }
        }
    }

    private func signedData(_ outer: inout DER.Serializer) {
        outer.appendConstructedNode(identifier: .sequence) { data in
            DERText.write(version: 1, to: &data)
            data.appendConstructedNode(identifier: .set) { DERText.write(algorithm: .sha256, to: &$0) }
            data.appendConstructedNode(identifier: .sequence) { DERText.write(.data, to: &$0) }
            data.appendConstructedNode(identifier: DERText.tag(0)) { set in
                for certificate in certificates.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                    set.serializeRawBytes(certificate)
                }
            }
            data.appendConstructedNode(identifier: .set) { signerInfo(&$0) }
        }
    }

    private func signerInfo(_ outer: inout DER.Serializer) {
        outer.appendConstructedNode(identifier: .sequence) { info in
            DERText.write(version: 1, to: &info)
            info.serializeRawBytes(signer)
            DERText.write(algorithm: .sha256, to: &info)
            attributes.serialize(into: &info)
            switch algorithm {
            case .ecdsaSHA256: DERText.write(algorithm: .ecdsaSHA256, to: &info)
            case .rsaSHA256: DERText.write(algorithm: .rsaEncryption, withNull: true, to: &info)
            }
            info.appendPrimitiveNode(identifier: .octetString) { $0 += signature }
        }
    }

    /// IssuerAndSerialNumber of a certificate; nil if the bytes are none.
    ///
    /// Spec: RFC 5652, section 10.2.4; RFC 5280, section 4.1.
    private static func name(of certificate: [UInt8]) -> [UInt8]? {
        guard let node = try? DER.parse(certificate), let outer = children(node, .sequence),
            let first = outer.first, let fields = children(first, .sequence)
        else { return nil }
        // A version, which is missing in the first version of certificates, the number, the algorithm, the issuer.
        let rest = fields.first?.identifier == DERText.tag(0) ? fields.dropFirst() : fields[...]
        guard rest.count > 3, let number = rest.first, number.identifier == .integer,
            let issuer = rest.dropFirst(2).first, issuer.identifier == .sequence
        else { return nil }
        return DERText.of { writer in
            writer.appendConstructedNode(identifier: .sequence) { name in
                name.serializeRawBytes(issuer.encodedBytes)
                name.serializeRawBytes(number.encodedBytes)
            }
        }
    }

    private static func children(_ node: ASN1Node, _ identifier: ASN1Identifier) -> [ASN1Node]? {
        guard node.identifier == identifier, case .constructed(let nodes) = node.content else { return nil }
        return Array(nodes)
    }
}
