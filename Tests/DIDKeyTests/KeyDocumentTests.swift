// SPDX-License-Identifier: Apache-2.0

import Crypto
import DIDKey
import Foundation
import Testing

@Suite struct KeyDocumentTests {
    private func document(_ text: String, _ form: KeyForm) throws -> NSDictionary {
        try json(try KeyDID(decoding: bytes(text)).document(as: form))
    }

    @Test func aSigningOnlyKeyIsNotListedForAgreement() throws {
        for form in KeyForm.allCases {
            let document = try document(KeyDIDTests.ed25519, form)
            #expect(document["keyAgreement"] == nil)
            #expect(document["authentication"] as? [String] == [keyID(KeyDIDTests.ed25519)])
        }
    }

    @Test func anAgreementKeyIsNotListedForSigning() throws {
        for form in KeyForm.allCases {
            let document = try document(KeyDIDTests.x25519, form)
            for relation in ["authentication", "assertionMethod", "capabilityInvocation", "capabilityDelegation"] {
                #expect(document[relation] == nil)
            }
            #expect(document["keyAgreement"] as? [String] == [keyID(KeyDIDTests.x25519)])
        }
    }

    @Test func theMultikeyFormCarriesTheFingerprint() throws {
        let document = try document(KeyDIDTests.p256, .multikey)
        let method = (document["verificationMethod"] as? [NSDictionary])?.first
        #expect(method?["type"] as? String == "Multikey")
        #expect(method?["publicKeyMultibase"] as? String == String(KeyDIDTests.p256.dropFirst(8)))
        #expect(method?["controller"] as? String == KeyDIDTests.p256)
        #expect(method?["id"] as? String == keyID(KeyDIDTests.p256))
        #expect(
            document["@context"] as? [String]
                == ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/multikey/v1"])
    }

    @Test func anEdwardsKeyHasOneCoordinate() throws {
        let key = try json(KeyDID(decoding: bytes(KeyDIDTests.ed25519)).jsonWebKey)
        #expect(key["kty"] as? String == "OKP" && key["crv"] as? String == "Ed25519")
        #expect(key["y"] == nil && key["x"] is String)
    }

    private func keyID(_ did: String) -> String { did + "#" + did.dropFirst(8) }
}
