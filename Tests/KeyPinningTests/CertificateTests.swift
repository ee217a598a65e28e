// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyPinning
import SeededRandomness
import Testing

@Suite struct CertificateTests {
    @Test func thereAreVectorsOfElevenKindsOfKeys() { #expect(PinVector.all.count == 11) }

    @Test(arguments: PinVector.all) func pinsAndDatesAreThoseOfOpenSSL(_ vector: PinVector) throws {
        let fields = try CertificateFields(vector.certificate)
        #expect(fields.pin.text(.base64) == Array(vector.pin.utf8))
        #expect(fields.notBefore == vector.notBefore)
        #expect(fields.notAfter == vector.notAfter)
        #expect(fields.issuer == fields.subject)
    }

    @Test func theKeyWithTheNumberOneHasThePinThatOpenSSLPrints() throws {
        let header = try Hex.decode(Array("3059301306072a8648ce3d020106082a8648ce3d030107034200".utf8))
        let point = try Hex.decode(
            Array(
                """
                046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296\
                4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5
                """.utf8))
        #expect(
            SPKIPin(hashing: header + point).text(.base64)
                == Array("XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNM=".utf8))
    }

    @Test(arguments: PinVector.all) func everyTruncationIsRefused(_ vector: PinVector) {
        for count in 0..<vector.certificate.count {
            #expect(throws: DERFault.self) { try CertificateFields(Array(vector.certificate.prefix(count))) }
        }
    }

    @Test func certificate_refusesTrailingBytesWithTheirOffset() throws {
        let certificate = try #require(PinVector.all.first).certificate
        #expect(throws: DERFault.trailingBytes(offset: certificate.count)) {
            try CertificateFields(certificate + [0])
        }
    }

    @Test func noMutationTrapsAndNoneChangesThePinUnseen() throws {
        var random = SeededGenerator(seed: 4)
        for vector in PinVector.all {
            let original = try CertificateFields(vector.certificate)
            for _ in 0..<500 {
                var bytes = vector.certificate
                let index = Int.random(in: 0..<bytes.count, using: &random)
                bytes[index] ^= UInt8.random(in: 1...255, using: &random)
                guard let fields = try? CertificateFields(bytes) else { continue }
                #expect(
                    (fields.pin == original.pin) == (fields.subjectPublicKeyInfo == original.subjectPublicKeyInfo))
                _ = try? fields.rawKey
            }
        }
    }

    @Test func rawHashesFindTheirCertificateAndItsPin() throws {
        let fields = try PinVector.all.map { try CertificateFields($0.certificate) }
        for certificate in fields {
            let hash = try RawKeyHash(of: certificate)
            #expect(try RawKeyHash(Hex.encode(hash.digest)) == hash)
            #expect(hash.pin(among: fields) == certificate.pin)
            #expect(hash.digest != certificate.pin.digest)
        }
        #expect(try RawKeyHash([UInt8](repeating: 0x30, count: 64)).pin(among: fields) == nil)
    }

    @Test(
        arguments: [
            ("0x80 is an indefinite length", [0x30, 0x80], DERFault.invalidLength(offset: 1)),
            ("one byte would do", [0x30, 0x81, 0x01, 0x00], .invalidLength(offset: 1)),
            (
                "two bytes would do", [0x30, 0x82, 0x00, 0x80] + [UInt8](repeating: 0, count: 128),
                .invalidLength(offset: 1)
            ),
            ("not a sequence", [0x31, 0x00], .unexpectedTag(0x31, offset: 0)),
            ("empty", [], .truncated(offset: 0)),
            ("an empty certificate", [0x30, 0x00], .truncated(offset: 2)),
            ("longer than there are bytes", [0x30, 0x05, 0x00], .truncated(offset: 0)),
        ] as [(String, [UInt8], DERFault)]) func malformedLengthsHaveAnOffset(
            what: String, bytes: [UInt8], fault: DERFault
        )
    {
        #expect(throws: fault, "\(what)") { try CertificateFields(bytes) }
    }

    @Test(
        arguments: [
            ("250229000000Z", nil), ("240229000000Z", 1_709_164_800), ("491231235959Z", 2_524_607_999),
            ("500101000000Z", -631_152_000), ("20500101000000Z", 2_524_608_000), ("700101000000Z", 0),
            ("261121000060Z", nil), ("261121240000Z", nil), ("261321000000Z", nil), ("261100000000Z", nil),
            ("2611210000Z", nil), ("261121000000+0000", nil), ("2x1121000000Z", nil), ("19000229000000Z", nil),
            ("20000229000000Z", 951_782_400), ("20261121000000.5Z", nil),
        ] as [(String, Int64?)]) func certificate_refusesDatesInOtherForms(text: String, seconds: Int64?)
    {
        let time = Array(text.utf8)
        let tag: UInt8 = text.count == 13 || text.count == 11 ? 0x17 : 0x18
        let written = element(tag, time)
        let empty = element(0x30, [])
        let body = element(
            0x30, element(0x02, [1]) + empty + empty + element(0x30, written + written) + empty + empty)
        #expect((try? CertificateFields(element(0x30, body)))?.notAfter == seconds)
    }

    private func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        contents.count < 128 ? [tag, UInt8(contents.count)] + contents : [tag, 0x81, UInt8(contents.count)] + contents
    }
}

@Suite struct PEMTests {
    @Test func textOutsidePEMBlocksIsIgnored() throws {
        let text = Array("subject\r\n-----BEGIN X Y-----\r\nAQI=\r\n-----END X Y-----\r\nafter\n".utf8)
        let blocks = try PEMBlock.all(in: text)
        #expect(blocks.count == 1)
        #expect(blocks[0].label == Array("X Y".utf8))
        #expect(blocks[0].bytes == [1, 2])
        #expect(blocks[0].line == 2)
    }

    @Test(arguments: [
        ("-----BEGIN X-----\nAQI=\n", PEMFault.unfinished(line: 1)),
        ("\n-----BEGIN X-----\nAQI\n-----END X-----\n", .invalidBase64(line: 2)),
        ("-----BEGIN X-----\n-----BEGIN X-----\n", .nested(line: 2)),
        ("-----BEGIN X-----\nAQI=\n-----END Y-----\n", .unexpectedEnd(line: 3)),
        ("-----END X-----\n", .unexpectedEnd(line: 1)), ("", .noCertificate),
        ("-----BEGIN X-----\nAQI=\n-----END X-----\n", .noCertificate),
    ]) func faultsNameTheLine(text: String, fault: PEMFault) {
        #expect(throws: fault) { try PEMBlock.certificates(in: Array(text.utf8)) }
    }
}
