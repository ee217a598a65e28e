// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DIDKey
import Foundation
import Testing

@Suite struct KeyDIDTests {
    static let p256 = "did:key:zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv"
    /// From the did:key specification's Ed25519 and X25519 examples.
    static let ed25519 = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp"
    static let x25519 = "did:key:z6LSeu9HkTHSfLLeUs2nnzUSNedgDUevfNQgQjQC23ZCit6F"

    private func text(_ codec: [UInt8], _ key: [UInt8]) throws -> [UInt8] {
        bytes("did:key:") + (try Multibase.encode(codec + key, as: .base58btc))
    }

    @Test(.enabled(if: NISTVectors.isPresent, "the outside vectors are not here"))
    func everyPublishedKeyIsReadAndPrintedAgain() throws {
        var read = 0
        for entry in try NISTVectors.load() where entry.curve != "P-521" {
            let did = try KeyDID(decoding: bytes(entry.did))
            #expect(did.encoded == bytes(entry.did))
            if let (x, y) = entry.coordinates {
                let parity: UInt8 = (y.last ?? 0) & 1 == 0 ? 2 : 3
                #expect(did.publicKey == [parity] + x)
                #expect(did.algorithm == (entry.curve == "P-256" ? .p256 : .p384))
            } else {
                #expect(did.publicKey == (try Base58.decode(bytes(entry.base58 ?? ""))))
            }
            read += 1
        }
        #expect(read == 5)
    }

    @Test(.enabled(if: NISTVectors.isPresent, "the outside vectors are not here"))
    func publishedDocumentsAreTheSameJSON() throws {
        var compared = 0
        for entry in try NISTVectors.load() where entry.coordinates != nil && entry.curve != "P-521" {
            let did = try KeyDID(decoding: bytes(entry.did))
            #expect(try json(did.document(as: .jsonWebKey)) == entry.document)
            compared += 1
        }
        #expect(compared == 4)
    }

    @Test(.enabled(if: NISTVectors.isPresent, "the outside vectors are not here"))
    func anotherCurveIsNamedByItsCodec() throws {
        for entry in try NISTVectors.load() where entry.curve == "P-521" {
            #expect(throws: KeyDIDError.unsupportedCodec(0x1202)) { try KeyDID(decoding: bytes(entry.did)) }
        }
    }

    @Test func theSpecificationsEdwardsAndMontgomeryKeysAreTold() throws {
        #expect(try KeyDID(decoding: bytes(Self.ed25519)).algorithm == .ed25519)
        #expect(try KeyDID(decoding: bytes(Self.x25519)).algorithm == .x25519)
        #expect(try KeyDID(decoding: bytes(Self.p256)).algorithm == .p256)
    }

    @Test(arguments: KeyAlgorithm.allCases) func everyKindComesBack(_ algorithm: KeyAlgorithm) throws {
        let key: [UInt8] =
            switch algorithm {
            case .p256: Array(P256.Signing.PrivateKey().publicKey.compressedRepresentation)
            case .p384: Array(P384.Signing.PrivateKey().publicKey.compressedRepresentation)
            case .ed25519: Array(Curve25519.Signing.PrivateKey().publicKey.rawRepresentation)
            case .x25519: Array(Curve25519.KeyAgreement.PrivateKey().publicKey.rawRepresentation)
            }
        let did = try KeyDID(algorithm, publicKey: key)
        #expect(try KeyDID(decoding: did.encoded) == did)
        #expect(try KeyDID(decodingKeyID: did.keyID) == did)
        #expect(did.keyID == did.encoded + bytes("#") + did.fingerprint)
    }

