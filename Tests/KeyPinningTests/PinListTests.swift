// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyPinning
import SeededRandomness
import Testing

@Suite struct PinListTests {
    // The examples of the tools' own documentation, shortened.
    static let trustKit = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0"><dict><key>CFBundleName</key><string>A &amp; B</string><key>TSKConfiguration</key><dict>
        <key>TSKPinnedDomains</key><dict><key>yahoo.com</key><dict>
        <key>TSKExpirationDate</key><string>2027-01-01</string>
        <key>TSKPublicKeyHashes</key><array><string>TQEtdMbmwFgYUifM4LDF+xgEtd0z69mPGmkp014d6ZY=</string>
        <string>rFjc3wG7lTZe43zeYTvPq8k4xdDEutCmIhI5dn4oCeE=</string></array>
        <key>TSKIncludeSubdomains</key><true/></dict></dict></dict></dict></plist>
        """
    static let pinnedDomains = """
        <plist version="1.0"><dict><key>NSAppTransportSecurity</key><dict><key>NSPinnedDomains</key><dict>
        <key>example.org</key><dict><key>NSIncludesSubdomains</key><true/><key>NSPinnedCAIdentities</key><array>
        <dict><key>SPKI-SHA256-BASE64</key><string>r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=</string></dict></array>
        <key>NSPinnedLeafIdentities</key><array><dict><key>SPKI-SHA256-BASE64</key>
        <string>i9HalScvf6T/skE3/A7QOq5n5RTYs8UHNOEFCnkguSI=</string></dict></array></dict></dict></dict></dict></plist>
        """
    static let android = """
        <?xml version="1.0" encoding="utf-8"?>
        <network-security-config><!-- two pins --><domain-config>
        <domain includeSubdomains="true">example.com</domain><pin-set expiration="2018-01-01">
        <pin digest="SHA-256">7HIpactkIAq2Y49orFOOQKurWxmmSFZhBCoQYcRhJ3Y=</pin>
        <pin digest="SHA-256">fwza0LRMXouZHRC8Ei+4PyuldPDcf3UKgO/04cDM1oE=</pin>
        </pin-set></domain-config></network-security-config>
        """
    static let okHTTP = """
        .add("publicobject.com", "sha256/afwiKY3RxoMmLkuRW1l7QsPZTJPwDS2pdDROQjXw8ig=")
        .add("publicobject.com", "sha256/klO23nT2ehFDXCfx3eHTDRESMz3asj1muO+4aIdjiuY=")
        .add("**.other.org", "sha256/grX4Ta9HpZx6tSHkmCrvpApTQGo67CYDnvprLg5yRME=",
             "sha256/lCppFqbkrlJ3EcVFAkeip0+44VaoJUymbnOaEUk7tEU=")
        """

    /// Found by fuzzing: the work doubled with each level.
    @Test(.timeLimit(.minutes(1))) func aDictionaryFarBelowIsFoundAtOnce() throws {
        let inside =
            "<dict><key>TSKPinnedDomains</key><dict><key>example.org</key><dict>"
            + "<key>TSKPublicKeyHashes</key><array><string>r/mIkG3eEpVdm+u/ko/cwxzOMo1bk4TyHIlByibiA5E=</string></array>"
            + "</dict></dict></dict>"
        let depth = 57
        let plist = String(repeating: "<dict>", count: depth) + inside + String(repeating: "</dict>", count: depth)
        #expect(try entries(.trustKit, plist).map(\.host) == [Array("example.org".utf8)])
    }

    private func entries(_ format: PinListFormat, _ text: String, host: String? = nil) throws -> [PinListEntry] {
        try PinListReader(format, host: host.map { Array($0.utf8) }).entries(in: Array(text.utf8))
    }

    @Test func trustKitListsAreRead() throws {
        let entry = try #require(try entries(.trustKit, Self.trustKit).first)
        #expect(entry.host == Array("yahoo.com".utf8))
        #expect(entry.subdomains == .anyDepth)
        #expect(entry.isEnforced)
        #expect(entry.expiry == 1_798_761_600)
        #expect(
            entry.pins.map { String(decoding: $0.key.text(.base64), as: UTF8.self) }.last
                == "rFjc3wG7lTZe43zeYTvPq8k4xdDEutCmIhI5dn4oCeE=")
        let rules = try entry.rules()
        #expect(rules.map { String(decoding: $0.pattern.text, as: UTF8.self) } == ["yahoo.com", "**.yahoo.com"])
        #expect(rules[0].pins.map(\.isBackup) == [false, true])
    }

    @Test func aKnownChainSaysWhichKeyIsInReserve() throws {
        let entry = try #require(try entries(.trustKit, Self.trustKit).first)
        #expect(try entry.rules(chain: [entry.pins[1].key])[0].pins.map(\.isBackup) == [true, false])
    }

    @Test func applePinnedDomainsAreRead() throws {
        let entry = try #require(try entries(.pinnedDomains, Self.pinnedDomains).first)
        #expect(entry.subdomains == .oneLabel)
        #expect(entry.pins.map(\.tier) == [nil, .leaf])
    }

    @Test func androidConfigurationsAreRead() throws {
        let entry = try #require(try entries(.android, Self.android).first)
        #expect(entry.host == Array("example.com".utf8))
        #expect(entry.subdomains == .anyDepth)
        #expect(entry.expiry == 1_514_764_800)
        #expect(entry.pins.count == 2)
    }

    @Test func okHTTPPinsAreRead() throws {
        let entries = try entries(.okHTTP, Self.okHTTP)
        #expect(entries.map(\.pins.count) == [2, 2])
        #expect(entries.map(\.includesHost) == [true, false])
    }

    @Test func curlAndTheHeaderNeedAHost() throws {
        let pins = try entries(.android, Self.android)[0].pins.map(\.key)
        let curl = pins.map { String(decoding: $0.text(.curl), as: UTF8.self) }.joined(separator: ";")
        #expect(try entries(.curl, curl + "\n", host: "example.com")[0].pins.map(\.key) == pins)
        #expect(throws: PinListFault.needsHost) { try entries(.curl, curl) }
        let header = pins.map { String(decoding: $0.text(.hpkp), as: UTF8.self) }.joined(separator: "; ")
        let entry = try entries(.hpkp, header + "; max-age=1; includeSubDomains", host: "example.com")[0]
        #expect(entry.pins.map(\.key) == pins)
        #expect(entry.subdomains == .anyDepth)
    }

    @Test func bareHashesNeedTheirCertificate() throws {
        let fields = try PinVector.all.prefix(2).map { try CertificateFields($0.certificate) }
        let text = try fields.map { Hex.encode(try RawKeyHash(of: $0).digest) }.joined(separator: [0x0A])
        let reader = PinListReader(.rawHex, host: Array("example.com".utf8), certificates: fields)
        #expect(try reader.entries(in: Array(text))[0].pins.map(\.key) == fields.map(\.pin))
        let other = PinListReader(.rawHex, host: Array("example.com".utf8), certificates: [fields[0]])
        #expect(throws: PinListFault.needsCertificate(try RawKeyHash(of: fields[1]))) {
            try other.entries(in: Array(text))
        }
    }

    @Test(arguments: [
        (PinListFormat.trustKit, PinListTests.trustKit), (.pinnedDomains, PinListTests.pinnedDomains),
        (.android, PinListTests.android), (.okHTTP, PinListTests.okHTTP),
    ]) func aListRoundTrips(format: PinListFormat, text: String) throws {
        let entries = try entries(format, text)
        let rules = try entries.flatMap { try $0.rules() }
        let policy = try PinPolicy(version: 1, rules: rules)
        let written = try PinListWriter(format).write(policy)
        #expect(try PinListReader(format).entries(in: written.text).flatMap { try $0.rules() } == rules)
    }

    @Test func informationLostInConversionIsNamed() throws {
        let policy = try PinPolicy(decoding: Array(PinPolicyTests.text.utf8))
        let name = Array("*.example.org".utf8)
        let curl = try PinListWriter(.curl).write(policy).losses
        #expect(
            Set(curl) == [
                .expiry(name), .tiers(name), .exclusions(name), .host(name), .widened(name),
                .widened(Array("example.org".utf8)), .trustOnly(Array("127.0.0.1".utf8)),
            ])
        #expect(
            Set(try PinListWriter(.okHTTP).write(policy).losses) == [
                .expiry(name), .tiers(name), .exclusions(name), .trustOnly(Array("127.0.0.1".utf8)),
            ])
        #expect(throws: PinListFault.cannotBeWritten) { try PinListWriter(.rawHex).write(policy) }
    }

    @Test(arguments: [
        ("<a>\n<b>\n</a>", 3), ("<a", 1), ("<a>&nbsp;</a>", 1), ("<a b=c/>", 1), ("<a b='1' b='2'/>", 1),
        ("<!DOCTYPE a [<!ENTITY x 'y'>]><a/>", 1), ("<a/><b/>", 1), ("", 1), ("<a><!-- </a>", 1),
    ]) func malformedXMLNamesItsLine(text: String, line: Int) {
        #expect(throws: PinListFault.malformed(line: line)) { try entries(.android, text) }
    }

    @Test func noMutationTraps() {
        var random = SeededGenerator(seed: 8)
        let texts: [(PinListFormat, String)] = [
            (.trustKit, Self.trustKit), (.pinnedDomains, Self.pinnedDomains), (.android, Self.android),
            (.okHTTP, Self.okHTTP),
        ]
        for (format, text) in texts {
            for _ in 0..<500 {
                var bytes = Array(text.utf8)
                let index = Int.random(in: 0..<bytes.count, using: &random)
                if Bool.random(using: &random) {
                    bytes.removeSubrange(index...)
                } else {
                    bytes[index] = UInt8.random(in: 0...255, using: &random)
                }
                if let entries = try? PinListReader(format).entries(in: bytes) {
                    for entry in entries { _ = try? entry.rules() }
                }
            }
        }
    }
}

@Suite struct FireDrillTests {
    private let keys = PinRuleTests.keys

    private func matches(_ pins: [Pin], _ paths: [[SPKIPin]]) throws -> [FireDrill.Event: Bool] {
        let drill = FireDrill(try PinRuleTests.rule(mode: .enforce, pins), paths: paths)
        return Dictionary(uniqueKeysWithValues: drill.rows.map { ($0.event, $0.match != nil) })
    }

    @Test func aPinnedKeyOfTheServerDoesNotSurviveItsRenewal() throws {
        let rows = try matches(
            [Pin(keys[0], tier: .leaf), Pin(keys[9], isBackup: true)], [[keys[0], keys[1], keys[2]]])
        #expect(
            rows == [
                .today: true, .leafRenewed: false, .authorityRotated(keys[1]): false, .rootRemoved(keys[2]): false,
                .movedToReserve: true,
            ])
    }

    @Test func aPinnedRootSurvivesAllButItsOwnRemoval() throws {
        let rows = try matches(
            [Pin(keys[2], tier: .root), Pin(keys[9], isBackup: true)], [[keys[0], keys[1], keys[2]]])
        #expect(
            rows == [
                .today: true, .leafRenewed: true, .authorityRotated(keys[1]): true, .rootRemoved(keys[2]): false,
                .movedToReserve: true,
            ])
    }

    @Test func aSecondPathSurvivesTheRemovalOfTheFirstOnesRoot() throws {
        let paths = [[keys[0], keys[1], keys[2]], [keys[0], keys[1], keys[3], keys[4]]]
        let rows = try matches([Pin(keys[1]), Pin(keys[9], isBackup: true)], paths)
        #expect(rows[.rootRemoved(keys[2])] == true)
        #expect(rows[.rootRemoved(keys[4])] == true)
        #expect(rows[.authorityRotated(keys[1])] == false)
    }

    @Test func aReserveKeyInTheChainIsNotAReserve() throws {
        let rows = try matches([Pin(keys[2]), Pin(keys[1], isBackup: true)], [[keys[0], keys[1], keys[2]]])
        #expect(rows[.movedToReserve] == false)
    }
}
