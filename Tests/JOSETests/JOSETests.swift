// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import StrictJSON
import Testing

@testable import JOSE

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
func decoded(_ text: String) throws -> [UInt8] { try Base64URL.decode(bytes(text)) }

/// The examples of the specifications, and one fault at a time.
struct SignedTokenTests {
    /// RFC 7515, appendix A.3.
    static let example =
        "eyJhbGciOiJFUzI1NiJ9"
        + ".eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        + ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
    static let key: JSONObject = [
        "kty": .string("EC"), "crv": .string("P-256"), "x": .string("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"),
        "y": .string("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"),
    ]

    func signer() throws -> P256.Signing.PublicKey { try #require(try WebKey(Self.key).signingKey) }

    @Test func theExampleOfTheSpecificationVerifies() throws {
        let token = try SignedToken(decoding: bytes(Self.example))
        try token.verify(by: signer())
        #expect(token.isES256)
        #expect(!token.hasCriticalParameters)
        #expect(!token.hasType("JWT"))
        #expect(token.unverifiedPayload.starts(with: bytes("{\"iss\":\"joe\"")))
    }

    @Test func everyFlippedBitIsRefused() async throws {
        let (text, key) = (bytes(Self.example), try signer())
        for place in text.indices {
            for bit in 0..<8 {
                var flipped = text
                flipped[place] ^= 1 << UInt8(bit)
                #expect(throws: SignedTokenFault.self) { try SignedToken(decoding: flipped).verify(by: key) }
            }
            await Task.yield()
        }
    }

    @Test func compactForm_refusesOtherForms() throws {
        let parts = Self.example.split(separator: ".").map(String.init)
        for (text, fault) in [
            (parts[0] + "." + parts[1], SignedTokenFault.parts(2)), (Self.example + ".", .parts(4)),
            (Self.example + "=", .encoding(.invalidCharacter(offset: 86))),
            (["e30K" + "A", parts[1], parts[2]].joined(separator: "."), .encoding(.invalidLength(5))),
            (["W10", parts[1], parts[2]].joined(separator: "."), .header(.syntax(offset: 0))),
            ("", .parts(1)),
        ] {
            #expect(throws: fault, "\(text)") { try SignedToken(decoding: bytes(text)) }
        }
        #expect(throws: SignedTokenFault.tooLong(65_537)) {
            try SignedToken(decoding: [UInt8](repeating: 0x2E, count: 65_537))
        }
    }

    @Test func verify_refusesASignatureOfAnotherForm() throws {
        let key = P256.Signing.PrivateKey()
        for (form, isGood) in [(0, true), (1, false), (2, false), (3, false)] {
            let text = try SignedToken.encoded(header: ["alg": .string("ES256")], payload: [1]) { signed in
                let signature = try key.signature(for: signed)
                switch form {
                case 0: return Array(signature.rawRepresentation)
                case 1: return Array(signature.derRepresentation)
                case 2: return Array(signature.rawRepresentation) + [0]
                default: return [UInt8](repeating: 0, count: 64)
                }
            }
            let token = try SignedToken(decoding: text)
            #expect(((try? token.verify(by: key.publicKey)) != nil) == isGood)
        }
    }

    @Test func certificates_refuseOtherEncodingsAndNumbers() throws {
        for (value, count) in [
            (.array([.string("AQID")]), 1), (.array([]), nil), (.string("AQID"), nil), (.array([.string("AQI")]), nil),
            (.array([.null]), nil), (.array([JSONValue](repeating: .string("AQID"), count: 6)), nil),
        ] as [(JSONValue, Int?)] {
            let text = SignedToken.encoded(header: ["x5c": value], payload: []) { _ in [] }
            let token = try SignedToken(decoding: text)
            if let count {
                #expect(try token.certificates()?.count == count)
            } else {
                #expect(throws: CertificateTrustFault.chain) { try token.certificates() }
            }
        }
        #expect(try SignedToken(decoding: bytes(Self.example)).certificates() == nil)
    }
}

struct WebKeyTests {
    @Test func webKey_refusesOtherCurvesAndPoints() throws {
        var key = SignedTokenTests.key
        #expect(try WebKey(key).object == key)
        key["use"] = .string("enc")
        #expect(throws: Never.self) { try WebKey(key) }
        for (name, value, fault) in [
            ("d", .string("AA"), .privateHalf), ("kty", .string("RSA"), .anotherKind),
            ("crv", .string("P-384"), .anotherKind), ("crv", nil, .anotherKind), ("x", .string("AA"), .coordinates),
            ("x", .integer(1), .coordinates), ("y", nil, .coordinates),
            ("y", .string("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"), .notAPoint),
        ] as [(JSONText, JSONValue?, WebKeyFault)] {
            var other = SignedTokenTests.key
            other[name] = value
            #expect(throws: fault) { try WebKey(other) }
        }
    }

