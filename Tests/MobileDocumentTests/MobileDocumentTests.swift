// SPDX-License-Identifier: Apache-2.0

import CBOR
import Crypto
import Testing

@testable import MobileDocument

/// Each attack changes one part of a good answer, and one check refuses it.
struct MobileDocumentTests {
    let good = IssuedDocument()
    private let document: [CBORValue] = ["documents", 0]
    private let proof: [CBORValue] = ["documents", 0, "issuerSigned", "issuerAuth"]
    private let device: [CBORValue] = ["documents", 0, "deviceSigned", "deviceAuth", "deviceSignature"]
    private let items: [CBORValue] = ["documents", 0, "issuerSigned", "nameSpaces", "eu.europa.ec.av.1"]

    private func refusal(_ path: [CBORValue], _ value: CBORValue?) throws -> MobileDocumentFault? {
        good.fault(try good.changed(path, to: value))
    }

    @Test func onlyTheShownElementsAreRead() throws {
        let shown = try good.verified(try good.shown())
        #expect(shown.elements == [ElementName(IssuedDocument.type, "age_over_18"): .bool(true)])
        #expect(shown.documentType == IssuedDocument.type && shown.validUntil == IssuedDocument.now + 60)
        #expect(shown.status == nil)
        let all = try good.verified(try good.shown(["age_over_18", "given_name", "portrait"]))
        #expect(all.elements.count == 3)
        #expect(all.elements[ElementName("org.iso.18013.5.1", "portrait")] == .bytes([1, 2, 3]))
    }

    @Test func response_refusesErrorsAndMoreThanOneDocument() throws {
        #expect(try refusal(["version"], "1.1") == .response)
        #expect(try refusal(["status"], 10) == .response)
        #expect(try refusal(["status"], nil) == .response)
        #expect(try refusal(["documents"], .array([])) == .response)
        let document = try needed(try CBORValue(decoding: good.shown()).value(at: self.document))
        #expect(try refusal(["documents"], .array([document, document])) == .response)
        #expect(good.fault([0x80]) == .response)
    }

    @Test func verify_refusesOtherEncodingsAndTooManyBytes() throws {
        let bytes = try good.shown()
        #expect(good.fault(Array(bytes.dropLast())) == .cbor)
        #expect(good.fault([0xB8, 0x03] + bytes.dropFirst()) == .canonical)
        #expect(good.fault([UInt8](repeating: 0, count: 262_145)) == .limits)
        #expect(good.fault([UInt8](repeating: 0x81, count: 40) + [0]) == .limits)
        // The same within encoded items.
        #expect(try refusal(proof + [0], .bytes([0xA1, 0x01, 0x38, 0x06])) == .canonical)
        #expect(try refusal(items + [0], .encodedItem([0xB8, 0x00])) == .canonical)
    }

    @Test func documentType_refusesAnotherTypeThanRequestedOrSigned() throws {
        #expect(try refusal(document + ["docType"], "org.iso.18013.5.1.mDL") == .documentType)
        #expect(good.fault(try good.misissued(["docType"], to: "org.iso.18013.5.1.mDL")) == .securityObjectType)
    }

    @Test func issuerSignature_refusesOtherFormsAlgorithmsAndExtensions() throws {
        #expect(try refusal(proof, nil) == .issuerForm)
        #expect(try refusal(proof + [2], .null) == .issuerForm)
        #expect(try refusal(proof + [2], 1) == .issuerForm)
        #expect(try refusal(proof + [0], .bytes([0x01])) == .issuerForm)
        #expect(try refusal(proof + [0], .bytes([])) == .issuerAlgorithm)
        #expect(try refusal(proof + [0], .bytes([0xA1, 0x01, 0x38, 0x22])) == .issuerAlgorithm)
        #expect(try refusal(proof + [0], .bytes([0xA2, 0x01, 0x26, 0x02, 0x81, 0x01])) == .issuerCritical)
        let other = try needed(try CBORValue(decoding: good.shown()).value(at: proof + [3])?.bytes).reversed()
        #expect(try refusal(proof + [3], .bytes(Array(other))) == .issuerSignature)
        #expect(try refusal(proof + [3], .bytes([1])) == .issuerSignature)
    }

