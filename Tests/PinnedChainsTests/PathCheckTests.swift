// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import Foundation
import KeyPinning
import PinnedChains
import SwiftASN1
import Testing
import X509

/// One certificate of a test chain, without a fault unless a test sets one.
struct Sheet {
    var subject: String
    var version = Certificate.Version.v3
    var serial = Certificate.SerialNumber()
    var days = -1.0...90.0
    var basic: BasicConstraints?
    var usage: KeyUsage?
    var purposes: [ExtendedKeyUsage.Usage]?
    var names: [GeneralName]?
    var constraints: NameConstraints?
    var extra: [Certificate.Extension] = []
    var key = Certificate.PrivateKey(P256.Signing.PrivateKey())
    var algorithm: Certificate.SignatureAlgorithm?
    /// The key that is certified in place of `key`.
    var otherKey: Certificate.PublicKey?

    static func root() -> Sheet {
        Sheet(subject: "root", basic: .isCertificateAuthority(maxPathLength: nil), usage: KeyUsage(keyCertSign: true))
    }
    static func intermediate() -> Sheet {
        Sheet(
            subject: "intermediate", basic: .isCertificateAuthority(maxPathLength: 0),
            usage: KeyUsage(keyCertSign: true))
    }
    static func leaf() -> Sheet {
        Sheet(
            subject: "leaf", basic: .notCertificateAuthority, usage: KeyUsage(digitalSignature: true),
            purposes: [.serverAuth], names: [.dnsName("api.example.org")])
    }

    func certificate(by issuer: Sheet) throws -> [UInt8] {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let algorithm =
            issuer.algorithm
            ?? (_RSA.Signing.PublicKey(issuer.key.publicKey) == nil ? .ecdsaWithSHA256 : .sha256WithRSAEncryption)
        let certificate = try Certificate(
            version: version, serialNumber: serial, publicKey: otherKey ?? key.publicKey,
            notValidBefore: now.addingTimeInterval(days.lowerBound * 86_400),
            notValidAfter: now.addingTimeInterval(days.upperBound * 86_400),
            issuer: try Self.name(issuer.subject), subject: try Self.name(subject), signatureAlgorithm: algorithm,
            extensions: try extensions(), issuerPrivateKey: issuer.key)
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        return serializer.serializedBytes
    }

    private static func name(_ text: String) throws -> DistinguishedName {
        try text.isEmpty ? DistinguishedName() : DistinguishedName { CommonName(text) }
    }

    private func extensions() throws -> Certificate.Extensions {
        try Certificate.Extensions {
            if let basic { Critical(basic) }
            if let usage { Critical(usage) }
            if let purposes { try ExtendedKeyUsage(purposes) }
            if let names { SubjectAlternativeNames(names) }
            if let constraints { Critical(constraints) }
            for one in extra { one }
        }
    }
}

@Suite struct PathCheckTests {
    /// The refusal of a chain of root, intermediate and leaf, each of which a test may change.
    static func fault(
        host: String = "api.example.org", at now: UInt64 = 1_800_000_000,
        _ spoil: (_ root: inout Sheet, _ intermediate: inout Sheet, _ leaf: inout Sheet) -> Void
    ) async throws -> ChainRefusal.Reason? {
        var (root, intermediate, leaf) = (Sheet.root(), Sheet.intermediate(), Sheet.leaf())
        spoil(&root, &intermediate, &leaf)
        let rule = try PinRule(for: HostPattern(host.utf8), mode: .trustOnly, pins: [])
        let verifier = ChainVerifier(
            policy: try PinPolicy(version: 1, environment: .staging, rules: [rule]),
            anchors: try TrustAnchors([root.certificate(by: root)]))
        do throws(ChainRefusal) {
            let chain = [try? leaf.certificate(by: intermediate), try? intermediate.certificate(by: root)]
            _ = try await verifier.verify(chain.compactMap(\.self), for: ServerName.dnsOrAddress(host), at: now)
            return nil
        } catch { return error.reason }
    }

    @Test func anOrdinaryChainPasses() async throws {
        #expect(try await Self.fault { _, _, _ in } == nil)
    }

