// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
public import SelectiveDisclosure
public import StrictJSON

/// A business card as the wallet of a telephone shows it.
///
/// The signature of a pass is its signer's, who has not seen the card, so the pass says where the words come from: from its holder. Its code is a copy
/// of the card that the holder signed, without a signature of the moment: anyone who has seen the code can show it.
///
/// Spec: Apple, "Pass" and "Pass.Barcodes" (Wallet Passes).
public struct WalletCard: Sendable {
    /// What the pass says about itself, on its front and on its back.
    static let label = "Made by its holder"
    static let explanation = """
        The person who carries this card wrote what is on it. The signature of this pass comes from a service that has not seen it. \
        'signet card verify --copy' checks the code: it shows the key that signed the card, and not that the person before you has \
        that key.
        """

    private let lines: [(field: BusinessCard.Field, text: String)]
    /// The code: the card with the chosen lines.
    public let copy: [UInt8]

    /// A card with some of its lines.
    public init(_ card: HeldCredential, showing fields: Set<BusinessCard.Field>) {
        lines = BusinessCard.fields(of: card).filter { fields.contains($0.field) }
        let names = Set(fields.map(\.claim))
        copy = card.copied(disclosing: { $0.name.map(names.contains) ?? false })
    }

    /// What `pass.json` says.
    ///
    /// - Parameters:
    ///   - type, team: of the signer's certificate.
    ///   - serial: random bytes, by which no one finds another card of the same person.
    public func pass(type: [UInt8], team: [UInt8], serial: [UInt8]) -> JSONObject {
        let barcode: JSONObject = [
            "format": .string("PKBarcodeFormatQR"), "message": Self.text(copy),
            "messageEncoding": .string("iso-8859-1"),
        ]
        return [
            "formatVersion": .integer(1), "passTypeIdentifier": Self.text(type), "teamIdentifier": Self.text(team),
            "serialNumber": Self.text(Hex.encode(serial)), "organizationName": Self.text(Self.label),
            "description": Self.text("Business card. \(Self.label)."), "sharingProhibited": .bool(true),
            "generic": .object([
                "headerFields": .array([Self.field("source", "", Self.label)]),
                "primaryFields": fields([.name]), "secondaryFields": fields([.title, .organization]),
                "backFields": .array(
                    (fields([.email, .telephone, .website, .note]).array ?? [])
                        + [Self.field("about", "About this card", Self.explanation)]),
            ]), "barcodes": .array([.object(barcode)]),
        ]
    }

    private func fields(_ wanted: [BusinessCard.Field]) -> JSONValue {
        .array(
            lines.filter { wanted.contains($0.field) }.map { Self.field($0.field.rawValue, $0.field.rawValue, $0.text) }
        )
    }

    private static func field(_ key: String, _ label: String, _ value: String) -> JSONValue {
        .object(["key": text(key), "label": text(label), "value": text(value)])
    }

    private static func text(_ text: String) -> JSONValue { .string(JSONText(text)) }

    private static func text(_ bytes: [UInt8]) -> JSONValue { text(String(decoding: bytes, as: UTF8.self)) }
}