    @Test func issuerChain_refusesAnUncertifiedOrExpiredIssuer() throws {
        let bytes = try good.shown()
        #expect(good.fault(bytes, trusting: TestTrust(keys: [:])) == .issuerChain)
        #expect(try refusal(proof + [1], .map(CBORMap())) == .issuerChain)
        #expect(try refusal(proof + [1, 33], .array([.bytes(good.certificate)])) == .issuerChain)
        var trust = good.trust
        trust.validity = 0...IssuedDocument.now - 1
        #expect(good.fault(bytes, trusting: trust) == .issuerChainValidity)
        trust.validity = IssuedDocument.now - 59...IssuedDocument.now
        #expect(good.fault(bytes, trusting: trust) == .validity)
        trust.keys[good.certificate] = P256.Signing.PrivateKey().publicKey
        #expect(good.fault(bytes, trusting: trust) == .issuerSignature)
    }

    @Test func securityObject_refusesOtherForms() throws {
        for (path, value) in [
            (["version"], "2.0"), (["digestAlgorithm"], "SHA-1"), (["docType"], 1), (["valueDigests"], .array([])),
            (["valueDigests", "eu.europa.ec.av.1", 0], .bytes([1])), (["valueDigests", "eu.europa.ec.av.1"], 1),
            (["valueDigests", 1], .map(CBORMap())), (["valueDigests", "eu.europa.ec.av.1", -1], .bytes([])),
            (["deviceKeyInfo", "deviceKey"], 1), (["validityInfo", "signed"], "2027-01-14T08:00:00Z"),
            (["validityInfo", "validFrom"], .tagged(0, "2027-01-14T08:00:00.5Z")),
            (["validityInfo", "validUntil"], nil), (["status"], 1),
        ] as [([CBORValue], CBORValue?)] {
            #expect(good.fault(try good.misissued(path, to: value)) == .securityObject, "\(path)")
        }
    }

    @Test func validity_refusesATimeOutsideTheDocuments() throws {
        let bytes = try good.shown()
        for (now, expected) in [(-61, .validity), (-60, nil), (60, nil), (61, .validity)]
            as [(Int64, MobileDocumentFault?)]
        {
            #expect(good.fault(bytes, at: IssuedDocument.now + now) == expected)
        }
    }

