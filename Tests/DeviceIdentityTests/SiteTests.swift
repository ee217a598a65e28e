// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import Testing

@Suite struct HostTests {
    @Test func aHostIsWrittenWithoutTheUsualPort() throws {
        #expect(try host("shop.example").text == bytes("shop.example"))
        #expect(try host("shop.example", port: 8443).text == bytes("shop.example:8443"))
        #expect(try host("xn--bcher-kva.example").text == bytes("xn--bcher-kva.example"))
        #expect(try host("shop.localhost").text == bytes("shop.localhost"))
    }

    @Test(arguments: [
        "", "example", "Shop.example", "shop.example.", ".example", "a..example", "shop example", "shop.example/b",
        "shop_1.example", "-shop.example", "shop-.example", "127.0.0.1", "[::1]", "::1", "bücher.example",
        "shop.example:443", "shop.example:8443", "user@shop.example", "shop.example\n", "shop.example\u{0}",
    ])
    func anotherSpellingIsNoHost(_ text: String) {
        #expect(throws: VerifiedHostError.self) { try host(text) }
    }

    @Test func aHostTooLongIsRefused() {
        let long = Array(repeating: "a23456789", count: 26).joined(separator: ".")
        #expect(throws: VerifiedHostError.invalidLength(259)) { try host(long) }
        #expect(throws: VerifiedHostError.invalidLabel) { try host(String(repeating: "a", count: 64) + ".example") }
        #expect(throws: VerifiedHostError.invalidPort) { try host("shop.example", port: 0) }
    }

    /// The maps that gave one alias to two sites: path characters, case, ports, prefixes.
    @Test func noTwoHostsShareAKeyName() throws {
        let hosts = try [
            host("a.example"), host("a-example.example"), host("a.example", port: 8443), host("aexample.example"),
            host("b.a.example"), host("a.example.example"),
        ]
        #expect(Set(hosts.map { PrivateKeyName.site($0) }).count == hosts.count)
        for one in hosts {
            let name = PrivateKeyName.site(one)
            #expect(PrivateKeyName(stored: name.bytes) == name && name != .identity)
        }
    }

    @Test(arguments: ["", "a b", "A", "a/b", "a.b", "\u{E4}", String(repeating: "a", count: 97)])
    func keyName_refusesOtherCharacters(_ text: String) { #expect(PrivateKeyName(stored: bytes(text)) == nil) }
}

@Suite struct SiteIdentityTests {
    private func identity(_ name: String, key: P256.Signing.PrivateKey = .init()) throws -> SiteIdentity {
        try SiteIdentity(
            host: host(name), publicKey: key.publicBytes, recoveryKey: P256.Signing.PrivateKey().publicBytes,
            createdAt: 1_700_000_000)
    }

    @Test func anUnknownSiteGetsNoIdentityAtAll() throws {
        var sites = SiteIdentities()
        try sites.add(identity("shop.example"))
        for other in ["www.shop.example", "shop.example.evil.example", "hop.example"] {
            #expect(throws: SiteIdentityError.unknownSite) { try sites.identity(for: host(other)) }
        }
        #expect(throws: SiteIdentityError.unknownSite) { try sites.identity(for: host("shop.example", port: 8443)) }
    }

    @Test func aKeyServesOneSite() throws {
        var sites = SiteIdentities()
        let key = P256.Signing.PrivateKey()
        try sites.add(identity("shop.example", key: key))
        #expect(throws: SiteIdentityError.keyUsedElsewhere) { try sites.add(identity("bank.example", key: key)) }
        #expect(throws: SiteIdentityError.knownSite) { try sites.add(identity("shop.example")) }
    }

    @Test func siteIdentity_refusesMalformedOrEqualKeys() throws {
        let key = P256.Signing.PrivateKey().publicBytes
        let wrong: [([UInt8], [UInt8])] = [(key, key), (key, []), ([], key), (key, Array([4] + key.dropFirst()))]
        for (one, other) in wrong {
            #expect(throws: SiteIdentityError.invalidKey) {
                try SiteIdentity(host: host("a.example"), publicKey: one, recoveryKey: other, createdAt: 0)
            }
        }
    }

    @Test func aReplacementHasNothingOfTheOldOne() throws {
        var sites = SiteIdentities()
        let old = try identity("shop.example")
        try sites.add(old)
        let half = try SiteIdentity(
            host: old.host, publicKey: P256.Signing.PrivateKey().publicBytes, recoveryKey: old.recoveryKey,
            createdAt: 1)
        #expect(throws: SiteIdentityError.keyUsedElsewhere) { try sites.replace(with: half) }
        let new = try identity("shop.example")
        try sites.replace(with: new)
        #expect(try sites.identity(for: old.host) == new)
        #expect(throws: SiteIdentityError.unknownSite) { try sites.replace(with: identity("bank.example")) }
    }

    @Test func theListOfIdentitiesRoundTrips() throws {
        var sites = SiteIdentities()
        #expect(try SiteIdentities(decoding: sites.encoded) == sites)
        for name in ["b.example", "a.example", "c.example"] { try sites.add(identity(name)) }
        #expect(try SiteIdentities(decoding: sites.encoded) == sites)
        #expect(sites.all.map(\.host.text) == [bytes("a.example"), bytes("b.example"), bytes("c.example")])
        let encoded = sites.encoded
        for cut in 0..<encoded.count {
            #expect(throws: SiteIdentityError.self) { try SiteIdentities(decoding: Array(encoded.prefix(cut))) }
        }
        #expect(throws: SiteIdentityError.self) { try SiteIdentities(decoding: encoded + [0]) }
    }

