// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import JOSE
import StrictJSON
import Testing

@testable import SelectiveDisclosure

/// A presentation of which each part can be changed, while the signatures and digests of all others stay right.
struct PresentationDraft {
    static let issuer = P256.Signing.PrivateKey()
    static let holder = P256.Signing.PrivateKey()
    static let now: Int64 = 1_800_000_000

    var header: JSONObject = ["alg": .string("ES256"), "typ": .string("dc+sd-jwt")]
    var payload: JSONObject = [
        "iss": .string("urn:issuer"), "vct": .string("urn:card"),
        "cnf": .object(["jwk": .object(WebKey(holder.publicKey).object)]),
    ]
    var disclosures: [[UInt8]] = []
    var bindingHeader: JSONObject = ["alg": .string("ES256"), "typ": .string("kb+jwt")]
    var binding: JSONObject = [
        "iat": .integer(now), "aud": .string("verifier"), "nonce": .string("n"),
    ]
    var issuerKey = issuer
    var holderKey = holder
    var isBound = true

    /// With a disclosure of these parts, and its digest in the payload.
    static func disclosing(_ parts: [JSONValue], at place: (JSONText) -> JSONObject) -> PresentationDraft {
        var draft = PresentationDraft()
        let text = Base64URL.encode(JSONValue.array(parts).encoded)
        draft.disclosures = [text]
        for (name, value) in place(PresentationVerifier.hash(of: text)).members { draft.payload[name] = value }
        return draft
    }

    var text: [UInt8] {
        get throws {
            let token = try SignedToken.encoded(header: header, payload: payload.encoded) { bytes in
                Array(try issuerKey.signature(for: bytes).rawRepresentation)
            }
            let shown = ([token] + disclosures).reduce(into: [UInt8]()) { $0 += $1 + [UInt8(ascii: "~")] }
            guard isBound else { return shown }
            var binding = binding
            if binding["sd_hash"] == nil { binding["sd_hash"] = .string(PresentationVerifier.hash(of: shown)) }
            return shown
                + (try SignedToken.encoded(header: bindingHeader, payload: binding.encoded) { bytes in
                    Array(try holderKey.signature(for: bytes).rawRepresentation)
                })
        }
    }

    func refusal(requiring claims: [ClaimPath] = [], bound: Bool = true) throws -> PresentationFault? {
        let request = VerificationRequest(
            types: ["urn:card"], requiredClaims: claims,
            binding: .init(isRequired: bound, audience: "verifier", nonce: "n"))
        let trust = IssuerTrust(issuers: [TrustedIssuer(identifier: "urn:issuer", key: Self.issuer.publicKey)])
        let text = try text
        do throws(PresentationFault) {
            _ = try PresentationVerifier.verify(text, for: request, trusting: trust, at: Self.now)
            return nil
        } catch { return error }
    }
}

/// Each check of `PresentationVerifier`, with a fault that only this check refuses.
struct CheckTests {
    func refusal(_ change: (inout PresentationDraft) -> Void) throws -> PresentationFault? {
        var draft = PresentationDraft()
        change(&draft)
        return try draft.refusal()
    }