    /// By Python's hashlib over the four members of the key of RFC 7515, appendix A.3, in order of their names.
    @Test func theThumbprintCoversTheFourMembersOfTheKey() throws {
        var key = SignedTokenTests.key
        key["kid"] = .string("another")
        #expect(try WebKey(key).thumbprint == decoded("oKIywvGUpTVTyxMQ3bwIIeQUudfr_CkLMjCE19ECD-U"))
    }
}

struct EncryptedTokenTests {
    let key = P256.KeyAgreement.PrivateKey()
    var target: EncryptionTarget {
        EncryptionTarget(key: WebKey(key.publicKey), keyID: "e1", encryption: .a256GCM)
    }

    func read(_ text: [UInt8], _ offered: [ContentEncryption] = ContentEncryption.allCases) throws -> EncryptedToken {
        try EncryptedToken(decoding: text, keyID: "e1", offered: offered)
    }

    @Test(arguments: ContentEncryption.allCases) func aSealedTokenOpensWithItsKeyOnly(
        _ encryption: ContentEncryption
    ) throws {
        let target = EncryptionTarget(key: WebKey(key.publicKey), keyID: "e1", encryption: encryption)
        let text = try #require(EncryptedToken.sealed(bytes("contents"), to: target))
        #expect(try read(text).open(with: key) == bytes("contents"))
        #expect(try read(text).encryption == encryption)
        #expect(throws: EncryptedTokenFault.tag) { try read(text).open(with: P256.KeyAgreement.PrivateKey()) }
    }

    @Test func everyFlippedBitIsRefused() async throws {
        let text = try #require(EncryptedToken.sealed(bytes("contents"), to: target))
        for place in text.indices {
            for bit in 0..<8 {
                var flipped = text
                flipped[place] ^= 1 << UInt8(bit)
                #expect(throws: EncryptedTokenFault.self) { try read(flipped).open(with: key) }
            }
            await Task.yield()
        }
    }

    /// RFC 7518, appendix C: Alice's ephemeral key, Bob's key, and the content key that they agree on.
    @Test func theAgreedKeyEqualsTheExampleOfTheSpecification() throws {
        let bob = try P256.KeyAgreement.PrivateKey(
            rawRepresentation: decoded("VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw"))
        let alice = try WebKey([
            "kty": .string("EC"), "crv": .string("P-256"), "x": .string("gI0GAILBdu7T53akrFmMyGcsF3n5dO7MmwNBHKW5SV0"),
            "y": .string("SLW_xSffzlPWrHEVI30DHM_4egVwt3NQqeUD7nMFpps"),
        ])
        let secret = try bob.sharedSecretFromKeyAgreement(with: #require(alice.agreementKey))
        let parties = PartyInfo(producer: bytes("Alice"), consumer: bytes("Bob"))
        let key = parties.contentKey(secret, .a128GCM).withUnsafeBytes { Array($0) }
        #expect(try key == decoded("VqqN6vgjbSBcIijNcacQGg"))
    }

    @Test func open_refusesAnEncryptionThatWasNotOffered() throws {
        let text = try #require(EncryptedToken.sealed([1], to: target))
        #expect(throws: EncryptedTokenFault.encryption) { try read(text, [.a128GCM]) }
        #expect(throws: EncryptedTokenFault.keyID) {
            try EncryptedToken(decoding: text, keyID: "e2", offered: [.a256GCM])
        }
    }

    @Test func encryptedToken_refusesOtherLengths() throws {
        let text = try #require(EncryptedToken.sealed(bytes("contents"), to: target))
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) }
        for (place, part) in [(1, "AAAA"), (2, "AAAAAAAAAAAAAAAAAAAAAA"), (4, "AAAAAAAAAAAAAAAA")] {
            var changed = parts
            changed[place] = bytes(part)
            #expect(throws: EncryptedTokenFault.lengths) { try read(Array(changed.joined(separator: [0x2E]))) }
        }
        #expect(throws: EncryptedTokenFault.parts(4)) { try read(Array(parts[..<4].joined(separator: [0x2E]))) }
    }

    @Test func twoTokensOfOnePayloadAreDifferent() throws {
        let (first, second) = (EncryptedToken.sealed([1, 2], to: target), EncryptedToken.sealed([1, 2], to: target))
        #expect(first != second)
    }
}
