// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Credentials
import Crypto
import JOSE
import Measuring
import SelectiveDisclosure
import StrictJSON

/// A credential of an issuer, shown to a site.
struct ShownCredential {
    static let now: Int64 = 1_800_000_000
    private static let issuer: JSONText = "https://club.example"
    private static let type: JSONText = "urn:signet:member-card:1"
    private static let audience: JSONText = "x509_san_dns:shop.example"
    private static let nonce: JSONText = "bDHxLWSaWlJP_xTHaoUs_pI_"

    let text: [UInt8]
    let request: VerificationRequest
    let trust: IssuerTrust
    let issuerKey: P256.Signing.PublicKey
    let holderKey: P256.Signing.PublicKey
    /// The tokens of issuer and holder.
    let tokens: [SignedToken]

    init(claims count: Int, shown: Int) throws {
        let (issuer, holder) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
        let names = (0..<count).map { number in JSONText(count == 1 ? "member" : "claim_\(number)") }
        let hidden = names.map { ($0, count == 1 ? JSONValue.bool(true) : .string("a value of some length")) }
        let draft = CredentialDraft(
            open: [
                "iss": .string(Self.issuer), "vct": .string(Self.type), "exp": .integer(Self.now + 86_400),
                "iat": .integer(Self.now - 86_400),
            ],
            hidden: JSONObject(Dictionary(uniqueKeysWithValues: hidden)), holder: WebKey(holder.publicKey))
        var generator = SystemRandomNumberGenerator()
        let issued = try draft.issued(using: &generator) { try? Array(issuer.signature(for: $0).rawRepresentation) }
        let chosen = Set(names.prefix(shown))
        text = try HeldCredential(decoding: issued).presented(
            disclosing: { $0.name.map(chosen.contains) ?? false }, audience: Self.audience, nonce: Self.nonce,
            at: Self.now
        ) { Array(try holder.signature(for: $0).rawRepresentation) }
        request = VerificationRequest(
            types: [Self.type], binding: .init(audience: Self.audience, nonce: Self.nonce))
        trust = IssuerTrust(issuers: [TrustedIssuer(identifier: Self.issuer, key: issuer.publicKey)])
        (issuerKey, holderKey) = (issuer.publicKey, holder.publicKey)
        let parts = text.split(separator: UInt8(ascii: "~")).map { Array($0) }
        tokens = try [parts[0], parts[parts.count - 1]].map { try SignedToken(decoding: $0) }
    }

    func verify() throws { keep(try PresentationVerifier.verify(text, for: request, trusting: trust, at: Self.now)) }

    /// The two signatures alone, of bytes and keys that have been read.
    func verifySignatures() throws {
        try tokens[0].verify(by: issuerKey)
        try tokens[1].verify(by: holderKey)
    }

    /// Milliseconds of processor time of one verification of the first of some cases.
    static func again(_ cases: [UInt8], _ count: Int) throws -> Double {
        let limits = JSONLimits(byteCount: cases.count, depth: 16)
        guard let vector = try JSONValue(decoding: cases, limits: limits).array?.first?.object,
            let text = vector["presentation"]?.string?.utf8,
            let object = vector["issuer_keys"]?.object?[issuer]?.object, let key = try WebKey(object).signingKey
        else { throw NoCase() }
        let request = VerificationRequest(types: [type], binding: .init(audience: audience, nonce: nonce))
        let trust = IssuerTrust(issuers: [TrustedIssuer(identifier: issuer, key: key)])
        var start = 0.0
        for round in 0..<2 * count {
            if round == count { start = threadTime() }
            keep(try PresentationVerifier.verify(text, for: request, trusting: trust, at: now))
        }
        return (threadTime() - start) / Double(count) / 1e6
    }

    private struct NoCase: Error {}

    /// As a case of the outside vectors' schema.
    var vector: String {
        let object: JSONObject = [
            "name": .string("shown"), "valid": .bool(true), "presentation": .string(JSONText(utf8: text) ?? ""),
            "now": .integer(Self.now), "aud": .string(Self.audience), "nonce": .string(Self.nonce),
            "policy": .object([
                "require_key_binding": .bool(true), "vct_values": .array([.string(Self.type)]),
                "max_kb_age": .integer(300), "clock_skew": .integer(60), "allow_self_issued": .bool(false),
            ]),
            "issuer_keys": .object([Self.issuer: .object(WebKey(issuerKey).object)]), "issuer_roots": .array([]),
        ]
        return String(decoding: object.encoded, as: UTF8.self)
    }
}

/// Verifying a presentation, beside the two signatures in it.
enum VerificationCost {
    static func measure(_ small: ShownCredential, _ large: ShownCredential) throws {
        let timings = try interleaved(
            rounds: 60, repetitions: 20,
            [
                Candidate("two signatures", small.verifySignatures), Candidate("one claim", small.verify),
                Candidate("22 of 64 claims", large.verify),
            ])
        Report.title("Verifying a card that is shown: an SD-JWT VC with key binding")
        Report.line("the two signatures alone, fastest round", timings.fastest(0) / 1000, "µs")
        for (place, limit) in [(1, 350.0), (2, 500)] {
            Report.goal("\(timings.names[place]), fastest round, µs", timings.fastest(place) / 1000, atMost: limit)
        }
        Report.goal("one claim ÷ two signatures, median of rounds", timings.median { $0[1] / $0[0] }, atMost: 1.25)
        Report.line("22 of 64 claims ÷ two signatures, median of rounds", timings.median { $0[2] / $0[0] }, "")
        Report.goal("a presentation of one claim, bytes", Double(small.text.count), atMost: 1127)
        Report.goal("a business card of one line, bytes", Double(try businessCard()), atMost: 1000)
    }

    private static func businessCard() throws -> Int {
        let key = P256.Signing.PrivateKey()
        let draft = try BusinessCard([.name: "Ming Lee"]).draft(
            for: Array(key.publicKey.compressedRepresentation), until: ShownCredential.now + 86_400)
        var generator = SystemRandomNumberGenerator()
        let issued = try draft.issued(using: &generator) { try? Array(key.signature(for: $0).rawRepresentation) }
        return try ShownCard.presented(
            HeldCredential(decoding: issued), disclosing: ["name"], at: ShownCredential.now
        ) { Array(try key.signature(for: $0).rawRepresentation) }.count
    }
}
