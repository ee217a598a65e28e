// SPDX-License-Identifier: Apache-2.0

import JOSE
import SeededRandomness
import SelectiveDisclosure
import StrictJSON
import Testing

@testable import Presentation

/// Requests of outside vectors that need no certificate; CredentialChainsTests has those with certificates.
@Suite(.enabled(if: CredentialVectors.arePresent, "the folder shared/vectors is not beside the package"))
struct RequestVectorTests {
    @Test func everyRequestWithoutCertificatesHasTheVerdictOfTheVectors() throws {
        var count = 0
        for vector in try CredentialVectors.load("request-objects.json") {
            let (name, link) = (vector.text("name") ?? "", vector.bytes("link") ?? [])
            guard !String(decoding: link, as: UTF8.self).contains("x509") else { continue }
            count += 1
            do throws(RequestFault) {
                _ = try RequestVerifier.verify(
                    link: link, object: vector.bytes("request_object"), trusting: NoCertificates(),
                    walletNonce: vector["wallet_nonce"]?.string, at: vector["now"]?.integer ?? 0)
                #expect(vector["rule"] == .null, "\(name)")
            } catch { #expect(vector.text("rule") == error.rawValue, "\(name)") }
        }
        #expect(count >= 10)
    }
}

/// Requests made here, each bad one with one fault that the vectors do not have.
struct RequestTests {
    let site: AskingSite

    init() throws { site = try AskingSite() }

    func fault(
        _ changes: [JSONText: JSONValue?] = [:], header: JSONObject = [:], link: String? = nil
    ) throws -> RequestFault? {
        do {
            _ = try site.accepted(changes, header: header, link: link)
            return nil
        } catch let fault as RequestFault { return fault }
    }

    @Test func anAcceptedRequestHasItsQueryAddressAndEncryption() throws {
        let request = try site.accepted()
        #expect(request.clientID == JSONText(site.clientID))
        #expect(request.responseAddress == "https://shop.example/answer")
        #expect(request.encryption?.encryption == .a256GCM)
        #expect(request.query.credentials.map(\.name) == ["card"])
        #expect(request.query.credentials[0].kind == .selectiveDisclosure(types: ["urn:card"]))
        #expect(request.query.credentials[0].claims.map(\.path) == [["age_over_18"]])
    }

    private static let challenge = JSONText(String(repeating: "A", count: 43))

