// SPDX-License-Identifier: Apache-2.0

import Crypto
import DIDKey
import JOSE
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
    }

    /// The text of each field that the card has.
    public let fields: [Field: String]

    /// A card with these fields.
    ///
    /// - Throws: ``BusinessCardFault``: a mistake of the caller.
    public init(_ fields: [Field: String]) throws(BusinessCardFault) {
        guard fields[.name] != nil else { throw .noName }
        for (field, text) in fields {
            guard (1...Self.maximumByteCount).contains(text.utf8.count) else { throw .length(field) }
            guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
                throw .control(field)
            }
        }
        self.fields = fields
    }

    /// The card before it is signed. Its holder can show or hide each field separately.
    ///
    /// - Parameters:
    ///   - key: the P-256 key that signs the card and will show it, compressed, 33 bytes.
    ///   - expiry: when the card expires, in seconds since 1970. The card states the end of that day, so that it does
    ///     not reveal the time at which it was made.
    /// - Throws: ``BusinessCardFault/key``: a mistake of the caller.
    public func draft(for key: [UInt8], until expiry: Int64) throws(BusinessCardFault) -> CredentialDraft {
        guard let issuer = Self.issuer(key), let point = try? P256.Signing.PublicKey(compressedRepresentation: key)
        else {
            throw .key
        }
        let open: JSONObject = [
            "iss": .string(issuer), "vct": .string(Self.type), "exp": .integer(CredentialDay.end(of: expiry)),
        ]
        let hidden = fields.map { ($0.key.claim, JSONValue.string(JSONText($0.value))) }
        return CredentialDraft(
            open: open, hidden: JSONObject(Dictionary(hidden) { first, _ in first }), holder: WebKey(point))
    }

    /// The name under which a key, compressed, 33 bytes, is an issuer; nil if the bytes are not a key.
    public static func issuer(_ key: [UInt8]) -> JSONText? {
        (try? KeyDID(.p256, publicKey: key)).flatMap { JSONText(utf8: $0.encoded) }
    }

    /// Whether a card names this key as its issuer. The signature is not checked.
    public static func isCard(_ card: HeldCredential, of key: [UInt8]) -> Bool {
        guard let issuer = issuer(key) else { return false }
        return card.payload["vct"] == .string(type) && card.payload["iss"] == .string(issuer)
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

    /// The fields of a card that its holder keeps, in the order of ``Field``.
    public static func fields(of card: HeldCredential) -> [(field: Field, text: String)] {
        let claims = card.disclosures.compactMap { shown in shown.name.map { ($0, shown.value) } }
        return fields(in: JSONObject(Dictionary(claims) { first, _ in first }))
    }

    /// The fields among some claims, in the order of ``Field``. A claim whose value is not a text is left out.
    public static func fields(in claims: JSONObject) -> [(field: Field, text: String)] {
        Field.allCases.compactMap { field in
            claims[field.claim]?.string.map { (field, $0.description) }
        }
    }
}

/// Why a card cannot be made of these fields: a mistake of the caller.
public enum BusinessCardFault: Error, Hashable, Sendable {
    /// The name is missing.
    case noName
    /// The text of this field is empty or too long.
    case length(BusinessCard.Field)
    /// The text of this field contains control characters.
    case control(BusinessCard.Field)
    /// The bytes are not a public key of the curve P-256.
    case key
}

/// The times in credentials, rounded to whole days: an exact second would reveal which credentials were made together.
enum CredentialDay {
    static let seconds: Int64 = 86_400

    /// The first second of the next day.
    static func end(of time: Int64) -> Int64 {
        let (end, isTooLate) = start(of: time).addingReportingOverflow(seconds)
        return isTooLate ? time : end
    }

    static func start(of time: Int64) -> Int64 { time - ((time % seconds) + seconds) % seconds }
}
