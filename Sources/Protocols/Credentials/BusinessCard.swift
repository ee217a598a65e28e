// SPDX-License-Identifier: Apache-2.0

import Crypto
import DIDKey
public import SelectiveDisclosure
public import StrictJSON

/// What a person states about themselves on a card. They sign it themselves, and no one else confirms it.
///
/// A person shows it to people whom they meet: all who see the card see the key that signed it. A card for a site is
/// signed by a key for that site alone, so that two sites cannot find out that they know one person.
public struct BusinessCard: Hashable, Sendable {
    /// The type (`vct`) of business cards.
    public static let type: JSONText = "urn:signet:business-card:1"
    /// The longest text, in bytes.
    public static let maximumByteCount = 200

    /// The fields that a card may have. The raw values are the names of the claims.
    ///
    /// Spec: OpenID Connect Core 1.0, section 5.1, for the names that it defines.
    public enum Field: String, CaseIterable, Hashable, Sendable {
        /// The person's full name.
        case name
        /// The organization that the person works for.
        case organization
        /// The person's job title.
        case title
        /// An email address.
        case email
        /// A telephone number.
        case telephone = "phone_number"
        /// The address of a website.
        case website
        /// Anything else.
        case note

        /// The name of the claim.
        public var claim: JSONText { JSONText(rawValue) }

        /// The field's name on a page and on the command line.
        public var words: String {
            switch self {
            case .telephone: "phone"
            default: rawValue
            }
        }
    }

    /// The text of each field that the card has.
    public let fields: [Field: String]

    /// The name under which a key, compressed, 33 bytes, is an issuer; nil if the bytes are not a key.
    public static func issuer(_ key: [UInt8]) -> JSONText? {
        (try? KeyDID(.p256, publicKey: key)).flatMap { JSONText(utf8: $0.encoded) }
    }

    /// Judges a card that somebody shows whose identity key is known.
    ///
    /// - Parameters:
    ///   - key: P-256, compressed, 33 bytes.
    ///   - now: seconds since 1970.
    /// - Returns: nil if the card is a good one of another key.
    /// - Throws: `PresentationFault`, the first check that fails.
    public static func shown(
        _ text: [UInt8], by key: [UInt8], at now: Int64
    ) throws(PresentationFault) -> VerifiedPresentation? {
        let trust = IssuerTrust(acceptsSelfIssued: true)
        let shown = try ShownCard.verify(text, types: [type], trusting: trust, at: now)
        guard case .holder(let name) = shown.issuer, name == issuer(key) else { return nil }
        return shown
    }

    /// The fields among some claims, in the order of ``Field``. A claim whose value is not a text is left out.
    public static func fields(in claims: JSONObject) -> [(field: Field, text: String)] {
        Field.allCases.compactMap { field in
            claims[field.claim]?.string.map { (field, $0.description) }
        }
    }
}