    @Test func aRequestForABrowserSaysWhetherTheWalletIsOnAnotherDevice() throws {
        #expect(try site.accepted([:]).signIn == nil)
        let zeros = [UInt8](repeating: 0, count: 32)
        #expect(
            try site.accepted(["signet_sign_in": .string(Self.challenge)]).signIn
                == BrowserSignIn(challenge: zeros, needsDigits: false))
        #expect(
            try site.accepted(["signet_sign_in": .string(Self.challenge), "signet_digits": .bool(true)]).signIn
                == BrowserSignIn(challenge: zeros, needsDigits: true))
    }

    @Test func everyFlippedBitOfARequestIsRefused() async throws {
        let object = try site.object()
        for place in object.indices {
            for bit in 0..<8 {
                var flipped = object
                flipped[place] ^= 1 << UInt8(bit)
                #expect(throws: RequestFault.self, "byte \(place), bit \(bit)") {
                    try RequestVerifier.verify(
                        link: Array(site.link.utf8), object: flipped, trusting: NoCertificates(), walletNonce: nil,
                        at: AskingSite.now)
                }
            }
            await Task.yield()
        }
    }

    @Test func eachCheckOfARequestRefusesItsFault() throws {
        for (changes, expected) in [
            (["client_id": .string("redirect_uri:https://a/b")], .clientMismatch),
            (["aud": .string("https://wallet.example")], .audience), (["exp": .integer(AskingSite.now)], .expired),
            (["request": .string("e30")], .nested), (["request_uri": .string("https://a")], .nested),
            (["response_type": .string("code")], .responseType), (["response_mode": .string("query")], .responseMode),
            (["redirect_uri": .string("https://shop.example/")], .redirectAddress), (["scope": .string("x")], .scope),
            (["transaction_data": .array([])], .transactionData), (["response_uri": nil], .responseAddress),
            (["dcql_query": nil], .query), (["client_metadata": nil], .encryption),
            (["signet_sign_in": .string("AAAA")], .signIn), (["signet_sign_in": .bool(true)], .signIn),
            (["signet_digits": .bool(true)], .signIn),
            (["signet_sign_in": .string(Self.challenge), "signet_digits": .bool(false)], .signIn),
        ] as [([JSONText: JSONValue?], RequestFault)] {
            #expect(try fault(changes) == expected, "\(changes)")
        }
        for (header, expected) in [
            (["alg": .string("none")], .algorithm), (["typ": .string("JWT")], .type), (["crit": .array([])], .critical),
            (["kid": .string("did:key:zDn#zDn")], .keyID),
        ] as [(JSONObject, RequestFault)] {
            #expect(try fault(header: header) == expected, "\(header)")
        }
    }

    @Test func anUnsignedRequestIsAcceptedForItsOwnAddressOnly() throws {
        func fault(_ client: String, _ more: String = "") -> RequestFault? {
            let query =
                "%7B%22credentials%22%3A%5B%7B%22id%22%3A%22a%22%2C%22format%22%3A%22dc%2Bsd-jwt%22%2C"
                + "%22meta%22%3A%7B%22vct_values%22%3A%5B%22urn%3Aa%22%5D%7D%7D%5D%7D"
            let link =
                "openid4vp://?client_id=\(client)&response_type=vp_token&response_mode=direct_post"
                + "&nonce=H-uCNuj7T0B_yU0ebXxHQ1EqK9zD3VT6&dcql_query=\(query)\(more)"
            do throws(RequestFault) {
                _ = try RequestVerifier.verify(
                    link: Array(link.utf8), object: nil, trusting: NoCertificates(), walletNonce: nil,
                    at: AskingSite.now)
                return nil
            } catch { return error }
        }
        #expect(fault("redirect_uri:https://shop.example/cb") == nil)
        #expect(fault("x509_san_dns:shop.example") == .unsigned)
        #expect(
            fault("redirect_uri:https://shop.example/cb", "&response_uri=https://evil.example/") == .responseAddress)
        #expect(fault("redirect_uri:https://shop.example/cb", "&request_uri=https://shop.example/") == .form)
    }

    @Test func encryption_refusesAKeyThatIsNotForAnswers() throws {
        guard let metadata = site.parameters["client_metadata"]?.object,
            let key = metadata["jwks"]?.object?["keys"]?.array?.first?.object
        else { return }
        for (name, value) in [
            ("use", .string("sig")), ("alg", nil), ("d", .string("AA")), ("kid", nil), ("crv", .string("P-384")),
        ] as [(JSONText, JSONValue?)] {
            var (key, metadata) = (key, metadata)
            key[name] = value
            metadata["jwks"] = .object(["keys": .array([.object(key)])])
            #expect(try fault(["client_metadata": .object(metadata)]) == .encryption, "\(name)")
        }
    }

    @Test func link_refusesOtherForms() throws {
        for (link, expected) in [
            (site.link + "&x=1", nil), (site.link + "&x", .link), (site.link + "&x=%4", .link),
            (site.link + "&x=%ff", .link), (site.link + "&x=a b", .link), (site.link + "&request=e30", .link),
            (site.link + "&x=1&%78=2", .linkDuplicate), (site.link + "&request_uri_method=get", nil),
            (site.link + "&request_uri_method=put", .requestMethod), ("openid4vp://?x=1", .link),
            ("openid4vp://a?client_id=x", .link), ("openid4vp://?client_id=x&request_uri=ftp%3A%2F%2Fa", .link),
            ("openid4vp://?client_id=x:y&request_uri=https%3A%2F%2Fa", .clientPrefix),
            (site.link + "&x=" + String(repeating: "a", count: 16_384), .limits),
        ] as [(String, RequestFault?)] {
            #expect(try fault(link: link) == expected, "\(link.prefix(120))")
        }
    }

    @Test func responseAddress_refusesOtherForms() throws {
        for address in [
            "https://", "https://:443/", "https://a:b/", "https://a:123456/", "https://a:1:2/", "https://a\\b/",
            "HTTPS://a/", "https://A/", "https://a/ b", "https://a/é", "javascript:1", "https://a%2eb/",
        ] {
            #expect(try fault(["response_uri": .string(JSONText(address))]) == .responseAddress, "\(address)")
        }
        #expect(try fault(["response_uri": .string("https://shop.example:8443/a?b=c")]) == nil)
    }

    @Test func nonceAndState_refuseOtherLengthsAndCharacters() throws {
        for (count, expected) in [(21, .nonce), (22, nil), (512, nil), (513, .nonce)] as [(Int, RequestFault?)] {
            #expect(try fault(["nonce": .string(JSONText(String(repeating: "~", count: count)))]) == expected)
        }
        for state in ["", "a b", "\u{E9}", String(repeating: "a", count: 513)] {
            #expect(try fault(["state": .string(JSONText(state))]) == .state)
        }
        #expect(try fault(["state": nil]) == nil)
        #expect(try fault(["state": .integer(1)]) == .state)
    }

    @Test func query_refusesTooManySetsAndUnknownNames() throws {
        let many = JSONValue.array([JSONValue](repeating: .array([.string("a")]), count: 65))
        for (query, expected) in [
            (AskingSite.query(), nil), (.array([]), .query),
            (AskingSite.query(["claim_sets": .array([.array([.string("a")])])]), nil),
            (AskingSite.query(["claim_sets": .array([.array([])])]), .query),
            (AskingSite.query(["claim_sets": many]), .query), (AskingSite.query(["claims": .array([])]), .query),
            (AskingSite.query(["format": .string("mso_mdoc")]), .query),
            (
                AskingSite.query([
                    "format": .string("mso_mdoc"), "meta": .object(["doctype_value": .string("eu.europa.ec.av.1")]),
                ]), nil
            ),
            (AskingSite.query(beside: ["credential_sets": .array([])]), .query),
            (
                AskingSite.query(beside: [
                    "credential_sets": .array([.object(["options": .array([.array([.string("card")])])])])
                ]), nil
            ),
            (
                AskingSite.query(beside: [
                    "credential_sets": .array([.object(["options": .array([.array([.string("other")])])])])
                ]), .query
            ),
            (
                AskingSite.query(beside: [
                    "credential_sets": .array([
                        .object(["options": .array([.array([.string("card")])]), "required": .string("no")])
                    ])
                ]), .query
            ),
        ] as [(JSONValue, RequestFault?)] {
            #expect(try fault(["dcql_query": query]) == expected)
        }
    }

    @Test func request_refusesAReplayedRequest() throws {
        #expect(throws: RequestFault.walletNonce) { try site.accepted(walletNonce: "qPmxiNFCR3QTm19POc8u") }
        #expect(throws: Never.self) {
            try site.accepted(["wallet_nonce": .string("qPmxiNFCR3QTm19POc8u")], walletNonce: "qPmxiNFCR3QTm19POc8u")
        }
    }

    @Test func theStrongestOfferedEncryptionIsUsed() throws {
        guard var metadata = site.parameters["client_metadata"]?.object else { return }
        for (offered, expected) in [
            (.array([.string("A128GCM"), .string("A256GCM")]), .a256GCM), (nil, .a128GCM),
            (.array([.string("A128GCM")]), .a128GCM),
        ] as [(JSONValue?, ContentEncryption)] {
            metadata["encrypted_response_enc_values_supported"] = offered
            #expect(
                try site.accepted(["client_metadata": .object(metadata)]).encryption?.encryption == expected)
        }
    }

    @Test func mutatedLinksNeverTrap() {
        var generator = SeededGenerator(seed: 9)
        let link = Array("openid4vp://?client_id=redirect_uri%3Ahttps%3A%2F%2Fa%2Fb&request_uri=https%3A%2F%2Fa".utf8)
        for _ in 0..<20_000 { _ = try? RequestLink(decoding: generator.mutant(of: link)) }
    }
}
