// SPDX-License-Identifier: Apache-2.0

import Crypto
import DIDKey
import JOSE
public import SelectiveDisclosure
public import StrictJSON

/// What a person writes on a card about themselves. They sign it themselves: nobody else confirms it.
///
/// It is for people who are met. Everybody who sees a card sees the key that signed it; a card for a site is signed by the key of
/// that site alone, so that two sites have nothing in common.
public struct BusinessCard: Hashable, Sendable {
    /// The `vct` of such cards.
    public static let type: JSONText = "urn:signet:business-card:1"
    /// The longest text, in bytes.
    public static let maximumByteCount = 200

    /// What a card may say; the raw values are the names of the claims.
    ///
    /// Spec: OpenID Connect Core 1.0, section 5.1, for the names that it has.
    public enum Field: String, CaseIterable, Hashable, Sendable {
        /// The whole name.
        case name
        /// For whom the person works.
        case organization
        /// What they do there.
        case title
        /// An address of mail.
        case email
        /// A telephone number.
        case telephone = "phone_number"
        /// An address of the web.
        case website
        /// Anything else.
        case note

        /// The name of the claim.
        public var claim: JSONText { JSONText(rawValue) }
    }

    /// What the card says.
    public let fields: [Field: String]

    /// A card.
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

    /// The card before it is signed, each field shown or kept back by itself.
    ///
    /// - Parameters:
    ///   - key: the P-256 key that signs the card and will show it, compressed, 33 bytes.
    ///   - expiry: when it ends, in seconds since 1970; the end of that day, so that it says less of when the card was made.
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

    /// The name of a key as an issuer; nil if it is none.
    private static func issuer(_ key: [UInt8]) -> JSONText? {
        (try? KeyDID(.p256, publicKey: key)).flatMap { JSONText(utf8: $0.encoded) }
    }

    /// Whether a card says that this key made it. That the key signed it is not checked.
    public static func isCard(_ card: HeldCredential, of key: [UInt8]) -> Bool {
        guard let issuer = issuer(key) else { return false }
        return card.payload["vct"] == .string(type) && card.payload["iss"] == .string(issuer)
    }

    /// The fields of a card as its holder keeps it, in their order.
    public static func fields(of card: HeldCredential) -> [(field: Field, text: String)] {
        let claims = card.disclosures.compactMap { shown in shown.name.map { ($0, shown.value) } }
        return fields(in: JSONObject(Dictionary(claims) { first, _ in first }))
    }

    /// The fields among claims, in their order; what is no text is passed over.
    public static func fields(in claims: JSONObject) -> [(field: Field, text: String)] {
        Field.allCases.compactMap { field in
            claims[field.claim]?.string.map { (field, $0.description) }
        }
    }
}

/// Why a card cannot be made so: a mistake of the caller.
public enum BusinessCardFault: Error, Hashable, Sendable {
    /// A card needs a name.
    case noName
    /// A text that is empty or too long.
    case length(BusinessCard.Field)
    /// A text with characters that are none to read.
    case control(BusinessCard.Field)
    /// No key of the curve P-256.
    case key
}

/// Times of credentials in whole days: a second would say which credentials were made together.
enum CredentialDay {
    static let seconds: Int64 = 86_400

    /// The first second after the day of a time.
    static func end(of time: Int64) -> Int64 {
        let (end, isTooLate) = start(of: time).addingReportingOverflow(seconds)
        return isTooLate ? time : end
    }

    static func start(of time: Int64) -> Int64 { time - ((time % seconds) + seconds) % seconds }
}
