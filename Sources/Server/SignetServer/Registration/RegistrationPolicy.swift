// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency

/// Which domains may register, and what they have to show: the file that `signetd run --registration` names.
///
/// A line is empty, a comment that begins with `#`, or one of these, with spaces between the words:
///
/// | Line | Meaning |
/// |---|---|
/// | `register DOMAIN PROOF` | what a handle of the domain needs; the first line that fits counts. `*.example.org` stands for every domain below `example.org`, `*` for all |
/// | `token-issuer URL` | the `iss` of tokens |
/// | `token-keys FILE` | the public keys of the issuer, a JSON Web Key Set |
/// | `token-client ID` | tokens are ID tokens of OpenID Connect for this client |
/// | `mail-program FILE` | what sends a code: see ``MailProgram`` |
///
/// A handle for which no line fits is not registered without an invitation.
package struct RegistrationPolicy: Hashable, Sendable {
    /// What a handle needs.
    package enum Proof: String, CaseIterable, Sendable {
        /// Nothing.
        case open
        /// An invitation, which is enough for every handle.
        case invitation
        /// A token of the operator's login system.
        case token
        /// The code that is sent to the handle, which is a mail address.
        case mail
        /// Nothing is enough but an invitation, and the refusal does not ask for one.
        case nobody
    }

    /// The domains of a line.
    enum Domains: Hashable, Sendable {
        case all
        /// `example.org`, as in handles.
        case one([UInt8])
        /// Those below it: `.example.org`.
        case below([UInt8])
    }

    /// How tokens are judged.
    package struct Tokens: Hashable, Sendable {
        /// The `iss` that they must have.
        package let issuer: String
        /// The path of the issuer's keys.
        package let keys: String
        /// The client to which ID tokens are issued; nil for tokens that name the handle and the key themselves.
        package let client: String?
    }

    /// A `register` line.
    struct Line: Hashable, Sendable {
        let domains: Domains
        let proof: Proof
    }

    private(set) var lines: [Line] = []
    /// How tokens are judged; nil if no domain registers with one.
    package private(set) var tokens: Tokens?
    /// The program that sends codes; nil if no domain registers with one.
    package private(set) var mailProgram: String?

    /// What a handle needs.
    package func proof(for handle: Handle) -> Proof {
        let domain = handle.bytes.drop { $0 != UInt8(ascii: "@") }.dropFirst()
        return lines.first { $0.domains.contain(Array(domain)) }?.proof ?? .nobody
    }

    /// The longest file, in bytes.
    package static let maximumByteCount = 65_536

    /// Reads a policy.
    ///
    /// - Throws: ``RegistrationPolicyError``.
    package init(decoding bytes: [UInt8]) throws(RegistrationPolicyError) {
        guard bytes.count <= Self.maximumByteCount, String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes)
        else { throw RegistrationPolicyError(.notText) }
        var values: [Word: String] = [:]
        for (number, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            do throws(RegistrationPolicyError.Reason) {
                try read(String(decoding: line, as: UTF8.self), into: &values)
            } catch { throw RegistrationPolicyError(error, line: number + 1) }
        }
        guard !lines.isEmpty else { throw RegistrationPolicyError(.nobodyRegisters) }
        tokens = try Self.tokens(values, isUsed: lines.contains { $0.proof == .token })
        mailProgram = values[.mailProgram]
        guard lines.contains(where: { $0.proof == .mail }) == (mailProgram != nil) else {
            throw RegistrationPolicyError(.mailWithoutProgram)
        }
    }

    /// The first word of a line.
    private enum Word: String, Hashable {
        case register
        case tokenIssuer = "token-issuer"
        case tokenKeys = "token-keys"
        case tokenClient = "token-client"
        case mailProgram = "mail-program"
    }

    private mutating func read(
        _ line: String, into values: inout [Word: String]
    ) throws(RegistrationPolicyError.Reason) {
        let words = line.split { $0 == " " || $0 == "\t" || $0 == "\r" }.map(String.init)
        guard let first = words.first, !first.hasPrefix("#") else { return }
        guard let word = Word(rawValue: first) else { throw .unknownWord(first) }
        guard word == .register else {
            guard words.count == 2 else { throw .oneValue(first) }
            guard values.updateValue(words[1], forKey: word) == nil else { throw .twice(first) }
            return
        }
        guard words.count == 3 else { throw .notARegister }
        guard let domains = Domains(words[1]) else { throw .notADomain(words[1]) }
        guard let proof = Proof(rawValue: words[2]) else { throw .unknownProof(words[2]) }
        guard !lines.contains(where: { $0.domains == domains }) else { throw .twice(words[1]) }
        guard lines.last?.domains != .all else { throw .afterAll }
        lines.append(Line(domains: domains, proof: proof))
    }

    private static func tokens(
        _ values: [Word: String], isUsed: Bool
    ) throws(RegistrationPolicyError) -> Tokens? {
        let given = [values[.tokenIssuer], values[.tokenKeys], values[.tokenClient]].contains { $0 != nil }
        guard isUsed else {
            if given { throw RegistrationPolicyError(.tokenUnused) }
            return nil
        }
        guard let issuer = values[.tokenIssuer], let keys = values[.tokenKeys] else {
            throw RegistrationPolicyError(.tokenWithoutIssuer)
        }
        return Tokens(issuer: issuer, keys: keys, client: values[.tokenClient])
    }
}

extension RegistrationPolicy.Domains {
    /// `example.org`, `*.example.org` or `*`; nil if it is none of them, or not in lower case.
    fileprivate init?(_ text: String) {
        if text == "*" {
            self = .all
            return
        }
        let isBelow = text.hasPrefix("*.")
        let domain = Array((isBelow ? text.dropFirst(2) : text[...]).utf8)
        guard (try? Handle(canonical: Array("a@".utf8) + domain)) != nil else { return nil }
        self = isBelow ? .below([UInt8(ascii: ".")] + domain) : .one(domain)
    }

    fileprivate func contain(_ domain: [UInt8]) -> Bool {
        switch self {
        case .all: true
        case .one(let own): domain == own
        case .below(let end): domain.count > end.count && domain.suffix(end.count).elementsEqual(end)
        }
    }
}

/// Why a file is no policy of registration. The operator has to correct it.
package struct RegistrationPolicyError: Error, Hashable, Sendable {
    /// What is wrong.
    package enum Reason: Error, Hashable, Sendable {
        /// Not UTF-8, or longer than ``RegistrationPolicy/maximumByteCount``.
        case notText
        /// A line that begins with another word.
        case unknownWord(String)
        /// A line that must have one word behind the first, and has not.
        case oneValue(String)
        /// A line that is not `register DOMAIN PROOF`.
        case notARegister
        /// A domain that no handle can have, upper-case letters included.
        case notADomain(String)
        /// A proof that does not exist.
        case unknownProof(String)
        /// A word or a domain that an earlier line has.
        case twice(String)
        /// A line behind `register *`, which would never count.
        case afterAll
        /// There is no `register` line.
        case nobodyRegisters
        /// A domain registers with tokens, and the issuer or its keys are not named.
        case tokenWithoutIssuer
        /// The issuer is named, and no domain registers with tokens.
        case tokenUnused
        /// A domain registers by mail and no program is named, or the other way round.
        case mailWithoutProgram
    }

    /// What is wrong.
    package let reason: Reason
    /// The line, from 1; nil if it is the file as a whole.
    package let line: Int?

    init(_ reason: Reason, line: Int? = nil) {
        self.reason = reason
        self.line = line
    }
}