    @Test func datesAreCheckedAtEveryDepth() async throws {
        #expect(try await Self.fault { _, _, leaf in leaf.days = -2 ... -1 } == .path(.expired(depth: 0)))
        #expect(try await Self.fault { _, middle, _ in middle.days = -2 ... -1 } == .path(.expired(depth: 1)))
        #expect(try await Self.fault { root, _, _ in root.days = -2 ... -1 } == .path(.expired(depth: 2)))
        #expect(try await Self.fault { _, _, leaf in leaf.days = 1...2 } == .path(.notYetValid(depth: 0)))
    }

    @Test func theFirstAndTheLastSecondAreValid() async throws {
        let last: UInt64 = 1_800_000_000 + 90 * 86_400
        #expect(try await Self.fault(at: last) { _, _, _ in } == nil)
        #expect(try await Self.fault(at: last + 1) { _, _, _ in } == .path(.expired(depth: 0)))
        let first: UInt64 = 1_800_000_000 - 86_400
        #expect(try await Self.fault(at: first) { _, _, _ in } == nil)
        #expect(try await Self.fault(at: first - 1) { _, _, _ in } == .path(.notYetValid(depth: 0)))
    }

    @Test func path_refusesAnIssuerThatIsNoAuthorityAndATooLongPath() async throws {
        #expect(try await Self.fault { _, middle, _ in middle.basic = nil } == .path(.notAnAuthority(depth: 1)))
        #expect(
            try await Self.fault { _, middle, _ in middle.basic = .notCertificateAuthority }
                == .path(.notAnAuthority(depth: 1)))
        #expect(
            try await Self.fault { root, _, _ in root.basic = .isCertificateAuthority(maxPathLength: 0) }
                == .path(.tooLong(depth: 2)))
        #expect(
            try await Self.fault { _, _, leaf in leaf.basic = .isCertificateAuthority(maxPathLength: nil) }
                == .path(.authorityAsServer))
    }

    @Test func path_refusesANamelessAuthority() async throws {
        #expect(
            try await Self.fault { _, middle, _ in middle.subject = "" } == .path(.namelessAuthority(depth: 1)))
        #expect(try await Self.fault { root, _, _ in root.subject = "" } == .path(.namelessAuthority(depth: 2)))
        #expect(try await Self.fault { _, _, leaf in leaf.subject = "" } == nil)
    }

    @Test(
        arguments: [
            ([0], false), ([1], true), ([UInt8](repeating: 0x7F, count: 20), true),
            ([UInt8](repeating: 0xFF, count: 20), true), ([1] + [UInt8](repeating: 0, count: 20), false),
        ] as [([UInt8], Bool)])
    func path_refusesASerialNumberOfZeroOrMoreThan20Bytes(number: [UInt8], passes: Bool) async throws {
        let serial = Certificate.SerialNumber(bytes: number)
        #expect(
            try await Self.fault { _, _, leaf in leaf.serial = serial }
                == (passes ? nil : .path(.serialNumber(depth: 0))))
        #expect(
            try await Self.fault { _, middle, _ in middle.serial = serial }
                == (passes ? nil : .path(.serialNumber(depth: 1))))
        #expect(try await Self.fault { root, _, _ in root.serial = serial } == nil)
    }

    @Test func path_refusesAKeyUsedOutsideItsUsage() async throws {
        #expect(
            try await Self.fault { _, _, leaf in leaf.usage = KeyUsage(keyAgreement: true) }
                == .path(.keyUsage(depth: 0)))
        #expect(
            try await Self.fault { _, middle, _ in middle.usage = KeyUsage(cRLSign: true) }
                == .path(.keyUsage(depth: 1)))
        #expect(
            try await Self.fault { _, _, leaf in leaf.usage = KeyUsage(digitalSignature: true, keyCertSign: true) }
                == .path(.keyUsage(depth: 0)))
        #expect(try await Self.fault { _, _, leaf in leaf.usage = nil } == nil)
    }

    @Test func path_refusesACertificateThatIsNotForServers() async throws {
        #expect(
            try await Self.fault { _, _, leaf in leaf.purposes = [.clientAuth] } == .path(.notForServers(depth: 0)))
        #expect(try await Self.fault { _, _, leaf in leaf.purposes = [.any] } == .path(.notForServers(depth: 0)))
        #expect(
            try await Self.fault { _, middle, _ in middle.purposes = [.clientAuth] } == .path(.notForServers(depth: 1)))
        #expect(try await Self.fault { _, middle, _ in middle.purposes = [.any] } == nil)
        #expect(try await Self.fault { root, _, _ in root.purposes = [.clientAuth] } == nil)
    }

    @Test func path_refusesAnUnknownCriticalExtension() async throws {
        let unknown = Certificate.Extension(oid: [1, 3, 6, 1, 4, 1, 5], critical: true, value: [5, 0])
        #expect(
            try await Self.fault { _, _, leaf in leaf.extra = [unknown] } == .path(.unknownExtension(depth: 0)))
        #expect(try await Self.fault { _, middle, _ in middle.extra = [unknown] } == .untrusted)
    }

    @Test func weakKeysAndSignaturesAreRefused() async throws {
        let small = try Certificate.PrivateKey(_RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1024)))
        #expect(try await Self.fault { _, _, leaf in leaf.key = small } == .malformedCertificate)
        let large = try Certificate.PrivateKey(_RSA.Signing.PrivateKey(keySize: .bits2048))
        #expect(try await Self.fault { _, middle, _ in middle.key = large } == nil)
        #expect(
            try await Self.fault { _, middle, _ in
                middle.key = large
                middle.algorithm = .sha1WithRSAEncryption
            } == .path(.weakSignature(depth: 0)))
    }

    // MARK: Names

    @Test(arguments: [
        ("api.example.org", "api.example.org", true), ("API.Example.org", "api.example.org", true),
        ("*.example.org", "api.example.org", true), ("*.example.org", "a.api.example.org", false),
        ("*.example.org", "example.org", false), ("a*.example.org", "api.example.org", false),
        ("*.org", "example.org", false), ("**.example.org", "api.example.org", false),
        ("api.example.org.", "api.example.org", false), ("*", "localhost", false),
        ("api.example.org\0.evil.org", "api.example.org", false), ("127.0.0.1", "127.0.0.1", false),
        ("*.co.uk", "example.co.uk", false), ("*.example.co.uk", "api.example.co.uk", true),
        ("*.s3.amazonaws.com", "bucket.s3.amazonaws.com", true),
    ]) func namesMatchStrictly(name: String, host: String, passes: Bool) async throws {
        let fault = try await Self.fault(host: host) { _, _, leaf in leaf.names = [.dnsName(name)] }
        #expect(fault == (passes ? nil : .path(.otherName)))
    }

    @Test func path_ignoresNamesInTheSubject() async throws {
        #expect(
            try await Self.fault { _, _, leaf in
                leaf.names = nil
                leaf.subject = "api.example.org"
            } == .path(.noNames))
    }

    @Test func anAddressMatchesTheSameAddressOnly() async throws {
        let loopback = GeneralName.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))
        #expect(try await Self.fault(host: "127.0.0.1") { _, _, leaf in leaf.names = [loopback] } == nil)
        #expect(
            try await Self.fault(host: "127.0.0.2") { _, _, leaf in leaf.names = [loopback] } == .path(.otherName))
    }

    // MARK: Constraints

    private static func constrained(
        _ name: String, _ constraints: NameConstraints, host: String = "api.example.org"
    ) async throws -> ChainRefusal.Reason? {
        try await fault(host: host) { _, middle, leaf in
            middle.constraints = constraints
            leaf.names = [.dnsName(host), .dnsName(name)]
        }
    }

    @Test(arguments: [
        ("a.b.org", "b.org", true), ("b.org", "b.org", true), ("ab.org", "b.org", false), ("b.org", ".b.org", false),
        ("a.b.org", ".b.org", true), ("*.b.org", "b.org", true), ("*.b.org", ".b.org", true),
        ("*.b.org", "a.b.org", false), ("B.org", "b.ORG", true), ("anything.test", "", true),
    ]) func nameConstraints_permitOnlyPermittedTrees(name: String, tree: String, passes: Bool) async throws {
        let both = NameConstraints(permittedDNSDomains: [tree, "example.org"])
        #expect(try await Self.constrained(name, both) == (passes ? nil : .path(.constrainedName(depth: 1))))
    }

    @Test(arguments: [
        ("a.b.org", "b.org", false), ("ab.org", "b.org", true), ("b.org", ".b.org", true), ("a.b.org", ".b.org", false),
        ("*.b.org", "b.org", false), ("*.b.org", "a.b.org", false), ("*.b.org", ".a.b.org", true),
        ("*.b.org", "x.a.b.org", true), ("*.b.org", "c.org", true), ("a.test", "", false),
    ]) func nameConstraints_refuseExcludedTrees(name: String, tree: String, passes: Bool) async throws {
        let excluded = NameConstraints(excludedDNSDomains: [tree])
        #expect(try await Self.constrained(name, excluded) == (passes ? nil : .path(.constrainedName(depth: 1))))
    }

    @Test func nameConstraints_coverAddresses() async throws {
        let tree = ASN1OctetString(contentBytes: [10, 0, 0, 0, 255, 0, 0, 0])
        func fault(_ address: [UInt8], _ constraints: NameConstraints) async throws -> ChainRefusal.Reason? {
            try await Self.fault { _, middle, leaf in
                middle.constraints = constraints
                leaf.names = [
                    .dnsName("api.example.org"), .ipAddress(ASN1OctetString(contentBytes: address[...])),
                ]
            }
        }
        let (permitted, excluded) = (
            NameConstraints(permittedIPRanges: [tree]), NameConstraints(excludedIPRanges: [tree])
        )
        #expect(try await fault([10, 1, 2, 3], permitted) == nil)
        #expect(try await fault([11, 1, 2, 3], permitted) == .path(.constrainedName(depth: 1)))
        #expect(try await fault([10, 1, 2, 3], excluded) == .path(.constrainedName(depth: 1)))
        #expect(try await fault([11, 1, 2, 3], excluded) == nil)
        let odd = NameConstraints(excludedIPRanges: [ASN1OctetString(contentBytes: [10, 0, 0, 0, 255])])
        #expect(try await fault([11, 1, 2, 3], odd) == .path(.unknownConstraint(depth: 1)))
    }

    @Test func nameConstraints_ofUnknownKindsAreRefused() async throws {
        let subject = NameConstraints(
            excludedSubtrees: [.directoryName(try DistinguishedName { CommonName("x") })])
        #expect(try await Self.constrained("a.test", subject) == .path(.unknownConstraint(depth: 1)))
        let mail = NameConstraints(permittedEmailAddresses: ["example.org"])
        #expect(try await Self.constrained("a.test", mail) == nil)
    }

    @Test func nameConstraints_refuseEmptyConstraints() async throws {
        #expect(
            try await Self.fault { _, middle, _ in middle.constraints = NameConstraints() }
                == .path(.malformedExtension(depth: 1)))
    }

    @Test func nameConstraints_areRefusedInALeaf() async throws {
        #expect(
            try await Self.fault { _, _, leaf in
                leaf.constraints = NameConstraints(permittedDNSDomains: ["example.org"])
            } == .path(.unknownConstraint(depth: 0)))
    }

    @Test func path_refusesTooManyNames() async throws {
        let names = (0..<700).map { GeneralName.dnsName("n\($0).example.org") }
        let trees = (0..<700).map { "t\($0).example.com" }
        let fault = try await Self.fault { _, middle, leaf in
            middle.constraints = NameConstraints(excludedDNSDomains: trees)
            leaf.names = [.dnsName("api.example.org")] + names
        }
        #expect(fault == .path(.tooManyNames))
    }
}

extension ServerName {
    static func dnsOrAddress(_ text: String) -> ServerName {
        (try? ServerName(text.utf8)) ?? .dns(Array(text.utf8))
    }
}
