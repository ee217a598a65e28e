// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Foundation
import Testing

/// The two suites of wraps, in an implementation that is not ours, on published vectors: `Vectors/hpke`.
struct HPKEVectorTests {
    struct Entry: Decodable {
        struct Encryption: Decodable { let aad, ct, pt: String }
        let kem_id, aead_id: Int
        let info, skRm, pkRm, enc: String
        let encryptions: [Encryption]
    }

    private func entry(kem: Int) throws -> Entry {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Vectors/hpke/hpke.json")
        let entries = try JSONDecoder().decode([Entry].self, from: Data(contentsOf: file))
        return try #require(entries.first { $0.kem_id == kem })
    }

    private func unhex(_ text: String) throws -> Data { Data(try Hex.decode(Array(text.utf8))) }

    private func opens(_ entry: Entry, _ recipient: HPKE.Recipient) throws {
        var recipient = recipient
        for encryption in entry.encryptions {
            let opened = try recipient.open(unhex(encryption.ct), authenticating: unhex(encryption.aad))
            #expect(opened == (try unhex(encryption.pt)))
        }
    }

    @Test func messagesToAP256KeyOpen() throws {
        let entry = try entry(kem: 0x0010)
        let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: unhex(entry.skRm))
        #expect(key.publicKey.x963Representation == (try unhex(entry.pkRm)))
        try opens(
            entry,
            HPKE.Recipient(
                privateKey: key, ciphersuite: .P256_SHA256_AES_GCM_256, info: unhex(entry.info),
                encapsulatedKey: unhex(entry.enc)))
    }

    @Test func messagesToAnXWingKeyOpen() throws {
        let entry = try entry(kem: 0x647A)
        let key = try XWingMLKEM768X25519.PrivateKey(seedRepresentation: unhex(entry.skRm), publicKey: nil)
        #expect(key.publicKey.rawRepresentation == (try unhex(entry.pkRm)))
        let suite = HPKE.Ciphersuite(kem: .XWingMLKEM768X25519, kdf: .HKDF_SHA256, aead: .chaChaPoly)
        try opens(
            entry,
            HPKE.Recipient(
                privateKey: key, ciphersuite: suite, info: unhex(entry.info), encapsulatedKey: unhex(entry.enc)))
    }
}
