// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import Testing

@testable import SecureCell

/// Messages and keys that the Themis library made.
struct GoldenMessageTests {
    let golden: Golden

    init() throws { golden = try #require(Golden.all) }

    @Test func everyContainerIsReadAndPrintedAgain() throws {
        for record in golden.ec_keys + golden.rsa_keys + golden.extra_keys {
            for field in [record.private_b64, record.public_b64] {
                let container = try KeyContainer(decoding: unbase64(field))
                container.withEncoded { #expect($0 == unbase64(field)) }
            }
        }
    }

    @Test func everyPrivateKeyHasItsPublicKey() throws {
        for record in golden.ec_keys + golden.extra_keys.prefix(3) {
            let secret = try ecPrivate(record.private_b64)
            #expect(try secret.publicKey.compressed == ecPublic(record.public_b64).compressed)
            secret.container.withEncoded {
                #expect($0.count == unbase64(record.private_b64).count || record.id == "p256ng")
            }
            #expect(try ECPrivateKey(secret.container).publicKey.compressed == secret.publicKey.compressed)
            #expect(try ECPublicKey(secret.publicKey.container).compressed == secret.publicKey.compressed)
        }
        for record in golden.rsa_keys + golden.extra_keys.filter({ $0.id == "rsa4096" }) {
            #expect(try rsaPrivate(record.private_b64).publicKey == rsaPublic(record.public_b64))
        }
    }

    @Test(arguments: ReadingMode.allCases)
    func everySignedMessageVerifies(reading: ReadingMode) throws {
        #expect(golden.message_sign.count == 28)
        for record in golden.message_sign where record.signer != "rsa1024" {
            let key = golden.key(record.signer)?.public_b64
            let signed = unbase64(record.signed_b64)
            let isRSA = record.signer?.hasPrefix("rsa") ?? false
            let message =
                isRSA
                ? try SignedMessage.verify(signed, by: rsaPublic(key), reading: reading)
                : try SignedMessage.verify(signed, by: ecPublic(key), reading: reading)
            #expect(message == record.message, "\(record.id ?? "")")
        }
    }

    @Test(arguments: ReadingMode.allCases)
    func everyEncryptedMessageOpens(reading: ReadingMode) throws {
        #expect(golden.message_encrypt.count == 27)
        for record in golden.message_encrypt where record.sender != "rsa1024" {
            let recipient = golden.key(record.recipient)?.private_b64
            let encrypted = unbase64(record.encrypted_b64)
            if record.sender?.hasPrefix("rsa") ?? false {
                let opened = try EncryptedMessage.decrypt(encrypted, by: rsaPrivate(recipient), reading: reading)
                #expect(opened == record.message, "\(record.id ?? "")")
            } else {
                let sender = try ecPublic(golden.key(record.sender)?.public_b64)
                let opened = try EncryptedMessage.decrypt(
                    encrypted, by: ecPrivate(recipient), from: sender, reading: reading)
                #expect(opened == record.message, "\(record.id ?? "")")
            }
        }
    }

    @Test func everyCurveMessageIsMadeAgainByteForByte() throws {
        for record in golden.message_encrypt where !(record.sender?.hasPrefix("rsa") ?? false) {
            let sender = try ecPrivate(golden.key(record.sender)?.private_b64)
            let recipient = try ecPublic(golden.key(record.recipient)?.public_b64)
            let encrypted = unbase64(record.encrypted_b64)
            let again = try EncryptedMessage.encrypt(
                record.message, from: sender, to: recipient, iv: Array(encrypted[24..<36]))
            #expect(again == encrypted)
        }
    }

    @Test func everySharedNoteOpens() throws {
        for record in golden.shared_notes {
            let key = try EncryptedMessage.decrypt(
                unbase64(record.wrapped_key_b64), by: ecPrivate(golden.key(record.recipient)?.private_b64),
                from: ecPublic(golden.key(record.sender)?.public_b64))
            #expect(key == unbase64(record.key_b64))
            let note = try Seal.open(unbase64(record.sealed_note_b64), key: SymmetricKey(data: key))
            #expect(note == bytes(record.note_utf8 ?? ""))
        }
    }

    @Test func aSmallRSAKeyIsReadAndNotUsed() throws {
        let record = try #require(golden.key("rsa1024"))
        #expect(throws: KeyError.modulusTooSmall) { try rsaPublic(record.public_b64) }
        #expect(throws: KeyError.modulusTooSmall) { try rsaPrivate(record.private_b64) }
    }

    @Test func ourSignedAndEncryptedMessagesOpen() throws {
        for name in ["ec0", "p384", "p521"] {
            let secret = try ecPrivate(golden.key(name)?.private_b64)
            let signed = try SignedMessage.sign([1, 2, 3], by: secret)
            #expect(try SignedMessage.verify(signed, by: secret.publicKey) == [1, 2, 3])
            let encrypted = try EncryptedMessage.encrypt([1, 2, 3], from: secret, to: secret.publicKey)
            #expect(try EncryptedMessage.decrypt(encrypted, by: secret, from: secret.publicKey) == [1, 2, 3])
        }
        let (alice, bob) = (try ECPrivateKey.generate(), try ECPrivateKey.generate())
        let encrypted = try EncryptedMessage.encrypt([7], from: alice, to: bob.publicKey)
        #expect(try EncryptedMessage.decrypt(encrypted, by: bob, from: alice.publicKey) == [7])
    }

    /// swift-crypto signs with salts of 32 bytes; ours must agree with an implementation that is not Themis either.
    @Test(arguments: [2048, 4096])
    func signaturesOfAnotherImplementationVerify(bits: Int) throws {
        let secret = try _RSA.Signing.PrivateKey(keySize: .init(bitCount: bits))
        let numbers = try secret.publicKey.getKeyPrimitives()
        let key = try RSAPublicKey(modulus: Array(numbers.modulus)[...], exponent: [0, 1, 0, 1])
        for message in [[1], [UInt8](repeating: 7, count: 300)] as [[UInt8]] {
            let signature = Array(
                try secret.signature(for: SHA256.hash(data: message), padding: .PSS).rawRepresentation)
            #expect(PSS.isValid(signature[...], over: message[...], by: key))
            #expect(!PSS.isValid(signature[...], over: message + [0], by: key))
            var other = signature
            other[bits / 16] ^= 1
            #expect(!PSS.isValid(other[...], over: message[...], by: key))
        }
    }
}
