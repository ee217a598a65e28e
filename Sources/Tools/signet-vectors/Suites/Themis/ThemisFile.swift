// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import SecureCell

/// The sections of the schema; a file may lack some.
struct ThemisFile: Decodable {
    struct Meta: Decodable { let format: String }

    let meta: Meta
    let ec_keys, rsa_keys, extra_keys: [ThemisRecord]?
    let cell_seal_key, cell_seal_passphrase, cell_token_protect, cell_context_imprint: [ThemisRecord]?
    let message_sign, message_encrypt, shared_notes, seed_app_posts, edge_cases: [ThemisRecord]?

    var keyRecords: [ThemisRecord] { (ec_keys ?? []) + (rsa_keys ?? []) + (extra_keys ?? []) }

    var keysByName: [String: ThemisRecord] {
        Dictionary(keyRecords.compactMap { record in record.id.map { ($0, record) } }) { first, _ in first }
    }

    var recordCount: Int {
        [
            ec_keys, rsa_keys, extra_keys, cell_seal_key, cell_seal_passphrase, cell_token_protect,
            cell_context_imprint, message_sign, message_encrypt, shared_notes, seed_app_posts, edge_cases,
        ].reduce(0) { $0 + ($1?.count ?? 0) }
    }
}

/// A record of any section; each has some of the fields.
struct ThemisRecord: Decodable {
    let id, op, desc, status, signer, sender, recipient, kind: String?
    let accepted: Bool?
    let key_b64, context_b64, sealed_b64, token_b64, encrypted_b64, signed_b64, output_b64, container_b64: Base64Field?
    let private_b64, public_b64, wrapped_key_b64, sealed_note_b64, plaintext_b64: Base64Field?
    let scalar_hex, x963_hex, shared_secret_hex, encrypted_sha256: HexField?
    let passphrase_utf8, key_utf8, plaintext_utf8, note_utf8, body_field: String?
    let iterations: UInt32?
    let plaintext: ThemisPlaintext?

    var context: [UInt8] { context_b64?.bytes ?? [] }
    var key: SymmetricKey { SymmetricKey(data: key_b64?.bytes ?? []) }
    var passphrase: [UInt8] { Array((passphrase_utf8 ?? "").utf8) }
}

/// A message, or of a long one its length and hash.
struct ThemisPlaintext: Decodable {
    let len: Int
    let sha256: HexField
    let b64: Base64Field?

    func isSame(_ bytes: [UInt8]) -> Bool {
        bytes.count == len && Array(SHA256.hash(data: bytes)) == sha256.bytes && (b64.map { $0.bytes == bytes } ?? true)
    }
}

/// A field of canonical base64.
struct Base64Field: Decodable {
    let bytes: [UInt8]

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            bytes = try Base64.decode(Array(try container.decode(String.self).utf8))
        } catch is CanonicalCodingError {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not base64")
        }
    }
}
