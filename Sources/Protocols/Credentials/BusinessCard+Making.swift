// SPDX-License-Identifier: Apache-2.0

import Crypto
import JOSE
public import SelectiveDisclosure
import StrictJSON

extension BusinessCard {
    /// A card with these fields.
    ///
    /// - Throws: ``BusinessCardFault``: a mistake of the caller.
    public init(_ fields: [Field: String]) throws(BusinessCardFault) {
        guard fields[.name] != nil else { throw .noName }
        for (field, text) in fields {
            guard (1...Self.maximumByteCount).contains(text.utf8.count) else { throw .length(field) }
            guard !text.unicodeScalars.contains(where: Self.isHiding) else { throw .control(field) }
        }
        self.fields = fields
    }

    /// Whether a character is not seen and can hide or turn around what is: control, format (but for the joiner of emoji), line and
    /// paragraph separator.
    private static func isHiding(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        case .format: scalar.value != 0x200D
        default: false
        }
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

    /// Whether a card names this key as its issuer. The signature is not checked.
    public static func isCard(_ card: HeldCredential, of key: [UInt8]) -> Bool {
        guard let issuer = issuer(key) else { return false }
        return card.payload["vct"] == .string(type) && card.payload["iss"] == .string(issuer)
    }

    /// The fields of a card that its holder keeps, in the order of ``Field``.
    public static func fields(of card: HeldCredential) -> [(field: Field, text: String)] {
        let claims = card.disclosures.compactMap { shown in shown.name.map { ($0, shown.value) } }
        return fields(in: JSONObject(Dictionary(claims) { first, _ in first }))
    }
}

/// Why a card cannot be made of these fields: a mistake of the caller.
public enum BusinessCardFault: Error, Hashable, Sendable {
    /// The name is missing.
    case noName
    /// The text of this field is empty or too long.
    case length(BusinessCard.Field)
    /// The text of this field contains control characters, or others that are not seen.
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
