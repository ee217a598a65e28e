// SPDX-License-Identifier: Apache-2.0

import CivilTime
import SwiftASN1

/// What a signer of a cryptographic message signs: that the content is plain data, when it was signed, and the content's digest.
///
/// Whoever has the digest alone can sign; the content is not needed.
///
/// Spec: RFC 5652, sections 5.3, 5.4 and 11.
public struct SignedAttributes: Hashable, Sendable {
    /// SHA-256 of the content, 32 bytes.
    public let digest: [UInt8]
    /// When it was signed, in seconds since 1970.
    public let time: UInt64

    /// Attributes of a content.
    ///
    /// - Throws: ``CryptographicMessageFault``: a mistake of the caller.
    public init(digest: [UInt8], time: UInt64) throws(CryptographicMessageFault) {
        guard digest.count == 32 else { throw .digest }
        // RFC 5652, section 11.3: from 2050 on the time has another form, which this project need not write yet.
        guard time < 2_524_608_000 else { throw .time }
        (self.digest, self.time) = (digest, time)
    }

    /// The bytes that are signed: the DER of a SET of the three attributes.
    public var encoded: [UInt8] { DERText.of { serialize(into: &$0, .set) } }

    /// The attributes in the form in which a message has them: as ``encoded``, with another tag.
    func serialize(into serializer: inout DER.Serializer) { serialize(into: &serializer, DERText.tag(0)) }

    private func serialize(into serializer: inout DER.Serializer, _ identifier: ASN1Identifier) {
        serializer.appendConstructedNode(identifier: identifier) { set in
            // In the order of their bytes, which is that of the lengths here: RFC 5652, section 5.4, wants DER.
            attribute(.contentType, in: &set) { DERText.write(.data, to: &$0) }
            attribute(.signingTime, in: &set) { inner in
                inner.appendPrimitiveNode(identifier: .utcTime) { $0 += timeText }
            }
            attribute(.messageDigest, in: &set) { inner in
                inner.appendPrimitiveNode(identifier: .octetString) { $0 += digest }
            }
        }
    }

    private func attribute(
        _ type: ASN1ObjectIdentifier, in set: inout DER.Serializer, _ value: (inout DER.Serializer) -> Void
    ) {
        set.appendConstructedNode(identifier: .sequence) { attribute in
            DERText.write(type, to: &attribute)
            attribute.appendConstructedNode(identifier: .set) { value(&$0) }
        }
    }

    /// `YYMMDDHHMMSSZ`.
    private var timeText: [UInt8] {
        let moment = UTCTime(secondsSince1970: time)
        let parts = [
            moment.date.year % 100, moment.date.month, moment.date.day, moment.hour, moment.minute, moment.second,
        ]
        return parts.flatMap { [UInt8(ascii: "0") + UInt8($0 / 10), UInt8(ascii: "0") + UInt8($0 % 10)] } + [
            UInt8(ascii: "Z")
        ]
    }
}

/// Why a message cannot be made: a mistake of the caller, or a certificate that is none.
public enum CryptographicMessageFault: Error, Hashable, Sendable {
    /// The digest does not have 32 bytes.
    case digest
    /// The time is in 2050 or later.
    case time
    /// The bytes are not a certificate.
    case certificate
}
