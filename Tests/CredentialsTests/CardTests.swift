// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Credentials
import Crypto
import JOSE
import SelectiveDisclosure
import StrictJSON
import Testing
import TokenStatusList

/// Cards that are made here, shown, and verified as any other.
struct CardTests {
    private let person = P256.Signing.PrivateKey()
    private let issuer = P256.Signing.PrivateKey()
    private let now: Int64 = 1_800_000_000
    private let trust = IssuerTrust(acceptsSelfIssued: true)

    private func sign(_ key: P256.Signing.PrivateKey) -> ([UInt8]) throws -> [UInt8] {
        { Array(try key.signature(for: $0).rawRepresentation) }
    }

    private func issued(_ draft: CredentialDraft, by key: P256.Signing.PrivateKey) throws -> HeldCredential {
        var generator = SystemRandomNumberGenerator()
        return try HeldCredential(decoding: try draft.issued(using: &generator) { try? sign(key)($0) })
    }

    private func card(_ fields: [BusinessCard.Field: String]) throws -> HeldCredential {
        try issued(
            BusinessCard(fields).draft(for: Array(person.publicKey.compressedRepresentation), until: now + 86_400),
            by: person)
    }

    private func shown(_ card: HeldCredential, _ names: Set<JSONText>, at time: Int64? = nil) throws -> [UInt8] {
        try ShownCard.presented(card, disclosing: names, at: time ?? now, sign: sign(person))
    }

    private func refusal(_ text: [UInt8], _ trust: IssuerTrust? = nil, at time: Int64? = nil) -> PresentationFault? {
        do throws(PresentationFault) {
            _ = try ShownCard.verify(
                text, types: [BusinessCard.type], trusting: trust ?? self.trust, at: time ?? now)
            return nil
        } catch { return error }
    }

