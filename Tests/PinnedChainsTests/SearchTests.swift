// SPDX-License-Identifier: Apache-2.0

import Crypto
import CryptoExtras
import Foundation
import KeyPinning
import PinScenarios
import PinnedChains
import SeededRandomness
import Testing
import X509

/// A server that writes any certificate message cannot make a client work for long.
@Suite struct SearchTests {
    private static func verify(_ presented: [[UInt8]], anchors: [[UInt8]]) async throws -> ChainRefusal.Reason? {
        let rule = try PinRule(for: HostPattern("api.example.org".utf8), mode: .trustOnly, pins: [])
        let verifier = ChainVerifier(
            policy: try PinPolicy(version: 1, environment: .staging, rules: [rule]), anchors: try TrustAnchors(anchors))
        do throws(ChainRefusal) {
            _ = try await verifier.verify(presented, for: .dnsOrAddress("api.example.org"), at: 1_800_000_000)
            return nil
        } catch { return error.reason }
    }

    /// Nine certificates of one name and one key, each of which certifies all others: 9! paths.
    @Test func certificatesThatCertifyEachOtherEndTheSearch() async throws {
        var tangle = Sheet.intermediate()
        tangle.basic = .isCertificateAuthority(maxPathLength: nil)
        let certificates = try (0..<9).map { number in
            var one = tangle
            one.names = [.dnsName("n\(number).example.org")]
            return try one.certificate(by: tangle)
        }
        let root = Sheet.root()
        let clock = ContinuousClock()
        let start = clock.now
        let reason = try await Self.verify(
            [Sheet.leaf().certificate(by: tangle)] + certificates, anchors: [root.certificate(by: root)])
        #expect(reason == .searchTooLong)
        #expect(clock.now - start < .seconds(60))
    }

    /// Authorities that certify each other under a trusted root: many paths, on each of which all names are compared
    /// again.
    @Test(arguments: [(3000, 0), (900, 1), (200, 20), (30, 200)])
    func manyPathsShareOneLimitOfNameComparisons(nameCount: Int, constraintCount: Int) async throws {
        let root = Sheet.root()
        var tangle = Sheet.intermediate()
        tangle.basic = .isCertificateAuthority(maxPathLength: nil)
        if constraintCount > 0 {
            tangle.constraints = NameConstraints(excludedDNSDomains: (0..<constraintCount).map { "t\($0).example.com" })
        }
        let certificates = try (0..<9).map { number in
            var one = tangle
            one.names = [.dnsName("n\(number).example.com")]
            return try one.certificate(by: number == 8 ? root : tangle)
        }
        var leaf = Sheet.leaf()
        leaf.names = (0..<nameCount).map { .dnsName("a\($0).example.org") }
        let anchor = try root.certificate(by: root)
        try await Self.expectAnswerInTime([leaf.certificate(by: tangle)] + certificates, anchors: [anchor])
    }

    /// A signature under the longest key costs the most, and each of these has to be tried.
    @Test func theLongestKeysAreTriedInTime() async throws {
        var random = SeededGenerator(seed: 8)
        let middle = Sheet.intermediate()
        let certificates = try (0..<8).map { _ in
            var one = middle
            let modulus = [0xFF] + (0..<1022).map { _ in UInt8.random(in: 0...255, using: &random) } + [0x01]
            one.otherKey = try .init(_RSA.Signing.PublicKey(n: modulus, e: [1, 0, 1]))
            return try one.certificate(by: middle)
        }
        var signer = middle
        signer.key = try .init(_RSA.Signing.PrivateKey(keySize: .bits4096))
        let anchor = try Sheet.root().certificate(by: Sheet.root())
        let reason = try await Self.expectAnswerInTime(
            [Sheet.leaf().certificate(by: signer)] + certificates, anchors: [anchor])
        #expect(reason == .untrusted)
    }

    /// Messages of up to 100,000 bytes: genuine certificates, damaged ones, elements of random bytes.
    @Test func anyCertificateMessageIsAnsweredInTime() async throws {
        var random = SeededGenerator(seed: 9)
        let pool = ScenarioTests.scenarios.flatMap { $0.presented + $0.anchors }
        let anchors = ScenarioTests.scenarios.flatMap(\.anchors)
        for _ in 0..<60 {
            var (message, room) = ([[UInt8]](), 100_000)
            for _ in 0..<Int.random(in: 1...12, using: &random) {
                var next = pool.randomElement(using: &random) ?? []
                switch Int.random(in: 0..<4, using: &random) {
                case 0: next[Int.random(in: 0..<next.count, using: &random)] ^= 0x10
                case 1:
                    let count = Int.random(in: 0...min(max(room, 0), 65_535), using: &random)
                    let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                    next = [0x30, 0x82, UInt8(count >> 8), UInt8(count & 0xFF)] + noise
                default: break
                }
                room -= next.count
                if room >= 0 { message.append(next) }
            }
            try await Self.expectAnswerInTime(message, anchors: anchors)
        }
    }

