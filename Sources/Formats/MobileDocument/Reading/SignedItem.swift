// SPDX-License-Identifier: Apache-2.0

import CBOR
import Crypto

/// One element, with random bytes so that its value cannot be guessed from its digest.
///
/// Spec: ISO/IEC 18013-5:2021, sections 8.3.2.1.2.2 (IssuerSignedItem) and 9.1.2.5.
struct SignedItem {
    let number: UInt64
    let identifier: CBORText
    let value: CBORValue
    /// The encoded item under its tag, as it is sent.
    let sent: CBORValue

    init(_ sent: CBORValue) throws(MobileDocumentFault) {
        guard let bytes = sent.encodedItem, let map = try MobileDocumentFault.reading(bytes).map,
            map.entries.count == 4, case .unsigned(let number)? = map["digestID"], let random = map["random"]?.bytes,
            let identifier = map["elementIdentifier"]?.text, let value = map["elementValue"]
        else { throw .item }
        guard random.count >= 16 else { throw .itemRandom }
        (self.number, self.identifier, self.value, self.sent) = (number, identifier, value, sent)
    }

    /// An element that the issuer will sign.
    ///
    /// - Parameter random: at least 16 unpredictable bytes.
    init(number: UInt64, random: [UInt8], identifier: CBORText, value: CBORValue) {
        let item = CBORValue.fields([
            "digestID": .unsigned(number), "random": .bytes(random), "elementIdentifier": .text(identifier),
            "elementValue": value,
        ])
        (self.number, self.identifier, self.value) = (number, identifier, value)
        sent = .encodedItem(item.encoded)
    }

    /// SHA-256 of the encoded item with its tag.
    var digest: [UInt8] { Array(SHA256.hash(data: sent.encoded)) }

    /// Requires that the issuer signed the item in this name space under its number.
    func checkDigest(in digests: [UInt64: [UInt8]]?) throws(MobileDocumentFault) {
        guard digests?[number] == digest else { throw .itemDigest }
    }
}

extension CBORValue {
    /// A map of literal keys. The caller writes different ones, so the map cannot fail.
    static func fields(_ entries: KeyValuePairs<CBORValue, CBORValue>) -> CBORValue {
        fields(of: entries.map { ($0.key, $0.value) })
    }

    /// A map of computed keys. The caller makes them different, so the map cannot fail.
    static func fields(of entries: [(CBORValue, CBORValue)]) -> CBORValue {
        .map((try? CBORMap(entries)) ?? CBORMap())
    }
}