    @Test func aSelfMadeCardShowsTheChosenClaims_asStatedByItsHolder() throws {
        let card = try card([.name: "Ming Λ", .email: "ming@example.org", .note: "call me"])
        let shown = try ShownCard.verify(
            try shown(card, ["name", "email"]), types: [BusinessCard.type], trusting: trust, at: now)
        let fields = BusinessCard.fields(in: shown.claims)
        #expect(fields.map(\.field) == [.name, .email] && fields.map(\.text) == ["Ming Λ", "ming@example.org"])
        #expect(shown.holder == WebKey(person.publicKey))
        guard case .holder = shown.issuer else { return #expect(Bool(false), "stated by the holder") }
    }

    /// The thief holds the whole card, but not the key.
    @Test func verify_refusesACardShownWithAnotherKey() throws {
        let card = try card([.name: "Ming"])
        let thief = P256.Signing.PrivateKey()
        let text = try ShownCard.presented(card, disclosing: ["name"], at: now, sign: sign(thief))
        #expect(refusal(text) == .bindingSignature)
        #expect(refusal(card.encoded) == .bindingMissing)
    }

    @Test func aShownCardIsAcceptedForTwoMinutes() throws {
        let text = try shown(card([.name: "Ming"]), ["name"])
        for (seconds, expected) in [
            (-60, nil), (0, nil), (59, nil), (119, nil), (120, nil), (121, .bindingTime), (-61, .bindingTime),
        ]
            as [(Int64, PresentationFault?)]
        {
            #expect(refusal(text, at: now + seconds) == expected, "\(seconds)")
        }
        for seconds in Int64(0)..<60 {
            let text = try shown(card([.name: "Ming"]), ["name"], at: now + seconds)
            #expect(refusal(text, at: now + seconds + 120) == nil && refusal(text, at: now + seconds - 60) == nil)
        }
    }

    /// The card stands behind the mark, which browsers do not send; whoever reads the link finds it there, unchanged.
    @Test func aLinkHasTheCardBehindItsMark() throws {
        let text = try shown(card([.name: "Ming"]), ["name"])
        for address in ["https://directory.example", "https://directory.example/", "https://directory.example:8443"] {
            let link = ShownCardLink.link(at: address, text)
            #expect(link.firstIndex(of: UInt8(ascii: "#")).map { link[$0...].dropFirst().elementsEqual(text) } == true)
            #expect(ShownCardLink.card(in: link) == text)
        }
        #expect(ShownCardLink.link(at: "https://a.example", [65]) == Array("https://a.example/card#A".utf8))
        // As it may come after its way through other programs; the page reads it so too.
        let link = String(decoding: ShownCardLink.link(at: "https://a.example", text), as: UTF8.self)
        for changed in [
            link.replacing("~", with: "%7E"), link.replacing("~", with: "%7e"), link.replacing("https", with: "HTTPS"),
            "  " + link, link + " ", link + "%20", link + ":~:text=Ming",
        ] {
            #expect(ShownCardLink.card(in: Array(changed.utf8)) == text, "\(changed)")
        }
        for other in [text, Array("https://a.example/card".utf8), Array("http://a.example/card#A".utf8), []] {
            #expect(ShownCardLink.card(in: other) == other)
        }
    }

    @Test func aShownCardSaysWhenItWasShown() throws {
        let text = try shown(card([.name: "Ming"]), ["name"], at: now - 7)
        let trust = IssuerTrust(acceptsSelfIssued: true)
        #expect(try ShownCard.verify(text, types: [BusinessCard.type], trusting: trust, at: now).signedAt == now - 7)
    }

    /// Somebody gives a good card of another person.
    @Test func aCardThatAnotherKeyHasSignedIsNotTheirs() throws {
        let text = try shown(card([.name: "Ming"]), ["name"])
        let own = Array(person.publicKey.compressedRepresentation)
        let other = Array(P256.Signing.PrivateKey().publicKey.compressedRepresentation)
        #expect(try BusinessCard.shown(text, by: own, at: now) != nil)
        #expect(try BusinessCard.shown(text, by: other, at: now) == nil)
        #expect(throws: PresentationFault.bindingTime) { try BusinessCard.shown(text, by: own, at: now + 121) }
    }

    /// A shown card is no login at a site, and an answer to a site is no shown card.
    @Test func aShownCardIsRefusedByASite_andAnAnswerToASiteIsNoCard() throws {
        let card = try card([.name: "Ming"])
        let request = VerificationRequest(
            types: [BusinessCard.type], binding: .init(audience: "x509_san_dns:shop.example", nonce: "30000000"))
        #expect(throws: PresentationFault.bindingAudience) {
            try PresentationVerifier.verify(try shown(card, ["name"]), for: request, trusting: trust, at: now)
        }
        let answer = try card.presented(
            disclosing: { _ in true }, audience: "x509_san_dns:shop.example", nonce: "30000000", at: now,
            sign: sign(person))
        #expect(refusal(answer) == .bindingAudience)
        let old = try card.presented(
            disclosing: { _ in true }, audience: ShownCard.audience, nonce: "29999990", at: now, sign: sign(person))
        #expect(refusal(old) == .bindingNonce)
    }

    @Test func verify_refusesACardInAnotherHoldersName() throws {
        let draft = try BusinessCard([.name: "Ming"]).draft(
            for: Array(person.publicKey.compressedRepresentation), until: now + 9)
        #expect(refusal(try shown(issued(draft, by: issuer), ["name"])) == .issuerSignature)
        var other = draft
        other.holder = WebKey(issuer.publicKey)
        let text = try ShownCard.presented(
            issued(other, by: person), disclosing: ["name"], at: now, sign: sign(issuer))
        #expect(refusal(text) == .issuerDID)
        #expect(refusal(try shown(issued(draft, by: person), ["name"]), IssuerTrust()) == .issuerUntrusted)
    }

    @Test func aCardExpiresAtTheEndOfADay() throws {
        let card = try card([.name: "Ming"])
        let end = card.payload["exp"]?.integer ?? 0
        #expect(end.isMultiple(of: 86_400) && end > now + 86_400 && end <= now + 2 * 86_400)
        #expect(card.payload["iat"] == nil && card.payload["sub"] == nil && card.payload["jti"] == nil)
        #expect(refusal(try shown(card, ["name"], at: end), at: end) == .expired)
        #expect(refusal(try shown(card, ["name"], at: end - 1), at: end - 1) == nil)
    }