    @Test func items_refuseAnElementThatTheIssuerDidNotSign() throws {
        let bytes = try needed(try CBORValue(decoding: good.shown()).value(at: items + [0])?.encodedItem)
        let sent = try CBORValue(decoding: bytes)
        func item(_ name: CBORValue, _ value: CBORValue?) throws -> MobileDocumentFault? {
            try refusal(items + [0], .encodedItem(sent.replacing([name], by: value).encoded))
        }
        #expect(try item("elementValue", .bool(false)) == .itemDigest)
        #expect(try item("elementIdentifier", "age_over_21") == .itemDigest)
        #expect(try item("digestID", 1) == .itemDigest)
        #expect(try item("random", .bytes([UInt8](repeating: 0, count: 16))) == .itemDigest)
        #expect(try item("random", .bytes([UInt8](repeating: 0, count: 15))) == .itemRandom)
        #expect(try item("digestID", -1) == .item)
        #expect(try item("elementValue", nil) == .item)
        #expect(try item("more", 1) == .item)
        #expect(try refusal(items + [0], .bytes(bytes)) == .item)
        #expect(try refusal(items, .array([.encodedItem(bytes), .encodedItem(bytes)])) == .itemDuplicate)
        #expect(
            try refusal(Array(items.dropLast()), CBORValue.entries(["x": .array([.encodedItem(bytes)])])) == .itemDigest
        )
        #expect(try refusal(Array(items.dropLast()), 1) == .item)
    }

    @Test func deviceSignature_refusesADocumentWithoutItsDevice() throws {
        #expect(try refusal(document + ["deviceSigned"], nil) == .deviceMissing)
        let signature = try needed(try CBORValue(decoding: good.shown()).value(at: device))
        let proofs = Array(device.dropLast())
        #expect(try refusal(proofs, CBORValue.entries(["deviceMac": signature])) == .deviceForm)
        #expect(
            try refusal(proofs, CBORValue.entries(["deviceSignature": signature, "deviceMac": signature]))
                == .deviceForm)
        #expect(try refusal(device, 1) == .deviceForm)
        #expect(try refusal(device + [2], .bytes([1])) == .deviceForm)
        #expect(try refusal(device + [0], .bytes([0xA1, 0x01, 0x27])) == .deviceAlgorithm)
        #expect(try refusal(device + [0], .bytes([0xA2, 0x01, 0x26, 0x02, 0x80])) == .deviceCritical)
        #expect(try refusal(device + [3], .bytes([UInt8](repeating: 1, count: 64))) == .deviceSignature)
        let bytes = try good.held().presented(
            disclosing: { _ in true }, in: good.session, sign: IssuedDocument.sign(P256.Signing.PrivateKey()))
        #expect(good.fault(bytes) == .deviceSignature)
    }

    @Test func coseSign1_refusesAPayloadAtAnotherPlace() throws {
        let key = P256.Signing.PrivateKey()
        let inside = try COSESign1(try COSESign1.encoded(payload: [1], sign: IssuedDocument.sign(key)))
        let outside = try COSESign1(
            try COSESign1.encoded(payload: [1], isDetached: true, sign: IssuedDocument.sign(key)))
        #expect(throws: Never.self) { try inside.verify(by: key.publicKey) }
        #expect(throws: Never.self) { try outside.verify(by: key.publicKey, detached: [1]) }
        #expect(throws: COSEFault.signature) { try outside.verify(by: key.publicKey, detached: [2]) }
        #expect(throws: COSEFault.form) { try inside.verify(by: key.publicKey, detached: [1]) }
        #expect(throws: COSEFault.form) { try outside.verify(by: key.publicKey) }
    }

    @Test func deviceNameSpaces_refuseElementsStatedByTheDevice() throws {
        let stated = try CBORValue.entries(["x": CBORValue.entries(["age_over_18": .bool(true)])])
        let place = document + ["deviceSigned", "nameSpaces"]
        #expect(try refusal(place, .encodedItem(stated.encoded)) == .deviceNameSpaces)
        #expect(try refusal(place, .map(CBORMap())) == .deviceNameSpaces)
    }

    @Test func deviceKey_refusesAKeyThatIsNotOnTheCurve() throws {
        let key: [CBORValue] = ["deviceKeyInfo", "deviceKey"]
        for (label, value) in [
            (1, 1), (-1, 2), (-2, .bytes([1])), (-3, .bool(true)), (-4, .bytes([1])),
            (-3, .bytes([UInt8](repeating: 1, count: 32))),
        ] as [(CBORValue, CBORValue)] {
            #expect(good.fault(try good.misissued(key + [label], to: value)) == .deviceKey, "\(label)")
        }
    }

    /// The attack: an answer to one site is shown to another, or for another request.
    @Test func deviceSignature_refusesAnAnswerOfAnotherSession() throws {
        let bytes = try good.shown()
        let thumbprint = [UInt8](repeating: 7, count: 32)
        let (client, nonce, address) = (
            "x509_san_dns:shop.example" as CBORText, "DIUuBXAsDikTJAnHI39VOw7C" as CBORText,
            "https://shop.example/response" as CBORText
        )
        for session in [
            SessionTranscript(
                clientID: "x509_san_dns:other.example", nonce: nonce, keyThumbprint: thumbprint,
                responseAddress: address),
            SessionTranscript(clientID: client, nonce: "other", keyThumbprint: thumbprint, responseAddress: address),
            SessionTranscript(clientID: client, nonce: nonce, keyThumbprint: nil, responseAddress: address),
            SessionTranscript(
                clientID: client, nonce: nonce, keyThumbprint: thumbprint, responseAddress: "https://other.example/"),
        ] {
            var request = good.request
            request.session = session
            #expect(good.fault(bytes, for: request) == .deviceSignature)
        }
    }

    @Test func claims_refuseAnAnswerWithoutARequiredElement() throws {
        #expect(good.fault(try good.shown(["given_name"])) == .claimsMissing)
        #expect(good.fault(try good.shown([])) == .claimsMissing)
        #expect(try refusal(Array(items.dropLast()), nil) == .claimsMissing)
    }

    @Test func everyFlippedBitIsRefused() async throws {
        let bytes = try good.shown()
        for place in bytes.indices {
            for bit in 0..<8 {
                var flipped = bytes
                flipped[place] ^= 1 << UInt8(bit)
                if good.fault(flipped) == nil { Issue.record("byte \(place), bit \(bit)") }
            }
            await Task.yield()
        }
    }

    @Test func draft_refusesARepeatedElementATimeBefore1970AndAFailedSignature() {
        var draft = good.draft
        draft.elements.append(draft.elements[0])
        #expect(throws: MobileDocumentDraftFault.twice) { try good.held(draft) }
        draft = good.draft
        draft.validity = -1...1
        #expect(throws: MobileDocumentDraftFault.validity) { try good.held(draft) }
        var generator = SystemRandomNumberGenerator()
        #expect(throws: MobileDocumentDraftFault.signing) { try good.draft.issued(using: &generator) { _ in nil } }
    }

    /// OpenID for Verifiable Presentations 1.0, annex B.2.6.1: the example of the specification.
    @Test func theTranscriptEqualsTheExampleOfTheSpecification() throws {
        let thumbprint = Self.hex("4283ec927ae0f208daaa2d026a814f2b22dca52cf85ffa8f3f8626c6bd669047")
        let session = SessionTranscript(
            clientID: "x509_san_dns:example.com", nonce: "exc7gBkxjx1rdc9udRrveKvSsJIq80avlXeLHhGwqtA",
            keyThumbprint: thumbprint, responseAddress: "https://example.com/response")
        let handover = "048bc053c00442af9b8eed494cefdd9d95240d254b046b11b68013722aad38ac"
        #expect(session.value.value(at: [2, 1])?.bytes == Self.hex(handover))
        #expect(session.value.encoded.starts(with: Self.hex("83f6f682714f70656e494434565048616e646f7665725820")))
    }

    private static func hex(_ text: String) -> [UInt8] {
        let digits = text.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    @Test func times_haveOneFormAndRefuseOthers() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00Z", 0), ("2027-01-15T08:00:00Z", 1_800_000_000), ("2000-02-29T23:59:59Z", 951_868_799),
            ("9999-12-31T23:59:59Z", 253_402_300_799), ("2024-03-01T00:00:00Z", 1_709_251_200),
        ] as [(String, Int64)] {
            #expect(DocumentTime.seconds(Array(text.utf8)) == seconds)
            #expect(DocumentTime.text(seconds) == Array(text.utf8))
        }
        for text in [
            "2027-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2027-13-01T00:00:00Z", "2027-00-01T00:00:00Z",
            "2027-01-00T00:00:00Z", "2027-04-31T00:00:00Z", "2027-01-01T24:00:00Z", "2027-01-01T00:60:00Z",
            "2027-01-01T00:00:60Z", "2027-01-01t00:00:00Z", "2027-01-01T00:00:00z", "2027-01-01 00:00:00Z",
            "0000-01-01T00:00:00Z", "+027-01-01T00:00:00Z", "2027-01-01T00:00:00", "2027-01-01T00:00:00+00:00",
        ] {
            #expect(DocumentTime.seconds(Array(text.utf8)) == nil, "\(text)")
        }
        #expect(DocumentTime.seconds(Array("0001-01-01T00:00:00Z".utf8)) == -62_135_596_800)
        #expect(DocumentTime.text(-1) == nil && DocumentTime.text(253_402_300_800) == nil)
    }
}
