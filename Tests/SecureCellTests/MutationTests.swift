// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import SeededRandomness
import Testing

@testable import SecureCell

/// Every byte of every golden record changed, and seeded damage of every parser: no trap, nothing altered accepted.
struct MutationTests {
    let golden: Golden

    init() throws { golden = try #require(Golden.all) }

    /// Calls `read` with `bytes` once for each byte, that byte changed; it may give back only the message.
    private func change(
        _ bytes: [UInt8], _ message: [UInt8], seed: UInt64, in range: Range<Int>? = nil,
        _ read: ([UInt8]) throws -> [UInt8]
    ) {
        var generator = SeededGenerator(seed: seed)
        for index in range ?? bytes.indices {
            var mutant = bytes
            mutant[index] ^= UInt8.random(in: 1...255, using: &generator)
            guard let read = try? read(mutant) else { continue }
            #expect(read == message, "byte \(index)")
        }
    }

    @Test func mutatedSealCellsAreRefused() {
        for record in golden.cell_seal_key {
            for reading in ReadingMode.allCases {
                change(record.sealed, record.message, seed: 1) {
                    let read = try Seal.open($0, key: record.key, context: record.context, reading: reading)
                    Issue.record("a changed cell opened")
                    return read
                }
            }
        }
    }

    @Test func mutatedTokenCellsAreRefused() {
        for record in golden.cell_token_protect {
            let (token, ciphertext) = (unbase64(record.token_b64), unbase64(record.encrypted_b64))
            change(token + ciphertext, record.message, seed: 2) {
                let parts = TokenProtect.Parts(
                    token: Array($0.prefix(token.count)), ciphertext: Array($0.dropFirst(token.count)))
                let read = try TokenProtect.open(parts, key: record.key, context: record.context)
                Issue.record("a changed token opened")
                return read
            }
        }
    }

    /// With the stretched passphrase at hand, so that only the bytes that change it cost a stretching: those are
    /// tried on one record.
    @Test func mutatedPassphraseCellsAreRefused() throws {
        for (number, record) in golden.cell_seal_passphrase.enumerated() {
            let (header, _) = try CellHeader.split(record.sealed, .passphrase, .strict)
            let master = try #require(header.parameters).masterKey(from: record.passphrase.span)
            let open: ([UInt8]) throws -> [UInt8] = { bytes in
                let (header, ciphertext) = try CellHeader.split(bytes, .passphrase, .strict)
                return try CellCipher.open(header, ciphertext, masterKey: master, context: record.context)
            }
            #expect(try open(record.sealed) == record.message)
            for range in [0..<48, 70..<record.sealed.count] {
                change(record.sealed, record.message, seed: 3, in: range) {
                    let read = try open($0)
                    Issue.record("a changed cell opened")
                    return read
                }
            }
            guard number == 0 else { continue }
            change(record.sealed, record.message, seed: 4, in: 48..<70) {
                let read = try PassphraseSeal.open($0, passphrase: record.passphrase.span, context: record.context)
                Issue.record("a changed cell opened")
                return read
            }
        }
    }

    @Test func mutatedSignedMessagesAreRefused() throws {
        for record in golden.message_sign where record.message.count < 300 && record.signer != "rsa1024" {
            let key = golden.key(record.signer)?.public_b64
            let container = try KeyContainer(decoding: unbase64(key))
            let (ec, rsa) = (try? ECPublicKey(container), try? RSAPublicKey(container))
            change(unbase64(record.signed_b64), record.message, seed: 5) {
                let read =
                    if let ec {
                        try SignedMessage.verify($0, by: ec)
                    } else {
                        try SignedMessage.verify($0, by: #require(rsa))
                    }
                Issue.record("a changed message verified")
                return read
            }
        }
    }

    @Test func mutatedEncryptedMessagesAreRefused() throws {
        for record in golden.message_encrypt where record.message.count < 300 && record.sender != "rsa1024" {
            let secret = try KeyContainer(decoding: unbase64(golden.key(record.recipient)?.private_b64))
            let peer = try KeyContainer(decoding: unbase64(golden.key(record.sender)?.public_b64))
            let (ec, sender) = (try? ECPrivateKey(secret), try? ECPublicKey(peer))
            let rsa = try? RSAPrivateKey(secret)
            change(unbase64(record.encrypted_b64), record.message, seed: 6) {
                let read =
                    if let ec, let sender {
                        try EncryptedMessage.decrypt($0, by: ec, from: sender)
                    } else {
                        try EncryptedMessage.decrypt($0, by: #require(rsa))
                    }
                Issue.record("a changed message opened")
                return read
            }
        }
    }

    @Test func mutatedKeyContainersAreRefused() throws {
        for record in golden.ec_keys + golden.rsa_keys + golden.extra_keys {
            for field in [record.private_b64, record.public_b64] {
                change(unbase64(field), [], seed: 7) {
                    let container = try KeyContainer(decoding: $0)
                    Issue.record("a changed container was read")
                    return container.withEncoded { $0 }
                }
            }
        }
    }

    @Test func seededDamageNeverTrapsAParser() throws {
        let record = golden.cell_seal_key[6]
        let secret = try ecPrivate(golden.ec_keys[0].private_b64)
        let signed = try SignedMessage.sign(Array(repeating: 7, count: 40), by: secret)
        let container = unbase64(golden.ec_keys[0].public_b64)
        let text = bytes(golden.seed_app_posts[0].body_field ?? "")
        let encrypted = try EncryptedMessage.encrypt([1, 2, 3], from: secret, to: secret.publicKey)
        var generator = SeededGenerator(seed: 8)
        for round in 0..<20_000 {
            let reading: ReadingMode = round.isMultiple(of: 2) ? .strict : .compatible
            let cell = generator.mutant(of: record.sealed)
            if let read = try? Seal.open(cell, key: record.key, context: record.context, reading: reading) {
                #expect(read == record.message)
            }
            let parts = TokenProtect.Parts(token: generator.mutant(of: Array(cell.prefix(44))), ciphertext: cell)
            _ = try? TokenProtect.open(parts, key: record.key, reading: reading)
            _ = try? CellHeader.split(generator.mutant(of: golden.cell_seal_passphrase[0].sealed), .passphrase, reading)
            _ = try? EncryptedMessage.decrypt(
                generator.mutant(of: encrypted), by: secret, from: secret.publicKey, reading: reading)
            if let read = try? KeyContainer(decoding: generator.mutant(of: container)) {
                read.withEncoded { #expect($0 == container) }
            }
            let spelling = generator.mutant(of: text)
            if let read = try? PercentBase64.decode(spelling) { #expect(PercentBase64.encode(read) == spelling) }
            _ = try? PercentBase64.decode(spelling, reading: .compatible)
            if round < 2000,
                let read = try? SignedMessage.verify(
                    generator.mutant(of: signed), by: secret.publicKey, reading: reading)
            {
                #expect(read == [UInt8](repeating: 7, count: 40))
            }
        }
    }
}
