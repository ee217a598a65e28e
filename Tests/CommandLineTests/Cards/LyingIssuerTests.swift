// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Issuance
import IssuerServer
import JOSE
import SeededRandomness
import SelectiveDisclosure
import StrictJSON
import Testing

/// An issuer that lies, over TLS, to members in processes of their own. Each lie is the only one, and no copy is kept.
@Suite struct LyingIssuerTests {
    private typealias Cards = @Sendable (LyingIssuer, [WebKey]) throws -> [[UInt8]]

    private func get(_ town: Town, _ issuer: LyingIssuer, _ link: [UInt8]) async throws -> Exit {
        try await town.signet([
            "cards", "get", String(decoding: link, as: UTF8.self), "--copies", "2", "--roots", issuer.roots, "--yes",
            "--home", "alice",
        ])
    }

    private func count(_ town: Town) async throws -> Int? {
        (try await town.signet("alice", "cards", "list", "--json").object()["cards"] as? [Any])?.count
    }

    /// Expects that these cards are refused in these words, and that the honest ones are added afterwards.
    private func expectRefused(_ words: String, _ lies: [(String, Cards)]) async throws {
        try await Town.with { town in
            try await LyingIssuer.with(town) { issuer in
                let offer = try issuer.offer()
                for (name, cards) in lies {
                    issuer.lie(.cards(cards))
                    let exit = try await get(town, issuer, offer.link)
                    #expect(exit.status == 1 || exit.status == 64, "\(name): \(exit.output) \(exit.errors)")
                    #expect(exit.complaint.contains(words), "\(name): \(exit.errors)")
                    #expect(try await count(town) == 0, "\(name)")
                }
                issuer.lie(.none)
                expect(0, try await get(town, issuer, offer.link))
                #expect(try await count(town) == 1)
            }
        }
    }

    @Test func cardsForOtherKeysAreNotKept() async throws {
        try await expectRefused(
            "not for a key that waits here",
            [
                (
                    "another person's",
                    { issuer, keys in
                        let others = keys.map { _ in WebKey(P256.Signing.PrivateKey().publicKey) }
                        return try issuer.drafts(others).map { try issuer.signed($0) }
                    }
                ),
                (
                    "one key twice",
                    { issuer, keys in
                        var drafts = try issuer.drafts(keys)
                        drafts[1].holder = keys[0]
                        return try drafts.map { try issuer.signed($0) }
                    }
                ),
            ])
    }

    @Test func moreOrFewerCardsThanKeysAreNotKept() async throws {
        try await expectRefused(
            "something else than the card (count)",
            [("one of two", { issuer, keys in [try issuer.signed(issuer.drafts(keys)[0])] })])
    }

    @Test func cardsOfAnUnknownIssuerAreNotKept() async throws {
        try await expectRefused(
            "The issuer that you named did not make this card",
            [
                (
                    "of an authority that nobody trusts",
                    { issuer, keys in
                        var drafts = try issuer.drafts(keys)
                        for place in drafts.indices { drafts[place].certificates = try issuer.certificates(row: "26") }
                        return try drafts.map { try issuer.signed($0) }
                    }
                )
            ])
    }

    /// The same authority has certified another host, for the same key.
    @Test func cardsOfAnotherIssuerThanTheConnectionsAreNotKept() async throws {
        try await expectRefused(
            "is not the issuer of this card",
            [
                (
                    "of another host",
                    { issuer, keys in
                        var drafts = try issuer.drafts(keys)
                        for place in drafts.indices { drafts[place].certificates = try issuer.certificates(row: "29") }
                        return try drafts.map { try issuer.signed($0) }
                    }
                )
            ])
    }

    @Test func cardsOfAnotherTypeAreNotKept() async throws {
        try await expectRefused(
            "sent another card than it offered",
            [
                (
                    "another type",
                    { issuer, keys in
                        try issuer.drafts(keys, type: "urn:signet:age:1").map { try issuer.signed($0) }
                    }
                )
            ])
    }

    @Test func cardsThatStateDifferentThingsAreNotKept() async throws {
        try await expectRefused(
            "copies of different cards",
            [
                (
                    "another name",
                    { issuer, keys in
                        var drafts = try issuer.drafts(keys)
                        drafts[1].hidden["name"] = .string("Alice Li")
                        return try drafts.map { try issuer.signed($0) }
                    }
                )
            ])
    }

    /// Two sites would find something equal in two copies.
    @Test func copiesThatSitesCouldLinkAreNotKept() async throws {
        func marked(_ mark: @escaping @Sendable (inout JSONObject) -> Void) -> Cards {
            { issuer, keys in
                var drafts = try issuer.drafts(keys)
                for place in drafts.indices { mark(&drafts[place].open) }
                return try drafts.map { try issuer.signed($0) }
            }
        }
        try await expectRefused(
            "Sites could find out from the copies",
            [
                (
                    "the salt of one claim is that of another in the second copy",
                    { issuer, keys in
                        try issuer.drafts(keys).enumerated().map { place, draft in
                            var generator = SeededGenerator(seed: 1)
                            for _ in 0..<16 * place { _ = generator.next() }
                            return try issuer.signed(draft, using: generator)
                        }
                    }
                ),
                (
                    "the digests that stand for nothing are the same",
                    { issuer, keys in
                        try issuer.drafts(keys).enumerated().map { place, draft in
                            try issuer.signed(draft, using: JoinedGenerator(UInt64(place), count: 32, then: 9))
                        }
                    }
                ),
                (
                    "another number of digests",
                    { issuer, keys in
                        var drafts = try issuer.drafts(keys)
                        drafts[1].digestCount += 1
                        return try drafts.map { try issuer.signed($0) }
                    }
                ),
                (
                    "an entry of the status list twice",
                    marked { $0["status"] = .object(Self.entry("https://localhost/status/1")) }
                ),
                (
                    "a mark in the address of the status list",
                    { issuer, keys in
                        var drafts = try issuer.drafts(keys)
                        drafts[0].open["status"] = .object(Self.entry("https://localhost/status/1?for=alice"))
                        return try drafts.map { try issuer.signed($0) }
                    }
                ),
                ("an identifier", marked { $0["jti"] = .string("alice") }),
                ("the second at which it was made", marked { $0["iat"] = .integer(1_700_000_001) }),
                ("a second at which it expires", marked { $0["exp"] = .integer(($0["exp"]?.integer ?? 0) + 1) }),
                (
                    "a mark in the header",
                    { issuer, keys in
                        try issuer.drafts(keys).map { draft in
                            try issuer.signed(issuer.signed(draft)) { $0["kid"] = .string("alice") }
                        }
                    }
                ),
            ])
    }

