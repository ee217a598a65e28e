// SPDX-License-Identifier: Apache-2.0

import StrictJSON
import Testing

@testable import Issuance

/// What an issuer says of itself, each time with one thing wrong.
struct MetadataTests {
    private typealias Change = (inout JSONObject) -> Void

    private func metadata() throws -> IssuerMetadata {
        IssuerMetadata(
            issuer: try OfferTests.offer().issuer, configuration: "member-card", type: "urn:signet:member-card:1",
            batchSize: 50)
    }

    private func fault(issuer change: Change = { _ in }, server: Change = { _ in }) throws -> IssuanceFault? {
        var (issuer, other) = (try metadata().issuerObject, try metadata().serverObject)
        change(&issuer)
        server(&other)
        let offer = try OfferTests.offer()
        do throws(IssuanceFault) {
            _ = try IssuerVerifier.verify(issuer.encoded, server: other.encoded, for: offer)
            return nil
        } catch { return error }
    }

    /// A change of what the issuer says of the offered card.
    private func fault(card change: Change) throws -> IssuanceFault? {
        try fault(issuer: { issuer in
            var card = issuer["credential_configurations_supported"]?.object?["member-card"]?.object ?? [:]
            change(&card)
            issuer["credential_configurations_supported"] = .object(["member-card": .object(card)])
        })
    }

    @Test func anHonestIssuerIsAccepted() throws {
        let (issuer, server) = (try metadata().issuerObject, try metadata().serverObject)
        let accepted = try IssuerVerifier.verify(issuer.encoded, server: server.encoded, for: OfferTests.offer())
        #expect(accepted.type == "urn:signet:member-card:1" && accepted.batchSize == 50)
        #expect(accepted.tokenPath == "/token" && accepted.noncePath == "/nonce")
        let name = try OfferTests.offer().issuer
        #expect(accepted.credentialPath == "/credential" && accepted.name == name)
        #expect(try fault(issuer: { $0["display"] = .array([]) }) == nil, "what is not known is left out")
        let itself: JSONValue = .array([.string("https://club.example:8460")])
        #expect(try fault(issuer: { $0["authorization_servers"] = itself }) == nil)
    }

    @Test func metadata_refusesAnotherIssuers() throws {
        let other: JSONValue = .string("https://mallory.example")
        #expect(try fault(issuer: { $0["credential_issuer"] = other }) == .anotherIssuer)
        #expect(try fault(issuer: { $0["credential_issuer"] = nil }) == .anotherIssuer)
        #expect(try fault(server: { $0["issuer"] = other }) == .anotherIssuer)
    }

    @Test func metadata_refusesAnotherServerOfTokens() throws {
        let others: JSONValue = .array([.string("https://tokens.example")])
        #expect(try fault(issuer: { $0["authorization_servers"] = others }) == .anotherServer)
    }

    @Test func metadata_refusesPathsOfAnotherHost() throws {
        for name: JSONText in ["nonce_endpoint", "credential_endpoint"] {
            for value: JSONText in [
                "https://mallory.example/nonce", "http://club.example:8460/nonce", "https://club.example:8460",
                "https://club.example/nonce", "https://club.example:8460/nonce?for=ming",
            ] {
                #expect(try fault(issuer: { $0[name] = .string(value) }) == .endpoint, "\(name) \(value)")
            }
            #expect(try fault(issuer: { $0[name] = nil }) == .endpoint)
        }
        #expect(try fault(server: { $0["token_endpoint"] = .string("https://mallory.example/token") }) == .endpoint)
    }

    @Test func metadata_refusesAnIssuerThatDoesNotMakeTheCard() throws {
        let none: JSONValue = .object([:])
        #expect(try fault(issuer: { $0["credential_configurations_supported"] = none }) == .unknownConfiguration)
    }

    @Test func metadata_refusesOtherFormats() throws {
        #expect(try fault(card: { $0["format"] = .string("mso_mdoc") }) == .format)
        #expect(try fault(card: { $0["vct"] = nil }) == .format)
    }

    @Test func metadata_refusesCardsThatAreNotBoundToProvedKeys() throws {
        #expect(try fault(card: { $0["cryptographic_binding_methods_supported"] = nil }) == .proofs)
        #expect(try fault(card: { $0["proof_types_supported"] = .object(["attestation": .object([:])]) }) == .proofs)
        let other: JSONValue = .object(["proof_signing_alg_values_supported": .array([.string("RS256")])])
        #expect(try fault(card: { $0["proof_types_supported"] = .object(["jwt": other]) }) == .proofs)
    }

    @Test func metadata_refusesBatchesOfNoOrTooManyCopies() throws {
        for size: JSONValue in [.integer(0), .integer(201), .string("10"), .integer(-1)] {
            let batch: JSONValue = .object(["batch_size": size])
            #expect(try fault(issuer: { $0["batch_credential_issuance"] = batch }) == .batchSize)
        }
        #expect(try fault(issuer: { $0["batch_credential_issuance"] = nil }) == nil, "one copy at a time")
    }

    @Test func metadata_refusesServersThatDoNotBindTokensOrTakeNoOffers() throws {
        #expect(try fault(server: { $0["dpop_signing_alg_values_supported"] = nil }) == .grants)
        #expect(try fault(server: { $0["grant_types_supported"] = .array([.string("password")]) }) == .grants)
    }

    @Test func metadata_refusesTextThatIsNoJSON() throws {
        let good = try metadata().serverObject.encoded
        for (text, expected) in [
            ("{", IssuanceFault.json), ("[]", .json), ("{\"a\":1,\"a\":1}", .duplicateMember),
            (String(repeating: "[", count: 100), .limits),
        ] {
            #expect(throws: expected) {
                try IssuerVerifier.verify(Array(text.utf8), server: good, for: OfferTests.offer())
            }
        }
    }
}
