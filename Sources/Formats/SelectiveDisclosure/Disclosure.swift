// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import JOSE
public import StrictJSON

/// One disclosure: a salt, and the claim or array element that it hides.
///
/// Spec: RFC 9901, sections 4.2.1 and 4.2.2.
public struct Disclosure: Hashable, Sendable {
    /// The text as sent: base64url of a JSON array. The digest is over these bytes, so no other spelling is equal.
    public let text: [UInt8]
    /// What makes the digest unguessable: chosen by the issuer, and the same wherever the disclosure is shown.
    public let salt: JSONText
    /// The claim's name; nil for an element of an array.
    public let name: JSONText?
    /// What is disclosed. It may hold digests of further disclosures.
    public let value: JSONValue

    /// Reads a disclosure.
    ///
    /// - Throws: ``PresentationFault/disclosureEncoding``, a fault of the JSON, or ``PresentationFault/disclosureForm``.
    public init(decoding text: [UInt8]) throws(PresentationFault) {
        let bytes: [UInt8]
        do { bytes = try Base64URL.decode(text) } catch { throw .disclosureEncoding }
        let parts: [JSONValue]?
        do { parts = try JSONValue(decoding: bytes).array } catch { throw PresentationFault(error) }
        guard let parts, parts.count == 2 || parts.count == 3, let salt = parts[0].string, let value = parts.last else {
            throw .disclosureForm
        }
        name = parts.count == 3 ? parts[1].string : nil
        guard parts.count == 2 || name != nil else { throw .disclosureForm }
        self.text = text
        self.salt = salt
        self.value = value
    }

    /// A disclosure under a salt of the caller's.
    init(salt: [UInt8], name: JSONText?, value: JSONValue) {
        self.salt = JSONText(String(decoding: Base64URL.encode(salt), as: UTF8.self))
        let parts = [.string(self.salt)] + (name.map { [.string($0)] } ?? []) + [value]
        text = Base64URL.encode(JSONValue.array(parts).encoded)
        self.name = name
        self.value = value
    }

    /// base64url of the SHA-256 of the text: what the issuer signed in its place, 43 characters.
    ///
    /// Spec: RFC 9901, section 4.2.3.
    public var digest: JSONText {
        JSONText(String(decoding: Base64URL.encode(Array(SHA256.hash(data: text))), as: UTF8.self))
    }
}
