// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Testing

@testable import SignetServer

/// The file that says which domains may register, and with what.
@Suite struct RegistrationPolicyTests {
    private static let whole = """
        # Who may register
        register example.org token
        register *.example.org token
        register partner.example mail
        register club.example invitation
        register town.example open
        register * nobody

        token-issuer https://login.example.org
        token-keys /etc/signet/login.jwks
        mail-program /usr/local/bin/send-code
        """

    private static func policy(_ text: String) throws(RegistrationPolicyError) -> RegistrationPolicy {
        try RegistrationPolicy(decoding: Array(text.utf8))
    }

    private static func handle(_ text: String) throws -> Handle { try Handle(typed: Array(text.utf8)) }

    @Test func theFirstLineThatFitsCounts() throws {
        let policy = try Self.policy(Self.whole)
        let expected: [(String, RegistrationPolicy.Proof)] = [
            ("a@example.org", .token), ("a@staff.example.org", .token), ("a@x.staff.example.org", .token),
            ("a@partner.example", .mail), ("a@club.example", .invitation), ("a@town.example", .open),
            ("a@example.com", .nobody),
            // What only looks like one of the domains.
            ("a@notexample.org", .nobody), ("a@example.org.evil.example", .nobody), ("a@sub.partner.example", .nobody),
            ("example.org@evil.example", .nobody), ("a@org", .nobody),
        ]
        for (handle, proof) in expected { #expect(try policy.proof(for: Self.handle(handle)) == proof, "\(handle)") }
        #expect(policy.tokens?.issuer == "https://login.example.org")
        #expect(policy.tokens?.keys == "/etc/signet/login.jwks")
        #expect(policy.tokens?.client == nil)
        #expect(policy.mailProgram == "/usr/local/bin/send-code")
    }

    @Test func aDomainThatNoLineNamesRegistersNobody() throws {
        #expect(try Self.policy("register a.example open\n").proof(for: Self.handle("a@b.example")) == .nobody)
    }

    @Test func everyErrorHasItsLine() throws {
        let cases: [(String, RegistrationPolicyError.Reason, Int?)] = [
            ("\nregistr a.example open", .unknownWord("registr"), 2),
            ("register a.example", .notARegister, 1), ("register a.example open now", .notARegister, 1),
            ("register A.example open", .notADomain("A.example"), 1), ("register a..b open", .notADomain("a..b"), 1),
            ("register *a.example open", .notADomain("*a.example"), 1), ("register a@b open", .notADomain("a@b"), 1),
            ("register a.example oidc", .unknownProof("oidc"), 1),
            ("register a.example open\nregister a.example mail", .twice("a.example"), 2),
            ("register * open\nregister a.example nobody", .afterAll, 2),
            ("token-issuer", .oneValue("token-issuer"), 1), ("token-issuer a b", .oneValue("token-issuer"), 1),
            ("token-issuer a\ntoken-issuer b", .twice("token-issuer"), 2),
            ("", .nobodyRegisters, nil), ("# register * open", .nobodyRegisters, nil),
            ("register * token", .tokenWithoutIssuer, nil),
            ("register * token\ntoken-issuer a", .tokenWithoutIssuer, nil),
            ("register * token\ntoken-keys a", .tokenWithoutIssuer, nil),
            ("register * open\ntoken-client a", .tokenUnused, nil),
            ("register * mail", .mailWithoutProgram, nil),
            ("register * open\nmail-program /a", .mailWithoutProgram, nil),
        ]
        for (text, reason, line) in cases {
            let error = RegistrationPolicyError(reason, line: line)
            #expect(throws: error, "\(text)") { try Self.policy(text) }
        }
    }

    @Test func whatIsNoTextIsNoPolicy() {
        #expect(throws: RegistrationPolicyError(.notText)) { try RegistrationPolicy(decoding: [0xFF]) }
        let long =
            Array("register * open\n".utf8) + [UInt8](repeating: 0x0A, count: RegistrationPolicy.maximumByteCount)
        #expect(throws: RegistrationPolicyError(.notText)) { try RegistrationPolicy(decoding: long) }
    }
}
