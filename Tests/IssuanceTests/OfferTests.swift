// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import StrictJSON
import Testing

@testable import Issuance

/// Offers of cards, in links and at addresses, honest or not.
struct OfferTests {
    static let code: JSONText = "abcdefghijklmnopqrstuvwxyz012345"

    static func offer(transactionCode length: Int? = 6) throws -> CredentialOffer {
        try CredentialOffer(
            of: "member-card", by: IssuerName("https://club.example:8460"), code: code,
            transactionCode: try length.map { try CredentialOffer.TransactionCode(length: $0) })
    }

    private func fault(_ link: [UInt8]) -> IssuanceFault? {
        do throws(IssuanceFault) {
            _ = try OfferLink(decoding: link)
            return nil
        } catch { return error }
    }

    private func link(_ query: String) -> [UInt8] { Array("openid-credential-offer://?\(query)".utf8) }

    /// A link to an offer in which something was changed.
    private func fault(changed change: (inout JSONObject) -> Void) throws -> IssuanceFault? {
        var object = try Self.offer().object
        change(&object)
        do throws(IssuanceFault) {
            _ = try CredentialOffer(decoding: object.encoded)
            return nil
        } catch { return error }
    }

    private func grant(_ change: (inout JSONObject) -> Void) throws -> IssuanceFault? {
        try fault { object in
            var grant = object["grants"]?.object?[CredentialOffer.grant]?.object ?? [:]
            change(&grant)
            object["grants"] = .object([CredentialOffer.grant: .object(grant)])
        }
    }

    // MARK: What holds

    @Test(arguments: [nil, 4, 6, 16]) func anOfferIsReadAsItWasWritten(_ length: Int?) throws {
        let offer = try Self.offer(transactionCode: length)
        let read = try OfferLink(decoding: offer.link)
        #expect(read == .offer(offer) && read.issuer == offer.issuer)
        #expect(try CredentialOffer(decoding: offer.object.encoded).link == offer.link)
    }

    /// The example of the specification, whose grant of the other kind is left out.
    @Test func theOfferOfTheSpecificationIsRead() throws {
        let text = """
            {"credential_issuer": "https://credential-issuer.example.com",
             "credential_configuration_ids": ["UniversityDegreeCredential"],
             "grants": {"urn:ietf:params:oauth:grant-type:pre-authorized_code": {
                 "pre-authorized_code": "oaKazRN8I0IbtZ0C7JuMn5",
                 "tx_code": {"length": 4, "input_mode": "numeric", "description": "Please provide the one-time code"}},
               "authorization_code": {"issuer_state": "eyJhbGciOiJSU0Et"}}}
            """
        let offer = try CredentialOffer(decoding: Array(text.utf8))
        #expect(offer.issuer.authority == "credential-issuer.example.com")
        #expect(offer.code == "oaKazRN8I0IbtZ0C7JuMn5" && offer.transactionCode?.length == 4)
    }

    @Test func aLinkToAnOfferNamesTheServerOfTheOffer() throws {
        let address = "https%3A%2F%2Fclub.example%3A8460%2Foffers%2F1"
        let read = try OfferLink(decoding: link("credential_offer_uri=\(address)"))
        #expect(read == .reference(try IssuerName("https://club.example:8460"), path: "/offers/1"))
        let offer = try Self.offer()
        #expect(try OfferLink.offer(offer.object.encoded, from: read.issuer) == offer)
        #expect(throws: IssuanceFault.offerAddress) {
            try OfferLink.offer(offer.object.encoded, from: IssuerName("https://mallory.example"))
        }
    }

    @Test func theCodeOfAPersonHasTheFormOfTheOffer() throws {
        let digits = try CredentialOffer.TransactionCode(length: 6)
        let letters = try CredentialOffer.TransactionCode(length: 4, isNumeric: false)
        #expect(digits.accepts("012345") && letters.accepts("aB3!"))
        for wrong in ["", "12345", "1234567", "12345a", "１２３４５６"] { #expect(!digits.accepts(wrong)) }
        for wrong in ["abc", "abcde", "ab d", "äbc"] { #expect(!letters.accepts(wrong)) }
    }

    // MARK: What is refused

    @Test func offer_refusesOtherLinks() throws {
        let good = String(decoding: try Self.offer().link, as: UTF8.self)
        for (text, expected) in [
            ("https://club.example", IssuanceFault.link), ("openid-credential-offer://", .link),
            (good + "&credential_offer_uri=https%3A%2F%2Fclub.example%2Fo", .link), (good + "&x", .link),
            (good.replacing("credential-offer:", with: "credential-other:"), .link),
            (good + "&a=1&a=2", .linkDuplicate), (good.replacing("%22", with: " "), .link),
            ("openid-credential-offer://?credential_offer=%7B", .json),
            ("openid-credential-offer://?credential_offer=%7B%22a%22%3A1%2C%22a%22%3A1%7D", .duplicateMember),
            ("openid-credential-offer://?credential_offer_uri=http%3A%2F%2Fclub.example%2Fo", .offerAddress),
            ("openid-credential-offer://?credential_offer_uri=https%3A%2F%2Fclub.example", .offerAddress),
        ] {
            #expect(fault(Array(text.utf8)) == expected, "\(text)")
        }
        let long = [UInt8](repeating: UInt8(ascii: "a"), count: OfferLink.maximumByteCount)
        #expect(fault(link("credential_offer=") + long) == .limits)
    }

    @Test func offer_refusesIssuersThatAreNoHost() throws {
        for name: JSONText in [
            "http://club.example", "https://club.example/", "https://club.example/path", "https://Club.example",
            "https://club.example:443", "https://a@club.example", "https://club.example?x", "club.example", "",
        ] {
            #expect(try fault { $0["credential_issuer"] = .string(name) } == .issuer, "\(name)")
        }
        #expect(try fault { $0["credential_issuer"] = nil } == .issuer)
    }

    @Test func offer_refusesMoreOrLessThanOneCard() throws {
        for value: JSONValue? in [nil, .array([]), .array([.string("a"), .string("b")]), .array([.string("a b")])] {
            #expect(try fault { $0["credential_configuration_ids"] = value } == .configurations)
        }
    }

    @Test func offer_refusesCodesThatAreMissingShortOrUnsafe() throws {
        for value: JSONValue? in [
            nil, .string("short"), .string("abcdefghijklmno p"), .string(JSONText(String(repeating: "a", count: 513))),
        ] {
            #expect(try grant { $0["pre-authorized_code"] = value } == .code)
        }
        #expect(try fault { $0["grants"] = .object(["authorization_code": .object([:])]) } == .code)
    }

    @Test func offer_refusesCodesOfPersonsThatCannotBeEntered() throws {
        for value: JSONValue in [
            .string("x"), .object([:]), .object(["length": .integer(3)]), .object(["length": .integer(17)]),
            .object(["length": .integer(.max)]), .object(["length": .integer(6), "input_mode": .string("picture")]),
        ] {
            #expect(try grant { $0["tx_code"] = value } == .transactionCode)
        }
    }

    /// Nothing that is changed at random ends the program, and what is read is read again as the same.
    @Test func changedOffersAreReadOrRefused() throws {
        var generator = SeededGenerator(seed: 17)
        let good = try Self.offer().link
        for _ in 0..<5_000 {
            let text = generator.mutant(of: good)
            guard case .offer(let offer)? = try? OfferLink(decoding: text) else { continue }
            #expect(try OfferLink(decoding: offer.link) == .offer(offer))
        }
    }
}