    @Test func aKeyUnderAnothersLabelIsRefusedByItsLength() throws {
        let key = try KeyDID(decoding: bytes(Self.p256)).publicKey
        let uncompressed = Array(try P256.Signing.PublicKey(compressedRepresentation: key).x963Representation)
        // 0x1201 is P-384 and not "P-256 uncompressed".
        #expect(throws: KeyDIDError.invalidKeyLength(.p384, 33)) { try KeyDID(decoding: text([0x81, 0x24], key)) }
        #expect(throws: KeyDIDError.invalidKeyLength(.p384, 65)) {
            try KeyDID(decoding: text([0x81, 0x24], uncompressed))
        }
        #expect(throws: KeyDIDError.invalidKeyLength(.p256, 65)) {
            try KeyDID(decoding: text([0x80, 0x24], uncompressed))
        }
        #expect(throws: KeyDIDError.invalidKeyLength(.ed25519, 33)) { try KeyDID(decoding: text([0xED, 0x01], key)) }
    }

    @Test(arguments: [0, 31, 32, 34]) func aP256KeyOfAnotherLengthIsRefused(_ count: Int) throws {
        let key = [UInt8](repeating: 2, count: count)
        #expect(throws: KeyDIDError.invalidKeyLength(.p256, count)) { try KeyDID(.p256, publicKey: key) }
        #expect(throws: KeyDIDError.invalidKeyLength(.p256, count)) { try KeyDID(decoding: text([0x80, 0x24], key)) }
    }

    @Test func bytesOffTheCurveAreRefused() throws {
        let key = try KeyDID(decoding: bytes(Self.p256)).publicKey
        #expect(throws: KeyDIDError.notAPoint(.p256)) { try KeyDID(.p256, publicKey: [4] + key.dropFirst()) }
        #expect(throws: KeyDIDError.notAPoint(.p256)) { try KeyDID(.p256, publicKey: [0] + key.dropFirst()) }
        let beyondTheField = [2] + [UInt8](repeating: 0xFF, count: 32)
        #expect(throws: KeyDIDError.notAPoint(.p256)) { try KeyDID(.p256, publicKey: beyondTheField) }
        let beyondP384 = [2] + [UInt8](repeating: 0xFF, count: 48)
        #expect(throws: KeyDIDError.notAPoint(.p384)) { try KeyDID(.p384, publicKey: beyondP384) }
    }

    @Test func keyDID_refusesAKeyOfSmallOrder() throws {
        let identity = [1] + [UInt8](repeating: 0, count: 31)
        let respelled = [0xEE] + [UInt8](repeating: 0xFF, count: 30) + [0x7F]
        #expect(throws: KeyDIDError.ed25519(.smallOrder)) { try KeyDID(decoding: text([0xED, 0x01], identity)) }
        #expect(throws: KeyDIDError.ed25519(.notCanonical)) { try KeyDID(decoding: text([0xED, 0x01], respelled)) }
        // X25519 reads a coordinate of another curve, and refuses when it is used.
        #expect(try KeyDID(.x25519, publicKey: identity).publicKey == identity)
    }

    @Test func keyDID_refusesAPrivateKey() throws {
        #expect(throws: KeyDIDError.unsupportedCodec(0x1306)) {
            try KeyDID(decoding: text([0x86, 0x26], [UInt8](repeating: 1, count: 32)))
        }
    }

    @Test func aLongerFormOfTheSameNumberIsRefused() throws {
        let key = try KeyDID(decoding: bytes(Self.p256)).publicKey
        #expect(throws: KeyDIDError.malformed(.notMinimal)) { try KeyDID(decoding: text([0x80, 0xA4, 0x00], key)) }
    }

    @Test(arguments: ["did:key:", "did:key:z", "did:key:zDn", "did:key", "", "z6Mk"])
    func aTextCutShortIsRefused(_ short: String) {
        #expect(throws: KeyDIDError.self) { try KeyDID(decoding: bytes(short)) }
    }

    @Test func theTextHasOneSpelling() throws {
        let did = Self.p256
        let body = String(did.dropFirst(8))
        let others = [
            did.lowercased(), did.uppercased(), "DID:key:" + body, "did:KEY:" + body, "did:web:" + body,
            did + " ", " " + did, did + "\n", did + "#", did + "#" + body, did + "?a=b", did + "/", did + "1",
            "did:key:1" + body, did.replacing("z", with: "m"), "\u{FEFF}" + did,
        ]
        for other in others {
            #expect(throws: KeyDIDError.self, "\(other)") { try KeyDID(decoding: bytes(other)) }
        }
    }

    @Test func anotherMultibaseIsRefused() throws {
        let key = try KeyDID(decoding: bytes(Self.p256)).publicKey
        let text = bytes("did:key:") + (try Multibase.encode([0x80, 0x24] + key, as: .base64url))
        #expect(throws: KeyDIDError.malformed(.unknownMultibase(0x75))) { try KeyDID(decoding: text) }
    }

    @Test func anEndlessTextIsRefusedBeforeAnyWork() {
        let text = bytes("did:key:z") + [UInt8](repeating: UInt8(ascii: "2"), count: 1 << 20)
        #expect(throws: KeyDIDError.tooLong(text.count)) { try KeyDID(decoding: text) }
    }

    @Test(arguments: ["keys-1", "", "zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169"])
    func aFragmentThatIsNotTheKeysOwnIsRefused(_ fragment: String) {
        #expect(throws: KeyDIDError.anotherFragment) {
            try KeyDID(decodingKeyID: bytes(Self.p256 + "#" + fragment))
        }
    }

    @Test func aKeyIDWithoutAFragmentIsRefused() {
        #expect(throws: KeyDIDError.anotherFragment) { try KeyDID(decodingKeyID: bytes(Self.p256)) }
    }

    @Test func everyChangedByteIsAnotherKeyOrNone() throws {
        let text = bytes(Self.p256)
        for index in text.indices {
            for bit in 0..<8 {
                var other = text
                other[index] ^= 1 << bit
                guard let did = try? KeyDID(decoding: other) else { continue }
                #expect(did.encoded == other && did.encoded != text)
            }
        }
    }
}