    @Test func theUnchangedPresentationIsAccepted() throws { #expect(try PresentationDraft().refusal() == nil) }

    @Test func issuerHeader_refusesOtherAlgorithmsTypesAndExtensions() throws {
        #expect(try refusal { $0.header["alg"] = .string("es256") } == .issuerAlgorithm)
        #expect(try refusal { $0.header["typ"] = .string("vc+sd-jwt") } == .issuerType)
        #expect(try refusal { $0.header["crit"] = .array([]) } == .issuerCritical)
        #expect(try refusal { $0.header["x5c"] = .array([.string("AAAA")]) } == .issuerChain)
    }

    @Test func issuerSignature_refusesAnotherKey() throws {
        #expect(try refusal { $0.issuerKey = PresentationDraft.holder } == .issuerSignature)
        #expect(try refusal { $0.payload["iss"] = .string("urn:another") } == .issuerUntrusted)
    }

    @Test func payload_refusesAnotherTypeAndOtherTimes() throws {
        let now = PresentationDraft.now
        #expect(try refusal { $0.payload["_sd_alg"] = .string("sha-512") } == .digestAlgorithm)
        #expect(try refusal { $0.payload["vct"] = .string("urn:another") } == .type)
        #expect(try refusal { $0.payload["exp"] = .integer(now) } == .expired)
        #expect(try refusal { $0.payload["exp"] = .integer(now + 1) } == nil)
        #expect(try refusal { $0.payload["nbf"] = .integer(now + 1) } == .notYet)
        #expect(try refusal { $0.payload["nbf"] = .integer(now) } == nil)
        #expect(try refusal { $0.payload["iat"] = .string("1") } == .timeForm)
    }

    @Test func confirmation_refusesOtherForms() throws {
        #expect(try refusal { $0.payload["cnf"] = nil } == .confirmation)
        let key = JSONValue.object(WebKey(PresentationDraft.holder.publicKey).object)
        #expect(try refusal { $0.payload["cnf"] = .object(["jwk": key, "kid": .string("k")]) } == .confirmation)
        #expect(try refusal { $0.payload["cnf"] = .object(["jwk": .object([:])]) } == .confirmation)
    }

    @Test func theRequestDecidesWhetherABindingIsRequired() throws {
        var draft = PresentationDraft()
        draft.isBound = false
        #expect(try draft.refusal() == .bindingMissing)
        #expect(try draft.refusal(bound: false) == nil)
        draft = PresentationDraft()
        draft.holderKey = PresentationDraft.issuer
        #expect(try draft.refusal(bound: false) == .bindingSignature)
        #expect(try PresentationDraft().refusal(requiring: [["name"]]) == .claimsMissing)
    }

    @Test func binding_refusesATokenForAnotherRequest() throws {
        let now = PresentationDraft.now
        #expect(try refusal { $0.bindingHeader["alg"] = .string("none") } == .bindingAlgorithm)
        #expect(try refusal { $0.bindingHeader["typ"] = .string("JWT") } == .bindingType)
        #expect(try refusal { $0.bindingHeader["crit"] = .array([]) } == .bindingCritical)
        #expect(try refusal { $0.holderKey = PresentationDraft.issuer } == .bindingSignature)
        #expect(try refusal { $0.binding["aud"] = .string("Verifier") } == .bindingAudience)
        #expect(try refusal { $0.binding["nonce"] = .string("N") } == .bindingNonce)
        #expect(try refusal { $0.binding["sd_hash"] = .string("x") } == .bindingHash)
        for (time, expected) in [(-300, nil), (-301, .bindingTime), (60, nil), (61, .bindingTime)]
            as [(Int64, PresentationFault?)]
        {
            #expect(try refusal { $0.binding["iat"] = .integer(now + time) } == expected)
        }
    }

    @Test func digests_refuseUnreferencedAndRepeatedDisclosures() throws {
        let parts: [JSONValue] = [.string("salt"), .string("name"), .string("value")]
        let good = PresentationDraft.disclosing(parts) { ["_sd": .array([.string($0)])] }
        #expect(try good.refusal(requiring: [["name"]]) == nil)
        var draft = good
        draft.payload["_sd"] = nil
        #expect(try draft.refusal() == .disclosureUnreferenced)
        draft = good
        draft.disclosures += draft.disclosures
        #expect(try draft.refusal() == .disclosureDuplicate)
        draft = good
        draft.payload["_sd"] = .array([.string("d"), .string("d")])
        #expect(try draft.refusal() == .digestDuplicate)
        draft = good
        draft.payload["_sd"] = .object([:])
        #expect(try draft.refusal() == .digestForm)
        draft = good
        draft.payload["..."] = .string("d")
        #expect(try draft.refusal() == .digestForm)
        draft = good
        draft.payload["list"] = .array([.object(["...": .string("d"), "more": .null])])
        #expect(try draft.refusal() == .digestForm)
        draft = good
        draft.payload["name"] = .null
        #expect(try draft.refusal() == .disclosureName)
        #expect(try refusal { $0.disclosures = [Array("W10=".utf8)] } == .disclosureEncoding)
    }

    @Test func disclosure_refusesOtherPartsAndReservedNames() throws {
        let salt = JSONValue.string("salt")
        for (parts, expected) in [
            ([salt, .string("exp"), .integer(.max)], .disclosureReserved),
            ([salt, .string("_sd"), .null], .disclosureName),
            ([salt, .string("..."), .null], .disclosureName), ([salt, .null], .disclosureForm),
            ([salt, .integer(1), .null], .disclosureForm), ([.integer(1), .string("name"), .null], .disclosureForm),
            ([salt], .disclosureForm), ([salt, salt, salt, salt], .disclosureForm),
        ] as [([JSONValue], PresentationFault)] {
            let draft = PresentationDraft.disclosing(parts) { ["_sd": .array([.string($0)])] }
            #expect(try draft.refusal() == expected, "\(parts)")
        }
        let element = PresentationDraft.disclosing([salt, .string("name"), .null]) {
            ["list": .array([.object(["...": .string($0)])])]
        }
        #expect(try element.refusal() == .disclosureForm)
    }

    @Test func nestedDisclosuresAreBounded() throws {
        func nested(_ count: Int) -> PresentationDraft {
            var draft = PresentationDraft()
            var value = JSONValue.null
            for place in 0..<count {
                let disclosure = Disclosure(salt: [UInt8(place)], name: "a", value: value)
                draft.disclosures.append(disclosure.text)
                value = .object(["_sd": .array([.string(disclosure.digest)])])
            }
            draft.payload["_sd"] = value.object?["_sd"]
            return draft
        }
        #expect(try nested(16).refusal() == nil)
        #expect(try nested(17).refusal() == .limits)
    }
}
