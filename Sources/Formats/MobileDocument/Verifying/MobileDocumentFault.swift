// SPDX-License-Identifier: Apache-2.0

import CBOR
import JOSE

/// The check that an answer with a mobile document does not pass. The sender has to correct it; a retry cannot help.
///
/// The raw value is the check's name in reports and vectors.
public enum MobileDocumentFault: String, Error, Hashable, Sendable, CaseIterable {
    /// The answer is not CBOR, or has a kind of item that mobile documents do not use.
    case cbor
    /// A number or length takes more bytes than it needs, or an item has indefinite length.
    case canonical = "cbor.canonical"
    /// The answer is longer, or nested deeper, than the reader accepts.
    case limits
    /// This is not an answer of version 1.0 that has one document and no errors.
    case response
    /// The document is not of the requested type.
    case documentType = "doctype"
    /// The issuer's signature is not a COSE_Sign1 structure with its payload.
    case issuerForm = "issuer.form"
    /// The issuer's signature names an algorithm other than ES256, or none.
    case issuerAlgorithm = "issuer.alg"
    /// The issuer's signature requires an extension.
    case issuerCritical = "issuer.crit"
    /// The issuer's certificate is missing, or does not lead to a trusted root.
    case issuerChain = "x5chain"
    /// The issuer's certificate is not yet or no longer valid.
    case issuerChainValidity = "x5chain.validity"
    /// The signature is not by the key of the issuer's certificate.
    case issuerSignature = "issuer.signature"
    /// The payload is not a mobile security object of version 1.0 with digests of SHA-256.
    case securityObject = "mso"
    /// The issuer signed a different type of document from the one that the answer names.
    case securityObjectType = "mso.doctype"
    /// The document is not yet or no longer valid, or was signed when the issuer's certificate was not valid.
    case validity = "mso.validity"
    /// An element is not an encoded item of four members.
    case item
    /// An element has fewer than 16 random bytes.
    case itemRandom = "item.random"
    /// An element was sent twice.
    case itemDuplicate = "item.duplicate"
    /// The issuer did not sign this element in this name space under this number.
    case itemDigest = "item.digest"
    /// The device's signature is missing.
    case deviceMissing = "device.missing"
    /// The device's signature is not a COSE_Sign1 structure without its payload.
    case deviceForm = "device.form"
    /// The device's signature names an algorithm other than ES256, or none.
    case deviceAlgorithm = "device.alg"
    /// The device's signature requires an extension.
    case deviceCritical = "device.crit"
    /// The device states elements of its own.
    case deviceNameSpaces = "device.namespaces"
    /// The key that the issuer signed for the device is not a P-256 key.
    case deviceKey = "device.key"
    /// The signature is not by the device's key over this session.
    case deviceSignature = "device.signature"
    /// A required element is missing.
    case claimsMissing = "claims.missing"

    init(_ fault: CBORFault) {
        switch fault {
        case .notShortest: self = .canonical
        case .tooLong, .tooDeep: self = .limits
        case .truncated, .trailing, .unsupported, .notUTF8, .keyKind, .duplicateKey: self = .cbor
        }
    }

    init(_ fault: CertificateTrustFault) { self = fault == .validity ? .issuerChainValidity : .issuerChain }

    /// Reads an item.
    static func reading(_ bytes: [UInt8]) throws(MobileDocumentFault) -> CBORValue {
        do { return try CBORValue(decoding: bytes) } catch { throw MobileDocumentFault(error) }
    }
}
