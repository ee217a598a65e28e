// SPDX-License-Identifier: Apache-2.0

import CBOR

/// The mobile security object, which the issuer signed.
///
/// Spec: ISO/IEC 18013-5:2021, section 9.1.2.4.
struct SecurityObject {
    let documentType: CBORText
    /// The digests by name space and number, 32 bytes each.
    let digests: [CBORText: [UInt64: [UInt8]]]
    let deviceKey: CBORMap
    let validity: DocumentValidity
    /// Names the status list in which the issuer says whether it has withdrawn the document.
    let status: CBORMap?

    /// Reads the payload of the issuer's signature: an encoded item in a byte string.
    init(_ payload: [UInt8]) throws(MobileDocumentFault) {
        guard let object = try MobileDocumentFault.reading(payload).encodedItem else { throw .securityObject }
        guard let map = try MobileDocumentFault.reading(object).map else { throw .securityObject }
        guard map["version"] == "1.0", map["digestAlgorithm"] == "SHA-256" else { throw .securityObject }
        guard let type = map["docType"]?.text, let spaces = map["valueDigests"]?.map,
            let key = map["deviceKeyInfo"]?.map?["deviceKey"]?.map, let validity = map["validityInfo"]?.map,
            let read = DocumentValidity(validity), map["status"] == nil || map["status"]?.map != nil
        else { throw .securityObject }
        (documentType, deviceKey, status) = (type, key, map["status"]?.map)
        self.validity = read
        digests = try Self.digests(spaces)
    }

    private static func digests(_ spaces: CBORMap) throws(MobileDocumentFault) -> [CBORText: [UInt64: [UInt8]]] {
        var digests: [CBORText: [UInt64: [UInt8]]] = [:]
        for space in spaces.entries {
            guard let name = space.key.text, let numbered = space.value.map else { throw .securityObject }
            for entry in numbered.entries {
                guard case .unsigned(let number) = entry.key, let digest = entry.value.bytes, digest.count == 32 else {
                    throw .securityObject
                }
                digests[name, default: [:]][number] = digest
            }
        }
        return digests
    }
}

/// When a document was signed, and when it is valid: seconds since 1970, both ends included.
struct DocumentValidity: Hashable {
    let signed: Int64
    let from: Int64
    let until: Int64

    /// Returns nil if a time is missing or malformed.
    init?(_ map: CBORMap) {
        guard let signed = Self.seconds(map["signed"]), let from = Self.seconds(map["validFrom"]),
            let until = Self.seconds(map["validUntil"])
        else { return nil }
        (self.signed, self.from, self.until) = (signed, from, until)
    }

    /// The seconds of a time under tag 0, which is in UTC and without a fraction of a second.
    private static func seconds(_ value: CBORValue?) -> Int64? {
        guard case .tagged(0, .text(let text))? = value else { return nil }
        return DocumentTime.seconds(text.utf8)
    }
}
