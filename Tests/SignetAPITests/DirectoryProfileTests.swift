// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import KeyPinning
import KeyTransparency
import SignetAPI
import Testing
import TransparencyLog
import VRF

/// The file in which all trust in a directory begins.
@Suite struct DirectoryProfileTests {
    let profile: DirectoryProfile

    init() throws {
        let name = try KeyName(Array("example.org/log".utf8))
        let log = try NoteSigner(name: name, algorithm: .ed25519, seed: [UInt8](repeating: 1, count: 32))
        let clock = try NoteSigner(
            name: KeyName(Array("example.org/clock".utf8)), algorithm: .cosignatureV1,
            seed: [UInt8](repeating: 2, count: 32))
        let clockName = try #require(Policy.Name(Array("clock".utf8)))
        let policy = try Policy(
            logs: [Policy.Log(key: log.verifierKey)],
            witnesses: [Policy.Witness(name: clockName, key: clock.verifierKey)], quorum: .member(clockName))
        profile = DirectoryProfile(
            url: "https://localhost:8443", tlsRoot: [0x30, 0x82, 1, 2],
            pins: [
                Pin(SPKIPin(hashing: [1]), tier: .leaf), Pin(SPKIPin(hashing: [2]), tier: nil, isBackup: true),
            ],
            trust: DirectoryTrust(
                policy: policy,
                vrfKey: try VRFPrivateKey([5] + [UInt8](repeating: 0, count: 31)).publicKey,
                freshness: .standard))
    }

    @Test func aProfileRoundTrips() throws {
        #expect(try DirectoryProfile(decoding: profile.encoded) == profile)
    }

    @Test func aFileWithoutPinsIsRead() throws {
        let bare = DirectoryProfile(url: profile.url, tlsRoot: profile.tlsRoot, pins: [], trust: profile.trust)
        #expect(try DirectoryProfile(decoding: bare.encoded) == bare)
    }

    @Test func everyTruncationIsRefusedOrIsAnotherPolicy() throws {
        let bytes = profile.encoded
        for count in 0..<bytes.count {
            #expect(throws: DirectoryProfileError.self, "cut to \(count)") {
                try DirectoryProfile(decoding: Array(bytes.prefix(count)))
            }
        }
    }

    @Test(arguments: [
        ("signet-directory/v1", "signet-directory/v2", DirectoryProfileError.unknownFormat),
        ("url https", "url http", .invalidLine("url")), ("localhost", "local host", .invalidLine("url")),
        ("tls-root M", "tls-root *", .invalidLine("tls-root")), ("vrf ", "vrf A", .invalidLine("vrf")),
        ("tls-pin leaf", "tls-pin left", .invalidLine("tls-pin")),
        ("tls-pin leaf sha256/", "tls-pin leaf sha256//", .invalidLine("tls-pin")),
        ("tls-backup any", "tls-backup any ", .invalidLine("tls-backup")),
        ("tls-backup", "tls-spare", .invalidLine("vrf")),
        ("maximum-age 8", "maximum-age +8", .invalidLine("maximum-age")),
        ("maximum-age", "minimum-age", .invalidLine("maximum-age")),
        ("86400\n\n", "86400\n", .policyMissing),
    ]) func namesTheFaultyLine(part: String, other: String, expected: DirectoryProfileError) throws {
        let text = String(decoding: profile.encoded, as: UTF8.self)
        let edited = text.replacing(part, with: other, maxReplacements: 1)
        #expect(edited != text)
        #expect(throws: expected) { try DirectoryProfile(decoding: Array(edited.utf8)) }
    }

    @Test func aPolicyMistakeIsPassedOn() throws {
        let text = String(decoding: profile.encoded, as: UTF8.self)
        let edited = text.replacing("quorum clock", with: "quorum nobody")
        let error = #expect(throws: DirectoryProfileError.self) {
            try DirectoryProfile(decoding: Array(edited.utf8))
        }
        guard case .policy = error else {
            Issue.record("refused by \(String(describing: error))")
            return
        }
    }

    @Test func aLongFileIsRefusedUnread() {
        let count = DirectoryProfile.maximumByteCount + 1
        #expect(throws: DirectoryProfileError.tooLong(count)) {
            try DirectoryProfile(decoding: [UInt8](repeating: 10, count: count))
        }
    }
}
