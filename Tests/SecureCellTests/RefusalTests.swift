// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import Testing

@testable import SecureCell

/// Each refusal by its own case, with everything else in order.
struct RefusalTests {
    let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
    let cell: [UInt8]
    let golden: Golden

    init() throws {
        cell = try Seal.seal([1, 2, 3, 4], key: key, context: [9])
        golden = try #require(Golden.all)
    }

    private func changed(_ offset: Int, _ value: UInt8) -> [UInt8] {
        var other = cell
        other[offset] = value
        return other
    }

    @Test func cells_areRefusedByTheirFirstFault() {
        let faults: [([UInt8], CellPart)] = [
            (changed(0, 0x80), .algorithm), (changed(3, 0x41), .algorithm), (changed(1, 0x11), .algorithm),
            (changed(4, 13), .iv), (changed(4, 11), .iv), (changed(8, 17), .tag), (changed(8, 12), .tag),
            (changed(12, 49), .messageLength), (changed(12, 0), .messageLength), (changed(15, 0xFF), .messageLength),
            (Array(cell.prefix(44)), .tag), (Array(cell.prefix(16)), .messageLength), ([], .messageLength),
            (changed(12, 3), .surplus),
            (Array(cell[..<44]) + [0] + cell[44...], .surplus),
        ]
        for (bytes, part) in faults {
            #expect(throws: CellError.malformed(part)) { try Seal.open(bytes, key: key, context: [9]) }
        }
    }

    @Test func seal_refusesAnotherKeyContextOrByte() {
        let other = SymmetricKey(size: .bits256)
        #expect(throws: CellError.notAuthentic) { try Seal.open(cell, key: other, context: [9]) }
        #expect(throws: CellError.notAuthentic) { try Seal.open(cell, key: key, context: [8]) }
        #expect(throws: CellError.notAuthentic) { try Seal.open(cell, key: key) }
        #expect(throws: CellError.notAuthentic) { try Seal.open(changed(47, cell[47] ^ 1), key: key, context: [9]) }
    }

    @Test func seal_refusesEmptyInput() {
        let none = SymmetricKey(data: [UInt8]())
        #expect(throws: CellError.emptyPlaintext) { try Seal.seal([], key: key) }
        #expect(throws: CellError.emptyKey) { try Seal.seal([1], key: none) }
        #expect(throws: CellError.emptyKey) { try Seal.open(cell, key: none, context: [9]) }
        #expect(throws: CellError.emptyContext) { try ContextImprint.imprint([1], key: key, context: []) }
        #expect(throws: CellError.emptyKey) { try ContextImprint.imprint([1], key: none, context: [1]) }
        #expect(throws: CellError.emptyPlaintext) { try ContextImprint.imprint([], key: key, context: [1]) }
    }

