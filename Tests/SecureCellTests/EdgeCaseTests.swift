// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import SecureCell

/// What the Themis library does with unusual input, and where the two readings part from it.
struct EdgeCaseTests {
    let golden: Golden

    init() throws { golden = try #require(Golden.all) }

    /// What Themis takes and the compatible reading refuses.
    static let refusedByChoice = [
        "type low byte 0x40", "peer public key: hybrid form 0x06/0x07", "public key: hybrid form 0x06/0x07",
        "private key = n", "private key zero",
    ]
    /// What the compatible reading takes and the strict one refuses.
    static let notCanonical = [
        "junk of 5 bytes between tag and body", "tag length 20, 4 junk bytes after the tag",
        "iv length 16, 4 junk bytes after the iv", "AES-128-GCM algorithm id", "AES-192-GCM algorithm id",
        "1 iteration", "10000 iterations", "8 byte salt", "empty salt", "64 byte salt",
        "junk between header and body", "token with trailing byte", "two bytes appended (historical)",
        "100 bytes appended", "junk inside the cell, length fixed up",
    ]

    @Test func theCompatibleReadingAgreesWithTheLibrary() throws {
        #expect(golden.edge_cases.count == 171)
        var refused: [String] = []
        for record in golden.edge_cases {
            let output = try? output(of: record, .compatible)
            if record.op != "valid_key", output == nil, record.accepted == true { refused.append(record.desc ?? "") }
            if record.accepted == false { #expect(output == nil, "\(record.op ?? ""): \(record.desc ?? "")") }
            if let output, !output.isEmpty { #expect(output == unbase64(record.output_b64), "\(record.desc ?? "")") }
        }
        #expect(refused.sorted() == Self.refusedByChoice.sorted())
    }

    @Test func theStrictReadingTakesOnlyWhatTheLibraryPrints() {
        var refused: [String] = []
        for record in golden.edge_cases where record.accepted == true {
            guard (try? output(of: record, .strict)) == nil else { continue }
            if !Self.refusedByChoice.contains(record.desc ?? "") { refused.append(record.desc ?? "") }
        }
        #expect(refused.sorted() == Self.notCanonical.sorted())
    }

    /// Empty where nothing can be compared.
    private func output(of record: Golden.Record, _ reading: ReadingMode) throws -> [UInt8] {
        let (key, context, message) = (record.key, record.context, unbase64(record.plaintext_b64))
        switch record.op {
        case "seal": _ = try Seal.seal(message, key: key, context: context)
        case "unseal": return try Seal.open(record.sealed, key: key, context: context, reading: reading)
        case "unseal_passphrase":
            return try PassphraseSeal.open(
                record.sealed, passphrase: record.passphrase.span, context: context, reading: reading)
        case "untoken":
            let parts = TokenProtect.Parts(
                token: unbase64(record.token_b64), ciphertext: unbase64(record.encrypted_b64))
            return try TokenProtect.open(parts, key: key, context: context, reading: reading)
        case "imprint": _ = try ContextImprint.imprint(message, key: key, context: context)
        case "unimprint":
            return try ContextImprint.restore(unbase64(record.encrypted_b64), key: key, context: context)
        case "valid_key": _ = try KeyContainer(decoding: unbase64(record.container_b64))
        case "verify":
            let signed = unbase64(record.signed_b64)
            let container = try KeyContainer(decoding: unbase64(record.public_b64))
            if case .rsaPublic = container.kind {
                return try SignedMessage.verify(signed, by: RSAPublicKey(container), reading: reading)
            }
            return try SignedMessage.verify(signed, by: ECPublicKey(container), reading: reading)
        case "sign": _ = try SignedMessage.sign(message, by: ecPrivate(record.private_b64))
        case "encrypt":
            _ = try EncryptedMessage.encrypt(
                message, from: ecPrivate(record.private_b64), to: ecPublic(record.public_b64))
        case "decrypt_own": _ = try ecPrivate(record.private_b64)
        default: return try decrypted(record, reading)
        }
        return []
    }

    private func decrypted(_ record: Golden.Record, _ reading: ReadingMode) throws -> [UInt8] {
        let encrypted = unbase64(record.encrypted_b64)
        let container = try KeyContainer(decoding: unbase64(record.private_b64))
        if case .rsaPrivate = container.kind {
            _ = try rsaPublic(record.public_b64)
            return try EncryptedMessage.decrypt(encrypted, by: RSAPrivateKey(container), reading: reading)
        }
        return try EncryptedMessage.decrypt(
            encrypted, by: ECPrivateKey(container), from: ecPublic(record.public_b64), reading: reading)
    }
}
