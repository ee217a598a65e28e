// SPDX-License-Identifier: Apache-2.0

public import CBOR
public import Crypto

/// A document before its issuer signs it.
///
/// Spec: ISO/IEC 18013-5:2021, section 9.1.2.
public struct MobileDocumentDraft: Sendable {
    /// The type of the document.
    public var documentType: CBORText
    /// The elements with their values, each name once. All documents of a type should have them in the same order.
    public var elements: [(name: ElementName, value: CBORValue)]
    /// The device's key.
    public var deviceKey: P256.Signing.PublicKey
    /// The issuer's certificate, DER.
    public var certificate: [UInt8]
    /// When the document is valid, in seconds since 1970. The document names the first second as the time of its
    /// signature.
    public var validity: ClosedRange<Int64>

    /// A draft.
    public init(
        documentType: CBORText, elements: [(name: ElementName, value: CBORValue)], deviceKey: P256.Signing.PublicKey,
        certificate: [UInt8], validity: ClosedRange<Int64>
    ) {
        self.documentType = documentType
        self.elements = elements
        self.deviceKey = deviceKey
        self.certificate = certificate
        self.validity = validity
    }

    /// Signs the document, with 16 fresh random bytes for each element.
    ///
    /// - Parameter sign: gives r and s of the issuer's ECDSA signature over SHA-256 of the bytes, or nil.
    /// - Throws: ``MobileDocumentDraftFault``. A retry helps only if the signature could not be made.
    public func issued(
        using generator: inout some RandomNumberGenerator, sign: ([UInt8]) -> [UInt8]?
    ) throws(MobileDocumentDraftFault) -> HeldMobileDocument {
        guard Set(elements.map(\.name)).count == elements.count else { throw .twice }
        var items: [(name: ElementName, item: SignedItem)] = []
        for (place, element) in elements.enumerated() {
            let random = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let item = SignedItem(
                number: UInt64(place), random: random, identifier: element.name.identifier, value: element.value)
            items.append((element.name, item))
        }
        let payload = CBORValue.encodedItem(try securityObject(items).encoded).encoded
        let proof = try COSESign1.encoded(payload: payload, unprotected: chain) {
            bytes throws(MobileDocumentDraftFault) in
            guard let signature = sign(bytes) else { throw .signing }
            return signature
        }
        return HeldMobileDocument(documentType: documentType, items: items, proof: proof)
    }

    private var chain: CBORMap { CBORValue.fields([33: .bytes(certificate)]).map ?? CBORMap() }

    private func securityObject(
        _ items: [(name: ElementName, item: SignedItem)]
    ) throws(MobileDocumentDraftFault) -> CBORValue {
        guard let from = DocumentTime.text(validity.lowerBound).flatMap(CBORText.init(utf8:)),
            let until = DocumentTime.text(validity.upperBound).flatMap(CBORText.init(utf8:))
        else { throw .validity }
        let (first, last) = (CBORValue.tagged(0, .text(from)), CBORValue.tagged(0, .text(until)))
        return .fields([
            "version": "1.0", "digestAlgorithm": "SHA-256", "valueDigests": digests(items),
            "deviceKeyInfo": CBORValue.fields(["deviceKey": COSEKey.value(deviceKey)]), "docType": .text(documentType),
            "validityInfo": CBORValue.fields(["signed": first, "validFrom": first, "validUntil": last]),
        ])
    }

    private func digests(_ items: [(name: ElementName, item: SignedItem)]) -> CBORValue {
        var spaces: [(CBORValue, CBORValue)] = []
        for space in ElementName.spaces(items.map(\.name)) {
            let numbered = items.filter { $0.name.space == space }.map { element in
                (CBORValue.unsigned(element.item.number), CBORValue.bytes(element.item.digest))
            }
            spaces.append((CBORValue.text(space), CBORValue.fields(of: numbered)))
        }
        return .fields(of: spaces)
    }
}

/// Why a draft cannot be issued: a mistake of the caller.
public enum MobileDocumentDraftFault: Error, Hashable, Sendable {
    /// Two elements have the same name.
    case twice
    /// A time is before 1970 or after the year 9999.
    case validity
    /// The signature could not be made.
    case signing
}

extension ElementName {
    /// The name spaces of some elements, each once, in the order of their first element.
    static func spaces(_ names: [ElementName]) -> [CBORText] {
        var spaces: [CBORText] = []
        for name in names where !spaces.contains(name.space) { spaces.append(name.space) }
        return spaces
    }
}
