// SPDX-License-Identifier: Apache-2.0

import Crypto
import SeededRandomness
import Testing

@testable import SecureCell

/// Cells that the Themis library made: they open, and the same input makes the same bytes.
struct GoldenCellTests {
    let golden: Golden

    init() throws { golden = try #require(Golden.all) }

    @Test(arguments: ReadingMode.allCases)
    func everySealedCellOpensAndIsMadeAgainByteForByte(reading: ReadingMode) throws {
        #expect(golden.cell_seal_key.count == 43)
        for record in golden.cell_seal_key {
            let opened = try Seal.open(record.sealed, key: record.key, context: record.context, reading: reading)
            #expect(opened == record.message, "\(record.id ?? "")")
            let iv = Array(record.sealed[16..<28])
            #expect(try Seal.seal(opened, key: record.key, context: record.context, iv: iv) == record.sealed)
        }
    }

    @Test func theDerivedKeyIsTheOneThatTheLibraryReports() throws {
        for record in golden.cell_seal_key {
            let key = try SoterKDF.messageKey(
                from: record.key, length: UInt32(record.message.count), context: record.context, byteCount: 32)
            #expect(
                bytes(key).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                    == record.derived_key_hex)
        }
    }

    @Test func everyPassphraseCellOpensAndIsMadeAgainByteForByte() throws {
        #expect(golden.cell_seal_passphrase.count == 14)
        for record in golden.cell_seal_passphrase {
            let opened = try PassphraseSeal.open(
                record.sealed, passphrase: record.passphrase.span, context: record.context)
            #expect(opened == record.message, "\(record.id ?? "")")
            let again = try PassphraseSeal.seal(
                opened, passphrase: record.passphrase.span, context: record.context,
                iterations: #require(record.iterations), iv: Array(record.sealed[20..<32]),
                salt: Array(record.sealed[54..<70]))
            #expect(again == record.sealed)
        }
    }

    @Test(arguments: ReadingMode.allCases)
    func everyTokenOpensAndIsMadeAgainByteForByte(reading: ReadingMode) throws {
        #expect(golden.cell_token_protect.count == 7)
        for record in golden.cell_token_protect {
            let parts = TokenProtect.Parts(
                token: unbase64(record.token_b64), ciphertext: unbase64(record.encrypted_b64))
            let opened = try TokenProtect.open(parts, key: record.key, context: record.context, reading: reading)
            #expect(opened == record.message)
            let iv = Array(parts.token[16..<28])
            #expect(try TokenProtect.protect(opened, key: record.key, context: record.context, iv: iv) == parts)
        }
    }

    @Test func everyImprintIsMadeAndRestored() throws {
        #expect(golden.cell_context_imprint.count == 7)
        for record in golden.cell_context_imprint {
            let imprint = unbase64(record.encrypted_b64)
            #expect(try ContextImprint.imprint(record.message, key: record.key, context: record.context) == imprint)
            #expect(try ContextImprint.restore(imprint, key: record.key, context: record.context) == record.message)
        }
    }

    @Test(arguments: ReadingMode.allCases)
    func thePostsOfTheSeedsAppOpenWithAPublicKey(reading: ReadingMode) throws {
        #expect(golden.seed_app_posts.count == 4)
        for record in golden.seed_app_posts {
            let text = bytes(record.body_field ?? "")
            let cell = try PercentBase64.decode(text, reading: reading)
            #expect(PercentBase64.encode(cell) == text)
            let key = SymmetricKey(data: bytes(record.key_utf8 ?? ""))
            #expect(try Seal.open(cell, key: key, reading: reading) == bytes(record.plaintext_utf8 ?? ""))
        }
    }

    @Test func ourSealedCellsOpen() throws {
        var generator = SeededGenerator(seed: 1)
        for count in [1, 2, 15, 16, 17, 1000, 70_000] {
            let (message, context) = (generator.bytes(count), generator.bytes(count % 7))
            let key = SymmetricKey(data: generator.bytes(1 + count % 100))
            let cell = try Seal.seal(message, key: key, context: context)
            #expect(cell.count == count + Seal.overhead)
            #expect(try Seal.open(cell, key: key, context: context) == message)
            #expect(try Seal.seal(message, key: key, context: context) != cell)
            let parts = try TokenProtect.protect(message, key: key, context: context)
            #expect(try TokenProtect.open(parts, key: key, context: context) == message)
            #expect(try Seal.open(parts.token + parts.ciphertext, key: key, context: context) == message)
        }
        let (message, passphrase) = (generator.bytes(50), bytes("correct horse"))
        let cell = try PassphraseSeal.seal(message, passphrase: passphrase.span, iterations: 100_000)
        #expect(cell.count == 50 + PassphraseSeal.overhead)
        #expect(try PassphraseSeal.open(cell, passphrase: passphrase.span) == message)
    }
}
