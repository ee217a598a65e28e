// SPDX-License-Identifier: Apache-2.0

import CBOR
import JOSE

/// The check that an answer with a mobile document does not pass. The sender has to correct it; a retry cannot help.
///
/// The raw value is the check's name in reports and vectors.
public enum MobileDocumentFault: String, Error, Hashable, Sendable, CaseIterable {
    /// Not CBOR, or of a kind of item that mobile documents do not have.
    case cbor
    /// A number or length in more bytes than it needs, or an item of indefinite length.
    case canonical = "cbor.canonical"
    /// More bytes, or deeper values, than are read.
    case limits
    /// Not an answer of version 1.0, without errors, with one document.
    case response
    /// A document of another type than was asked for.
    case documentType = "doctype"
    /// The issuer's signature is no COSE_Sign1 structure with its payload.
    case issuerForm = "issuer.form"
    /// The issuer's signature names an algorithm other than ES256, or none.
    case issuerAlgorithm = "issuer.alg"
    /// The issuer's signature demands an extension.
    case issuerCritical = "issuer.crit"
    /// No certificate of the issuer, or one that leads to no trusted root.
    case issuerChain = "x5chain"
    /// The issuer's certificate is not yet or no longer valid.
    case issuerChainValidity = "x5chain.validity"
    /// Not signed by the key of the issuer's certificate.
    case issuerSignature = "issuer.signature"
    /// Not a mobile security object of version 1.0 with digests of SHA-256.
    case securityObject = "mso"
    /// The issuer signed another type of document than the answer says.
    case securityObjectType = "mso.doctype"
    /// Not yet or no longer valid, or signed when the issuer's certificate was not.
    case validity = "mso.validity"
    /// Something that is not an encoded item of four members where an element must be.
    case item
    /// An element whose random bytes are fewer than 16.
    case itemRandom = "item.random"
    /// An element that is sent twice.
    case itemDuplicate = "item.duplicate"
    /// An element that the issuer did not sign in this name space under this number.
    case itemDigest = "item.digest"
    /// Nothing signed by the device.
    case deviceMissing = "device.missing"
    /// What the device signed is no COSE_Sign1 structure without its payload.
    case deviceForm = "device.form"
    /// The device's signature names an algorithm other than ES256, or none.
    case deviceAlgorithm = "device.alg"
    /// The device's signature demands an extension.
    case deviceCritical = "device.crit"
    /// Elements that the device signed itself.
    case deviceNameSpaces = "device.namespaces"
    /// The issuer signed no P-256 key of the device.
    case deviceKey = "device.key"
    /// Not signed by the device's key for this session.
    case deviceSignature = "device.signature"
    /// An element that was asked for is not there.
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
