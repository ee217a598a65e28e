// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DIDKey
import JOSE
import SeededRandomness
import SelectiveDisclosure
import StrictJSON
import Testing

/// Credentials that are issued, presented and verified here, and cases that the vectors do not have.
struct IssuingTests {
    let issuer = P256.Signing.PrivateKey()
    let holder = P256.Signing.PrivateKey()
    let now: Int64 = 1_800_000_000
    let type: JSONText = "https://cred.example/member-card/1"

    var request: VerificationRequest {
        VerificationRequest(types: [type], binding: .init(audience: "x509_san_dns:shop.example", nonce: "n-1"))
    }

    var trust: IssuerTrust {
        IssuerTrust(issuers: [TrustedIssuer(identifier: "https://cred.example", key: issuer.publicKey)])
    }

    func draft(_ changes: JSONObject = [:]) -> CredentialDraft {
        var open: JSONObject = ["iss": .string("https://cred.example"), "vct": .string(type), "exp": .integer(now + 9)]
        for (name, value) in changes.members { open[name] = value }
        return CredentialDraft(
            open: open, hidden: ["tier": .string("crew"), "age_over_18": .bool(true)],
            holder: WebKey(holder.publicKey), digestCount: 8)
    }

    func issue(_ draft: CredentialDraft, by key: P256.Signing.PrivateKey? = nil) throws -> HeldCredential {
        var generator = SystemRandomNumberGenerator()
        let key = key ?? issuer
        return try HeldCredential(
            decoding: try draft.issued(using: &generator) { try? Array(key.signature(for: $0).rawRepresentation) })
    }

    func present(
        _ credential: HeldCredential, _ names: Set<JSONText>, by key: P256.Signing.PrivateKey? = nil
    ) throws
        -> [UInt8]
    {
        let key = key ?? holder
        return try credential.presented(
            disclosing: { $0.name.map(names.contains) ?? false }, audience: "x509_san_dns:shop.example", nonce: "n-1",
            at: now
        ) { bytes in Array(try key.signature(for: bytes).rawRepresentation) }
    }

    func refusal(
        _ text: [UInt8], _ request: VerificationRequest? = nil, _ trust: IssuerTrust? = nil
    )
        -> PresentationFault?
    {
        do {
            _ = try PresentationVerifier.verify(
                text, for: request ?? self.request, trusting: trust ?? self.trust, at: now)
            return nil
        } catch { return error }
    }

    @Test func aChosenClaimIsShownAndTheOthersAreNot() throws {
        let credential = try issue(draft())
        #expect(try HeldCredential(decoding: credential.encoded).encoded == credential.encoded)
        let shown = try PresentationVerifier.verify(
            try present(credential, ["age_over_18"]), for: request, trusting: trust, at: now)
        #expect(shown.claims["age_over_18"] == .bool(true))
        #expect(shown.claims["tier"] == nil)
        #expect(shown.claims["_sd"] == nil)
        #expect(shown.holder == WebKey(holder.publicKey))
    }

    @Test func aCredentialHasTheNumberOfDigestsOfItsDraft() throws {
        #expect(try issue(draft()).payload["_sd"]?.strings?.count == 8)
        #expect(try issue(draft()).disclosures.count == 2)
    }

    @Test func twoCopiesShareNoSaltAndNoDigest() throws {
        let (first, second) = (try issue(draft()), try issue(draft()))
        #expect(Set(first.disclosures).isDisjoint(with: second.disclosures))
        let digests = Set(first.payload["_sd"]?.strings ?? [])
        #expect(digests.isDisjoint(with: second.payload["_sd"]?.strings ?? []))
    }

