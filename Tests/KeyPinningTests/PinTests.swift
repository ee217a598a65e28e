// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyPinning
import Testing

@Suite struct PinTests {
    static let digest = [UInt8](repeating: 0xFF, count: 32)

    @Test(arguments: PinSpelling.allCases) func everyFormOfAPinRoundTrips(_ spelling: PinSpelling) throws {
        for vector in PinVector.all {
            let pin = try CertificateFields(vector.certificate).pin
            #expect(try SPKIPin(pin.text(spelling)) == pin)
        }
    }

    @Test func curlAndOkHTTPAreToldApartWhenADigestBeginsWithASlash() throws {
        // 0xFC is the first byte whose first six bits are the slash of base64.
        let pin = try SPKIPin(digest: Self.digest)
        #expect(pin.text(.okHTTP).starts(with: Array("sha256//".utf8)))
        #expect(try SPKIPin(pin.text(.okHTTP)) == pin)
        #expect(try SPKIPin(pin.text(.curl)) == pin)
    }

    @Test(arguments: [
        ("", PinTextFault.invalidLength(0)), ("sha256/", .invalidLength(0)),
        ("sha256/AAAA", .invalidLength(3)), ("sha256/AAA", .malformed(.invalidPadding)),
        ("pin-sha256=\"AAAA\"", .invalidLength(3)), ("pin-sha256=\"AAAA", .malformed(.invalidPadding)),
        ("sha1/AAAA", .malformed(.invalidPadding)),
        ("sha256/XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfN!=", .malformed(.invalidCharacter(offset: 42))),
        ("sha256/XNJS+wzokyQ2+vjM0QQJgbie5K1rn+niorfnGqyyfNN=", .malformed(.nonZeroTrailingBits)),
        (String(repeating: "A", count: 64), .malformed(.invalidCharacter(offset: 0))),
    ]) func otherTextIsRefused(text: String, fault: PinTextFault) {
        #expect(throws: fault) { try SPKIPin(text.utf8) }
    }

    @Test func aDigestHas32Bytes() {
        #expect(throws: PinTextFault.invalidLength(31)) { try SPKIPin(digest: Array(Self.digest.dropLast())) }
    }
}

@Suite struct HostTests {
    @Test(arguments: [
        ("api.example.org", "api.example.org", true), ("API.example.ORG", "api.example.org", true),
        ("api.example.org", "x.api.example.org", false), ("*.example.org", "api.example.org", true),
        ("*.example.org", "example.org", false), ("*.example.org", "a.b.example.org", false),
        ("**.example.org", "a.b.example.org", true), ("**.example.org", "example.org", false),
        ("**.example.org", "badexample.org", false), ("*.example.org", ".example.org", false),
        ("127.0.0.1", "127.0.0.1", true), ("::1", "0:0:0:0:0:0:0:1", true), ("127.0.0.1", "::1", false),
        ("**.0.1", "127.0.0.1", false), ("2001:db8::A", "2001:DB8:0:0::a", true),
    ]) func patternsMatchTheirHosts(pattern: String, host: String, expected: Bool) throws {
        let matches = (try? HostPattern(pattern.utf8)).flatMap { pattern in
            (try? ServerName(host.utf8)).map { pattern.matches($0) }
        }
        #expect((matches ?? false) == expected)
    }

    @Test(arguments: [
        ("", ServerNameFault.invalidLength(0)), ("a..b", .invalidLabel), ("-a.example", .invalidLabel),
        ("a-.example", .invalidLabel), ("example.org.", .invalidLabel), ("exa mple.org", .invalidCharacter(offset: 3)),
        ("bücher.example", .invalidCharacter(offset: 1)), ("1.2.3", .numericEnd), ("1.2.3.04", .numericEnd),
        ("256.1.1.1", .numericEnd), ("a.*.org", .invalidCharacter(offset: 2)),
        (String(repeating: "a", count: 64), .invalidLabel), (":::", .invalidCharacter(offset: 0)),
        ("1::2::3", .invalidCharacter(offset: 1)), ("12345::", .invalidCharacter(offset: 5)),
        ("1:2:3:4:5:6:7", .invalidCharacter(offset: 1)), ("1:2:3:4:5:6:7::8", .invalidCharacter(offset: 1)),
    ]) func otherHostsAreRefused(text: String, fault: ServerNameFault) {
        #expect(throws: fault) { try ServerName(text.utf8) }
    }

    @Test func addressesHaveOneSpelling() throws {
        #expect(try ServerName("2001:0db8::1".utf8).text == Array("2001:db8:0:0:0:0:0:1".utf8))
        #expect(try ServerName("127.0.0.1".utf8).text == Array("127.0.0.1".utf8))
    }
}