    @Test func aCardOfOneLineHasAtMost1000Bytes() throws {
        #expect(try shown(card([.name: "Ming Lee"]), ["name"]).count <= 1000)
    }

    @Test func isCard_acceptsTheHoldersKeyOnly() throws {
        let card = try card([.name: "Ming", .email: "ming@example.org"])
        #expect(BusinessCard.fields(of: card).map(\.text) == ["Ming", "ming@example.org"])
        #expect(BusinessCard.isCard(card, of: Array(person.publicKey.compressedRepresentation)))
        #expect(!BusinessCard.isCard(card, of: Array(issuer.publicKey.compressedRepresentation)))
        #expect(!BusinessCard.isCard(card, of: []))
        var other = try BusinessCard([.name: "Ming"]).draft(
            for: Array(person.publicKey.compressedRepresentation), until: now)
        other.open["vct"] = .string("urn:other")
        #expect(
            !BusinessCard.isCard(try issued(other, by: person), of: Array(person.publicKey.compressedRepresentation)))
        #expect(throws: BusinessCardFault.key) { try BusinessCard([.name: "Ming"]).draft(for: [2], until: now) }
    }

    @Test func businessCard_refusesMissingNamesAndUnreadableText() {
        #expect(throws: BusinessCardFault.noName) { try BusinessCard([.email: "ming@example.org"]) }
        #expect(throws: BusinessCardFault.length(.email)) { try BusinessCard([.name: "Ming", .email: ""]) }
        let long = String(repeating: "a", count: 201)
        #expect(throws: BusinessCardFault.length(.name)) { try BusinessCard([.name: long]) }
        for text in [
            "a\u{1B}[2J", "a\nb", "a\u{0}", "a\u{9B}", "https://evil\u{202E}moc.knab", "a\u{2066}b", "a\u{200B}b",
            "a\u{2028}b",
        ] {
            #expect(throws: BusinessCardFault.control(.name)) { try BusinessCard([.name: text]) }
        }
        #expect(throws: Never.self) { try BusinessCard([.name: "Ming \u{1F469}\u{200D}\u{1F4BB}"]) }
    }

    // MARK: Cards of an issuer

    private func member(_ claims: JSONObject = ["member": .bool(true), "tier": .string("crew")]) -> MemberCard {
        MemberCard(
            issuer: "https://cred.example", type: "https://cred.example/member/1", claims: claims, expiry: now + 9)
    }

    private func copies(_ count: Int64) throws -> (keys: [P256.Signing.PrivateKey], copies: [MemberCard.Copy]) {
        let keys = (0..<count).map { _ in P256.Signing.PrivateKey() }
        return (
            keys,
            try keys.enumerated().map { place, key in
                MemberCard.Copy(
                    holder: WebKey(key.publicKey),
                    status: try StatusReference(uri: "https://cred.example/lists/1", index: Int64(place)))
            }
        )
    }

    @Test func anIssuersCardIsShownToASite_andItsStatusFollowsTheIssuersList() throws {
        let (keys, copies) = try copies(3)
        let cards = try member().drafts(copies).map { try issued($0, by: issuer) }
        let text = try cards[1].presented(
            disclosing: { $0.name == "member" }, audience: "x509_san_dns:shop.example", nonce: "n", at: now,
            sign: sign(keys[1]))
        let request = VerificationRequest(
            types: ["https://cred.example/member/1"], requiredClaims: [["member"]],
            binding: .init(audience: "x509_san_dns:shop.example", nonce: "n"))
        let shown = try PresentationVerifier.verify(
            text, for: request,
            trusting: IssuerTrust(issuers: [TrustedIssuer(identifier: "https://cred.example", key: issuer.publicKey)]),
            at: now)
        #expect(shown.claims["member"] == .bool(true) && shown.claims["tier"] == nil)
        let reference = try StatusReference(try #require(shown.status))
        var list = try StatusListDraft(count: 100_000)
        func status() throws -> UInt8 {
            let token = try list.signed(for: reference, at: now, sign: sign(issuer))
            return try StatusListVerifier.verify(token, for: reference, signedBy: issuer.publicKey, at: now)
                .status(at: reference.index)
        }
        #expect(try status() == 0)
        try list.set(1, at: 1)
        #expect(try status() == 1)
    }

    /// RFC 9901, appendix A.5: the keys of the specification's issuer and holder.
    @Test func aCardIsIssuedAndShownWithTheKeysOfTheSpecification() throws {
        func key(_ secret: String, _ x: JSONText, _ y: JSONText) throws -> P256.Signing.PrivateKey {
            let key = try P256.Signing.PrivateKey(rawRepresentation: Base64URL.decode(Array(secret.utf8)))
            let published: JSONObject = [
                "kty": .string("EC"), "crv": .string("P-256"), "x": .string(x), "y": .string(y),
            ]
            #expect(try WebKey(published) == WebKey(key.publicKey))
            return key
        }
        let issuer = try key(
            "Ur2bNKuBPOrAaxsRnbSH6hIhmNTxSGXshDSUD1a1y7g", "b28d4MwZMjw8-00CG4xfnn9SLMVMM19SlqZpVb_uNtQ",
            "Xv5zWwuoaTgdS6hV43yI6gBwTnjukmFQQnJ_kCxzqk8")
        let holder = try key(
            "5K5SCos8zf9zRemGGUl6yfok-_NiiryNZsvANWMhF-I", "TCAER19Zvu3OHF4j4W4vfSVoHIP1ILilDls7vCeGemc",
            "ZxjiWWbZMQGHVWKVQ4hbSIirsVfuecCE6t4jT9F2HZQ")
        let draft = try member().drafts([.init(holder: WebKey(holder.publicKey), status: nil)])[0]
        let text = try issued(draft, by: issuer).presented(
            disclosing: { $0.name == "tier" }, audience: "x509_san_dns:shop.example", nonce: "n", at: now,
            sign: sign(holder))
        let request = VerificationRequest(
            types: ["https://cred.example/member/1"], binding: .init(audience: "x509_san_dns:shop.example", nonce: "n"))
        let trust = IssuerTrust(
            issuers: [TrustedIssuer(identifier: "https://cred.example", key: issuer.publicKey)])
        let shown = try PresentationVerifier.verify(text, for: request, trusting: trust, at: now)
        #expect(shown.claims["tier"] == .string("crew") && shown.claims["member"] == nil)
    }

    /// Two copies, as two sites together hold them: they share only the members that all cards of the issuer have.
    @Test func twoCopiesShareOnlyTheMembersOfAllCards() throws {
        let (_, copies) = try copies(2)
        let texts = try member().drafts(copies).map { try issued($0, by: issuer) }
        let digests = texts.map { Set($0.payload["_sd"]?.strings ?? []) }
        #expect(digests[0].isDisjoint(with: digests[1]) && digests.allSatisfy { $0.count == 8 })
        #expect(Set(texts[0].disclosures).isDisjoint(with: texts[1].disclosures))
        #expect(texts[0].payload["cnf"] != texts[1].payload["cnf"])
        #expect(texts[0].payload["status"] != texts[1].payload["status"])
        let common = texts[0].payload.names.filter { texts[0].payload[$0] == texts[1].payload[$0] }
        #expect(common == ["exp", "iss", "vct"])
    }

    @Test func drafts_refuseClaimsAndKeysThatLinkCopies() throws {
        let (_, copies) = try copies(2)
        #expect(throws: MemberCardFault.keyTwice) {
            try member().drafts([copies[0], .init(holder: copies[0].holder, status: nil)])
        }
        #expect(throws: MemberCardFault.entryTwice) {
            try member().drafts([copies[0], .init(holder: copies[1].holder, status: copies[0].status)])
        }
        for name in ["sub", "jti", "iat"] as [JSONText] {
            #expect(throws: MemberCardFault.identifier(name)) {
                try member(JSONObject([name: .string("1")])).drafts(copies)
            }
        }
        var card = member()
        card.digestCount = 1
        #expect(throws: MemberCardFault.digestCount) { try card.drafts(copies) }
    }
}