    @Test func aForgottenSiteIsUnknown() throws {
        var sites = SiteIdentities()
        try sites.add(identity("shop.example"))
        sites.forget(try host("shop.example"))
        #expect(sites.all.isEmpty)
    }
}

@Suite struct SiteStatementTests {
    let key = P256.Signing.PrivateKey()
    let recovery = P256.Signing.PrivateKey()
    let challenge = [UInt8](repeating: 7, count: 32)
    let other = [UInt8](repeating: 8, count: 32)

    private func registration(_ name: String = "shop.example") throws -> SiteRegistration {
        try SiteRegistration(
            at: host(name), challenge: challenge, publicKey: key.publicBytes, recoveryKey: recovery.publicBytes,
            signing: key.rawSignature)
    }

    @Test func aSiteReadsARegistration() throws {
        let made = try registration()
        #expect(made.encoded.count == SiteRegistration.byteCount)
        let read = try SiteRegistration(decoding: made.encoded, at: host("shop.example"), challenge: challenge)
        #expect(read == made)
    }

    @Test func aRegistrationIsForOneSiteAndOneChallenge() throws {
        let encoded = try registration().encoded
        #expect(throws: SiteStatementError.invalidSignature) {
            try SiteRegistration(decoding: encoded, at: host("bank.example"), challenge: challenge)
        }
        #expect(throws: SiteStatementError.anotherChallenge) {
            try SiteRegistration(decoding: encoded, at: host("shop.example"), challenge: other)
        }
    }

    @Test func everyFlippedBitOfARegistrationIsRefused() throws {
        let encoded = try registration().encoded
        for bit in 0..<(encoded.count * 8) {
            var changed = encoded
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(throws: SiteStatementError.self) {
                try SiteRegistration(decoding: changed, at: host("shop.example"), challenge: challenge)
            }
        }
        #expect(throws: SiteStatementError.invalidLength(163)) {
            try SiteRegistration(decoding: encoded + [0], at: host("shop.example"), challenge: challenge)
        }
    }

    @Test func aSignInHoldsForOneKeySiteAndChallenge() throws {
        let made = try SiteSignIn(
            at: host("shop.example"), challenge: challenge, publicKey: key.publicBytes, signing: key.rawSignature)
        func verify(_ name: String, _ challenge: [UInt8], _ key: [UInt8]) throws {
            _ = try SiteSignIn(made.signature, at: host(name), challenge: challenge, publicKey: key)
        }
        #expect(throws: Never.self) { try verify("shop.example", challenge, key.publicBytes) }
        #expect(throws: SiteStatementError.invalidSignature) {
            try verify("bank.example", challenge, key.publicBytes)
        }
        #expect(throws: SiteStatementError.invalidSignature) { try verify("shop.example", other, key.publicBytes) }
        #expect(throws: SiteStatementError.invalidSignature) {
            try verify("shop.example", challenge, recovery.publicBytes)
        }
        #expect(throws: SiteStatementError.invalidChallenge(31)) {
            try verify("shop.example", Array(challenge.dropLast()), key.publicBytes)
        }
    }

    @Test func aFailingSignerIsReported() throws {
        struct Failure: Error {}
        #expect(throws: SiteStatementError.signingFailed) {
            try SiteSignIn(
                at: host("shop.example"), challenge: challenge, publicKey: key.publicBytes,
                signing: { _ in throw Failure() })
        }
    }

    private func recover(
        _ name: String, with signer: P256.Signing.PrivateKey, new: P256.Signing.PrivateKey = .init()
    ) throws -> SiteRecovery {
        try SiteRecovery(
            at: host(name), challenge: challenge, oldRecoveryKey: recovery.publicBytes, publicKey: new.publicBytes,
            recoveryKey: P256.Signing.PrivateKey().publicBytes, recovering: signer.rawSignature,
            signing: new.rawSignature)
    }

    @Test func aSiteTakesNewKeysFromTheRecoveryKeyItHasOnFile() throws {
        let made = try recover("shop.example", with: recovery)
        #expect(made.encoded.count == SiteRecovery.byteCount)
        let read = try SiteRecovery(
            decoding: made.encoded, at: host("shop.example"), challenge: challenge,
            oldRecoveryKey: recovery.publicBytes)
        #expect(read == made)
        #expect(throws: SiteStatementError.invalidSignature) { try recover("shop.example", with: key) }
        #expect(throws: SiteStatementError.invalidSignature) {
            try SiteRecovery(
                decoding: made.encoded, at: host("bank.example"), challenge: challenge,
                oldRecoveryKey: recovery.publicBytes)
        }
        #expect(throws: SiteStatementError.invalidKey) { try recover("shop.example", with: recovery, new: recovery) }
    }

    /// Two sites compare every field that they hold of one person, before and after a recovery.
    @Test func colludingSitesFindNoEqualField() throws {
        var held: [[UInt8]] = []
        for name in ["shop.example", "bank.example"] {
            let (key, recovery, new) = (
                P256.Signing.PrivateKey(), P256.Signing.PrivateKey(), P256.Signing.PrivateKey()
            )
            let challenge = Array(SHA256.hash(data: bytes(name)))
            let before = try SiteRegistration(
                at: host(name), challenge: challenge, publicKey: key.publicBytes, recoveryKey: recovery.publicBytes,
                signing: key.rawSignature)
            let after = try SiteRecovery(
                at: host(name), challenge: challenge, oldRecoveryKey: recovery.publicBytes,
                publicKey: new.publicBytes, recoveryKey: P256.Signing.PrivateKey().publicBytes,
                recovering: recovery.rawSignature, signing: new.rawSignature)
            held += [before.publicKey, before.recoveryKey, before.signature]
            held += [after.publicKey, after.recoveryKey, after.signature, after.recoverySignature]
        }
        #expect(Set(held).count == held.count)
    }
}