    @Test func passphrase_boundsTheWorkBeforeItIsDone() throws {
        let passphrase = bytes("word")
        func cell(_ iterations: UInt32, saltCount: Int = 16) throws -> [UInt8] {
            try PassphraseSeal.seal(
                [1], passphrase: passphrase.span, context: [], iterations: min(iterations, 2),
                iv: [UInt8](repeating: 0, count: 12), salt: [UInt8](repeating: 0, count: saltCount))
        }
        func asking(_ iterations: UInt32) throws -> [UInt8] {
            var bytes = try cell(2)
            for index in 0..<4 { bytes[48 + index] = UInt8(truncatingIfNeeded: iterations >> UInt32(8 * index)) }
            return bytes
        }
        for iterations in [0, 5_000_001, .max] as [UInt32] {
            for reading in ReadingMode.allCases {
                #expect(throws: CellError.iterationsOutOfBounds(iterations)) {
                    try PassphraseSeal.open(asking(iterations), passphrase: passphrase.span, reading: reading)
                }
            }
        }
        #expect(throws: CellError.iterationsOutOfBounds(99_999)) {
            try PassphraseSeal.open(asking(99_999), passphrase: passphrase.span)
        }
        #expect(try PassphraseSeal.open(cell(2), passphrase: passphrase.span, reading: .compatible) == [1])
        #expect(throws: CellError.malformed(.passphraseParameters)) {
            try PassphraseSeal.open(cell(2, saltCount: 8), passphrase: passphrase.span)
        }
        #expect(throws: CellError.iterationsOutOfBounds(99_999)) {
            try PassphraseSeal.seal([1], passphrase: passphrase.span, iterations: 99_999)
        }
        #expect(throws: CellError.emptyKey) { try PassphraseSeal.seal([1], passphrase: [UInt8]().span) }
        #expect(throws: CellError.emptyKey) {
            try PassphraseSeal.open(cell(2), passphrase: [UInt8]().span, reading: .compatible)
        }
    }

    @Test func token_refusesACiphertextOfAnotherLength() throws {
        let parts = try TokenProtect.protect([1, 2], key: key)
        for ciphertext in [[], [parts.ciphertext[0]], parts.ciphertext + [0]] {
            #expect(throws: CellError.malformed(.messageLength)) {
                try TokenProtect.open(.init(token: parts.token, ciphertext: ciphertext), key: key)
            }
        }
        #expect(throws: CellError.malformed(.tag)) {
            try TokenProtect.open(.init(token: parts.token.dropLast(), ciphertext: parts.ciphertext), key: key)
        }
    }

    @Test func containers_areRefusedByTheirFirstFault() throws {
        let good = unbase64(golden.ec_keys[0].public_b64)
        func changed(_ offset: Int, _ value: UInt8) -> [UInt8] {
            var other = good
            other[offset] = value
            return other
        }
        let faults: [([UInt8], KeyContainerError)] = [
            ([], .truncated), (Array(good.prefix(11)), .truncated), (changed(3, 0x39), .unknownTag),
            (changed(0, 0x58), .unknownTag), (changed(7, 44), .wrongSize), (Array(good.dropLast()), .wrongSize),
            (good + [0], .wrongSize), (changed(3, 0x33), .wrongSize), (changed(8, good[8] ^ 1), .damaged),
            (changed(44, good[44] ^ 1), .damaged),
        ]
        for (bytes, error) in faults { #expect(throws: error) { try KeyContainer(decoding: bytes) } }
    }

    @Test func keys_ofAnotherKindAreRefused() throws {
        let (ec, rsa) = (golden.ec_keys[0], golden.rsa_keys[0])
        #expect(throws: KeyError.wrongKind) { try ecPublic(ec.private_b64) }
        #expect(throws: KeyError.wrongKind) { try ecPrivate(ec.public_b64) }
        #expect(throws: KeyError.wrongKind) { try rsaPublic(ec.public_b64) }
        #expect(throws: KeyError.wrongKind) { try rsaPrivate(rsa.public_b64) }
    }

    @Test func keys_outOfRangeAreRefused() throws {
        for desc in ["private key zero", "private key = n", "private key with pad byte 1"] {
            #expect(throws: KeyError.invalidScalar) { try ecPrivate(#require(golden.edge("sign", desc)).private_b64) }
        }
        for desc in [
            "compressed x without a point", "uncompressed point off the curve",
            "point at infinity 0x00 padded to 33 bytes", "compressed form byte 0x05", "hybrid form 0x06/0x07",
        ] {
            let record = try #require(golden.edge("verify", "public key: \(desc)"))
            #expect(throws: KeyError.invalidPoint, "\(desc)") { try ecPublic(record.public_b64) }
        }
        let modulus = [UInt8](repeating: 0xFF, count: 256)
        for exponent in [[0, 0, 0, 5], [0, 0, 0, 1], [0, 0, 0, 0]] as [[UInt8]] {
            #expect(throws: KeyError.invalidNumbers) {
                try RSAPublicKey(modulus: modulus[...], exponent: exponent[...])
            }
        }
        #expect(throws: KeyError.invalidNumbers) {
            try RSAPublicKey(modulus: modulus.dropLast() + [0xFE], exponent: [0, 0, 0, 3])
        }
        #expect(throws: KeyError.invalidNumbers) {
            try RSAPublicKey(modulus: [0x7F] + modulus.dropLast(), exponent: [0, 0, 0, 3])
        }
    }

    @Test func messages_areRefusedByTheirFirstFault() throws {
        let (alice, bob) = (try ecPrivate(golden.ec_keys[0].private_b64), try ecPrivate(golden.ec_keys[1].private_b64))
        let signed = try SignedMessage.sign([1, 2, 3], by: alice)
        #expect(throws: MessageError.malformed) { try SignedMessage.verify([], by: alice.publicKey) }
        #expect(throws: MessageError.malformed) { try SignedMessage.verify(signed + [0], by: alice.publicKey) }
        #expect(throws: MessageError.malformed) { try SignedMessage.verify(signed.dropLast(), by: alice.publicKey) }
        #expect(throws: MessageError.invalidSignature) { try SignedMessage.verify(signed, by: bob.publicKey) }
        #expect(throws: MessageError.emptyMessage) { try SignedMessage.sign([], by: alice) }
        let encrypted = try EncryptedMessage.encrypt([1, 2, 3], from: alice, to: bob.publicKey)
        #expect(throws: MessageError.wrongType(0x2604_2720)) {
            try SignedMessage.verify(encrypted, by: alice.publicKey)
        }
        #expect(throws: MessageError.wrongType(0x2604_2620)) {
            try EncryptedMessage.decrypt(signed, by: bob, from: alice.publicKey)
        }
        #expect(throws: MessageError.malformed) {
            try EncryptedMessage.decrypt(encrypted + [0], by: bob, from: alice.publicKey)
        }
        #expect(throws: MessageError.sealed(.notAuthentic)) {
            try EncryptedMessage.decrypt(encrypted, by: alice, from: alice.publicKey)
        }
        #expect(throws: MessageError.emptyMessage) { try EncryptedMessage.encrypt([], from: alice, to: bob.publicKey) }
        let other = try ecPrivate(golden.key("p384")?.private_b64)
        #expect(throws: MessageError.differentCurves) {
            try EncryptedMessage.encrypt([1], from: alice, to: other.publicKey)
        }
        #expect(throws: MessageError.differentCurves) {
            try EncryptedMessage.decrypt(encrypted, by: other, from: alice.publicKey)
        }
    }

    @Test func rsaMessages_areRefusedByAnotherRecipient() throws {
        let record = try #require(golden.message_encrypt.first { $0.id == "rsaenc1" })
        let stranger = try rsaPrivate(golden.key("rsa0")?.private_b64)
        #expect(throws: MessageError.wrongRecipient) {
            try EncryptedMessage.decrypt(unbase64(record.encrypted_b64), by: stranger)
        }
    }

    /// Why nobody is to build on them.
    @Test func weaknessesOfTheFormatAreWhatTheDocumentationSays() throws {
        let (alice, bob) = (try ecPrivate(golden.ec_keys[0].private_b64), try ecPrivate(golden.ec_keys[1].private_b64))
        let encrypted = try EncryptedMessage.encrypt([1, 2, 3], from: alice, to: bob.publicKey)
        // Reflected: Alice takes her own message for one of Bob's.
        #expect(try EncryptedMessage.decrypt(encrypted, by: alice, from: bob.publicKey) == [1, 2, 3])
        var imprint = try ContextImprint.imprint([1, 2, 3], key: key, context: [1])
        imprint[0] ^= 0x80
        #expect(try ContextImprint.restore(imprint, key: key, context: [1]) == [0x81, 2, 3])
    }

    @Test func percentBase64_hasOneSpelling() throws {
        let cases: [(String, [UInt8]?, [UInt8]?)] = [
            ("%2B%2F8%3D", [0xFB, 0xFF], [0xFB, 0xFF]), ("", [], []), ("+/8=", nil, [0xFB, 0xFF]),
            ("%2b%2F8%3D", nil, [0xFB, 0xFF]), (" %2B\n%2F8%3D", nil, [0xFB, 0xFF]), ("%2B%2F9%3D", nil, nil),
            ("%2", nil, nil), ("%2G", nil, nil), ("%41QID", nil, [1, 2, 3]),
        ]
        for (text, strict, compatible) in cases {
            #expect((try? PercentBase64.decode(bytes(text))) == strict, "\(text)")
            #expect((try? PercentBase64.decode(bytes(text), reading: .compatible)) == compatible, "\(text)")
        }
    }

    @Test func theChecksumHasItsPublishedCheckValue() {
        var checksum = CRC32C()
        checksum.update(bytes("123456789"))
        #expect(checksum.value == 0xE306_9283)
    }
}