    private static func entry(_ address: JSONText) -> JSONObject {
        ["status_list": .object(["uri": .string(address), "idx": .integer(0)])]
    }

    // MARK: What it says of itself

    @Test func anIssuerThatSpeaksForAnotherIsRefused() async throws {
        try await Town.with { town in
            try await LyingIssuer.with(town) { issuer in
                let offer = try issuer.offer()
                let other: JSONValue = .string("https://bank.example")
                for lie: LyingIssuer.Lie in [
                    .document(.metadata) { $0["credential_issuer"] = other },
                    .document(.server) { $0["issuer"] = other },
                    .document(.metadata) { $0["authorization_servers"] = .array([other]) },
                    .document(.server) { $0["token_endpoint"] = .string("https://bank.example/token") },
                    .document(.metadata) { $0["credential_endpoint"] = .string("https://bank.example/credential") },
                ] {
                    issuer.lie(lie)
                    let exit = try await get(town, issuer, offer.link)
                    expect(1, exit)
                    #expect(exit.complaint.contains("is of another host than"), "\(exit.errors)")
                }
                issuer.lie(.document(.metadata) { $0["credential_configurations_supported"] = .object([:]) })
                let exit = try await get(town, issuer, offer.link)
                #expect(exit.complaint.contains("a kind that Signet does not carry"))
                issuer.lie(.none)
                expect(0, try await get(town, issuer, offer.link))
            }
        }
    }

    @Test func anOfferAtTheAddressOfAnotherHostIsRefused() async throws {
        try await Town.with { town in
            try await LyingIssuer.with(town) { issuer in
                let address =
                    "https%3A%2F%2Flocalhost%3A\(issuer.port)\(LyingIssuer.referencePath.replacing("/", with: "%2F"))"
                let link = Array("openid-credential-offer://?credential_offer_uri=\(address)".utf8)
                let honest = try issuer.offer()
                issuer.lie(
                    .offer(
                        try CredentialOffer(
                            of: honest.configuration, by: IssuerName("https://bank.example"), code: honest.code,
                            transactionCode: nil)))
                let exit = try await get(town, issuer, link)
                expect(1, exit)
                #expect(exit.complaint.contains("is of another host than"))
                issuer.lie(.offer(honest))
                expect(0, try await get(town, issuer, link))
            }
        }
    }

    @Test func tokensAndNoncesThatAreNoneAreRefused() async throws {
        try await Town.with { town in
            try await LyingIssuer.with(town) { issuer in
                let offer = try issuer.offer()
                for (lie, word): (LyingIssuer.Lie, String) in [
                    (.document(.token) { $0["token_type"] = .string("Bearer") }, "token"),
                    (.document(.nonce) { $0["c_nonce"] = nil }, "nonce"),
                    (.document(.credential) { $0["credentials"] = nil }, "credentials"),
                ] {
                    issuer.lie(lie)
                    let exit = try await get(town, issuer, offer.link)
                    expect(1, exit)
                    #expect(exit.complaint.contains("something else than the card (\(word))"), "\(exit.errors)")
                }
                // A nonce that the wallet signs, and that is not the issuer's.
                issuer.lie(.document(.nonce) { $0["c_nonce"] = .string("a-nonce-of-somebody-else") })
                let exit = try await get(town, issuer, offer.link)
                #expect(exit.status != 0 && exit.complaint.contains("took too long"), "\(exit.errors)")
                issuer.lie(.none)
                expect(0, try await get(town, issuer, offer.link))
            }
        }
    }

    // MARK: Interruptions

    /// The answer to any one step is lost, after the issuer has done it.
    @Test func aLostAnswerLosesNothing_andTheSameKeysGetTheCard() async throws {
        try await Town.with { town in
            try await LyingIssuer.with(town) { issuer in
                let offer = try issuer.offer()
                for route in [IssuerRoute.metadata, .server, .token, .nonce, .credential, .credential, .token] {
                    issuer.lie(.lostAnswer(route))
                    let exit = try await get(town, issuer, offer.link)
                    #expect(exit.status != 0 && exit.complaint.contains("cannot answer now"), "\(exit.errors)")
                    #expect(try await count(town) == 0)
                }
                issuer.lie(.none)
                expect(0, try await get(town, issuer, offer.link))
                #expect(try await count(town) == 1)
                #expect(try issuer.database.listings().map(\.copyCount) == [2], "the same keys, with the same entries")
                let waiting = try await town.signet("alice", "cards", "request", "more.keys", "--copies", "50")
                expect(0, waiting, "no key waits for a card that has come")
            }
        }
    }
}