    @Test func draft_refusesToHideReservedClaims() {
        var generator = SystemRandomNumberGenerator()
        for name in ["iss", "exp", "cnf", "vct", "status", "_sd", "...", "_sd_alg"] as [JSONText] {
            var draft = draft()
            draft.hidden[name] = .null
            #expect(throws: CredentialDraftFault.reserved(name)) {
                _ = try draft.issued(using: &generator) { _ in nil }
            }
        }
        var draft = draft(["tier": .null])
        #expect(throws: CredentialDraftFault.twice("tier")) { _ = try draft.issued(using: &generator) { _ in nil } }
        draft.open = [:]
        #expect(throws: CredentialDraftFault.noType) { _ = try draft.issued(using: &generator) { _ in nil } }
    }

    @Test func binding_refusesAPresentationByAnotherHolder() throws {
        let text = try present(try issue(draft()), [], by: P256.Signing.PrivateKey())
        #expect(refusal(text) == .bindingSignature)
    }

    @Test func issuer_refusesATypeThatIsNotItsOwn() throws {
        let text = try present(try issue(draft()), [])
        let other = IssuerTrust(issuers: [
            TrustedIssuer(identifier: "https://cred.example", key: issuer.publicKey, types: ["urn:another"])
        ])
        #expect(refusal(text) == nil)
        #expect(refusal(text, nil, other) == .issuerUntrusted)
    }

    @Test func issuer_refusesAStatementAboutAnotherPersonsKey() throws {
        let stranger = P256.Signing.PrivateKey()
        let trust = IssuerTrust(acceptsSelfIssued: true)
        for (key, expected) in [(holder, nil), (stranger, PresentationFault.issuerDID)] {
            let did = try KeyDID(.p256, publicKey: Array(key.publicKey.compressedRepresentation))
            let name = try #require(JSONText(utf8: did.encoded))
            let text = try present(try issue(draft(["iss": .string(name)]), by: key), [])
            #expect(refusal(text, nil, trust) == expected)
        }
    }

    @Test func otherTypes_refuseEmptyAndRepeatedNames() throws {
        let other: JSONValue = .string("urn:another")
        for (names, expected) in [
            (.array([other]), nil), (.array([]), PresentationFault.type), (.array([other, other]), .type),
            (.array([.null]), .type), (other, .type),
        ] as [(JSONValue, PresentationFault?)] {
            #expect(refusal(try present(try issue(draft(["aka_vcts": names])), [])) == expected)
        }
    }

    @Test func presentation_refusesMoreThanItsLimits() throws {
        #expect(refusal([UInt8](repeating: UInt8(ascii: "~"), count: 131_073)) == .limits)
        var deep = JSONValue.null
        for _ in 0..<14 { deep = .array([deep]) }
        var draft = draft()
        draft.hidden["tier"] = deep
        #expect(refusal(try present(try issue(draft), ["tier"])) == nil)
        draft.open["outer"] = .object(["inner": .array([.array([.array([deep])])])])
        #expect(throws: PresentationFault.limits) { _ = try self.issue(draft) }
    }

    @Test func aTimeFarInThePastDoesNotTrap() throws {
        let text = try present(try issue(draft()), [])
        #expect(throws: PresentationFault.bindingTime) {
            _ = try PresentationVerifier.verify(text, for: request, trusting: trust, at: Int64.min + 1)
        }
    }

    @Test func aClaimPathLeadsThroughObjectsAndArrays() throws {
        let claims: JSONObject = ["a": .array([.object(["b": .integer(1)]), .object(["b": .integer(2)])])]
        #expect(ClaimPath([.name("a"), .all, .name("b")]).values(in: claims) == [.integer(1), .integer(2)])
        #expect(ClaimPath([.name("a"), .place(1), .name("b")]).values(in: claims) == [.integer(2)])
        #expect(ClaimPath([.name("a"), .place(2)]).values(in: claims).isEmpty)
        #expect(ClaimPath(.array([])) == nil)
        #expect(ClaimPath(.array([.integer(-1)])) == nil)
    }

    @Test func mutatedPresentationsAreRefusedAndNeverTrap() throws {
        var generator = SeededGenerator(seed: 17)
        let text = try present(try issue(draft()), ["tier"])
        for _ in 0..<3_000 {
            var mutated = text
            for _ in 0...Int.random(in: 0...3, using: &generator) {
                let place = Int.random(in: mutated.indices, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: mutated[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: mutated.remove(at: place)
                default: mutated.insert(contentsOf: mutated[place...].prefix(40), at: place)
                }
            }
            if mutated != text { #expect(refusal(mutated) != nil) }
        }
    }
}
