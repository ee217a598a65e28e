// SPDX-License-Identifier: Apache-2.0

import SwiftASN1

/// The few forms of DER of which a message is made.
enum DERText {
    static func of(_ write: (inout DER.Serializer) -> Void) -> [UInt8] {
        var serializer = DER.Serializer()
        write(&serializer)
        return serializer.serializedBytes
    }

    /// The tag of a field by its number.
    static func tag(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }

    /// A number below 128.
    static func write(version: UInt8, to serializer: inout DER.Serializer) {
        serializer.appendPrimitiveNode(identifier: .integer) { $0.append(version) }
    }

    /// An object identifier. Writing one into memory does not fail.
    static func write(_ identifier: ASN1ObjectIdentifier, to serializer: inout DER.Serializer) {
        try? serializer.serialize(identifier)
    }

    static func write(
        algorithm: ASN1ObjectIdentifier, withNull: Bool = false, to serializer: inout DER.Serializer
    ) {
        serializer.appendConstructedNode(identifier: .sequence) { node in
            write(algorithm, to: &node)
            if withNull { node.appendPrimitiveNode(identifier: .null) { _ in } }
        }
    }
}

extension ASN1ObjectIdentifier {
    /// RFC 5652, sections 4, 5.1, 11.1, 11.2 and 11.3.
    static let data: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 1]
    static let signedData: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 7, 2]
    static let contentType: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 3]
    static let messageDigest: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 4]
    static let signingTime: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 9, 5]
    /// RFC 5754, sections 2.2, 3.2 and 3.3.
    static let sha256: ASN1ObjectIdentifier = [2, 16, 840, 1, 101, 3, 4, 2, 1]
    static let rsaEncryption: ASN1ObjectIdentifier = [1, 2, 840, 113_549, 1, 1, 1]
    static let ecdsaSHA256: ASN1ObjectIdentifier = [1, 2, 840, 10045, 4, 3, 2]
}