    /// A minute for a debug build on a busy machine; in release the slowest takes a few hundredths of a minute.
    @discardableResult
    private static func expectAnswerInTime(
        _ presented: [[UInt8]], anchors: [[UInt8]]
    ) async throws -> ChainRefusal.Reason? {
        let clock = ContinuousClock()
        let start = clock.now
        let reason = try await verify(presented, anchors: anchors)
        #expect(clock.now - start < .seconds(60))
        return reason
    }

    @Test func tooManyCertificatesAndBytesAreRefusedUnread() async throws {
        let root = Sheet.root()
        let anchors = [try root.certificate(by: root)]
        #expect(try await Self.verify([], anchors: anchors) == .noCertificate)
        #expect(
            try await Self.verify(Array(repeating: [0], count: 11), anchors: anchors) == .tooManyCertificates(11))
        #expect(
            try await Self.verify([[UInt8](repeating: 0x30, count: 65_537)], anchors: anchors) == .tooManyBytes(65_537))
        #expect(
            try await Self.verify([[UInt8](repeating: 0x30, count: 65_536)], anchors: anchors) == .malformedCertificate)
    }

    @Test func trustAnchors_refuseBytesThatAreNoCertificate() throws {
        let root = Sheet.root()
        #expect(throws: TrustAnchorFault.none) { try TrustAnchors([]) }
        #expect(throws: TrustAnchorFault.malformed(index: 1)) { try TrustAnchors([root.certificate(by: root), [1]]) }
        #expect(try TrustAnchors(readable: [root.certificate(by: root), [1]]).count == 1)
    }

    // MARK: Before the connection

    private static func admit(
        _ host: String, expiry: PinExpiry? = nil, proxies: PinPolicy.ProxyRule = .record, proxy: ProxyState = .none
    ) throws -> ChainRefusal.Reason? {
        let rule = try PinRule(for: HostPattern("api.example.org".utf8), mode: .trustOnly, pins: [], expiry: expiry)
        let policy = try PinPolicy(version: 1, environment: .staging, proxies: proxies, rules: [rule])
        let verifier = ChainVerifier(policy: policy, anchors: TrustAnchors(readable: []))
        do throws(ChainRefusal) {
            _ = try verifier.admit(.dnsOrAddress(host), at: 1000, proxy: proxy)
            return nil
        } catch { return error.reason }
    }

    @Test func admit_refusesAnUnknownHost() throws {
        #expect(try Self.admit("api.example.org") == nil)
        #expect(try Self.admit("other.example.org") == .unknownHost)
    }

    @Test func admit_refusesAnOverdueRuleOnlyIfItBlocks() throws {
        #expect(try Self.admit("api.example.org", expiry: PinExpiry(time: 999)) == nil)
        #expect(
            try Self.admit("api.example.org", expiry: PinExpiry(time: 999, action: .block))
                == .policyExpired(time: 999))
        #expect(try Self.admit("api.example.org", expiry: PinExpiry(time: 1000, action: .block)) == nil)
    }

    @Test func admit_refusesAProxyOnlyIfThePolicyDoes() throws {
        let proxy = ProxyState.configured(setting: Array("https_proxy".utf8))
        #expect(try Self.admit("api.example.org", proxy: proxy) == nil)
        #expect(try Self.admit("api.example.org", proxies: .refuse, proxy: proxy) == .proxy(proxy))
        #expect(try Self.admit("api.example.org", proxies: .refuse) == nil)
    }

    @Test func aVerdictUnderAnOverdueRuleIsOverdue() async throws {
        let scenario = try #require(ScenarioTests.scenarios.first { $0.row == "01" })
        let rule = try PinRule(
            for: HostPattern(PinScenario.host.utf8), pins: scenario.pins,
            expiry: PinExpiry(time: ScenarioTests.now - 1))
        let verifier = ChainVerifier(
            policy: try PinPolicy(version: 9, rules: [rule]), anchors: try TrustAnchors(scenario.anchors))
        let verdict = try await verifier.verify(scenario.presented, for: ScenarioTests.host, at: ScenarioTests.now)
        #expect(verdict.isOverdue)
        #expect(verdict.policyVersion == 9)
    }
}
