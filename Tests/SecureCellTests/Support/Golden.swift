// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Foundation
import SecureCell

/// The records of `Vectors/themis/themis.json`, made by the Themis library.
struct Golden: Decodable {
    let ec_keys, rsa_keys, extra_keys: [Record]
    let cell_seal_key, cell_seal_passphrase, cell_token_protect, cell_context_imprint: [Record]
    let message_sign, message_encrypt, shared_notes, seed_app_posts, edge_cases: [Record]

    struct Plaintext: Decodable { let b64: String }

    struct Record: Decodable {
        let id, op, desc, signer, sender, recipient: String?
        let accepted: Bool?
        let key_b64, context_b64, sealed_b64, token_b64, encrypted_b64, signed_b64, output_b64, container_b64: String?
        let private_b64, public_b64, wrapped_key_b64, sealed_note_b64, plaintext_b64, key_utf8: String?
        let passphrase_utf8, plaintext_utf8, note_utf8, body_field: String?
        let scalar_hex, shared_secret_hex, derived_key_hex: String?
        let iterations: UInt32?
        let plaintext: Plaintext?

        var key: SymmetricKey { SymmetricKey(data: unbase64(key_b64)) }
        var context: [UInt8] { unbase64(context_b64) }
        var sealed: [UInt8] { unbase64(sealed_b64) }
        var message: [UInt8] { unbase64(plaintext?.b64) }
        var passphrase: [UInt8] { Array((passphrase_utf8 ?? "").utf8) }
    }

    static let all: Golden? = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Vectors/themis/themis.json")
        guard let bytes = try? Data(contentsOf: file) else { return nil }
        return try? JSONDecoder().decode(Golden.self, from: bytes)
    }()

    func key(_ name: String?) -> Record? { (ec_keys + rsa_keys + extra_keys).first { $0.id == name } }

    /// The edge case with this description.
    func edge(_ op: String, _ desc: String) -> Record? { edge_cases.first { $0.op == op && $0.desc == desc } }
}

func unbase64(_ text: String?) -> [UInt8] { (try? Base64.decode(Array((text ?? "").utf8))) ?? [] }
func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
func bytes(_ key: SymmetricKey) -> [UInt8] { key.withUnsafeBytes { Array($0) } }

func ecPrivate(_ field: String?) throws -> ECPrivateKey {
    try ECPrivateKey(KeyContainer(decoding: unbase64(field)))
}
func ecPublic(_ field: String?) throws -> ECPublicKey { try ECPublicKey(KeyContainer(decoding: unbase64(field))) }
func rsaPrivate(_ field: String?) throws -> RSAPrivateKey {
    try RSAPrivateKey(KeyContainer(decoding: unbase64(field)))
}
func rsaPublic(_ field: String?) throws -> RSAPublicKey { try RSAPublicKey(KeyContainer(decoding: unbase64(field))) }
