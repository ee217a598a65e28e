// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyPinning
import PinScenarios
import PinnedChains
import Testing

@testable import PinnedHTTP
@testable import SignetClient

/// Which verdicts on chains are kept, and for how long.
@Suite struct VerifiedChainCacheTests {
    private static let now: UInt64 = 1_800_000_000
    private static let host = ServerName.dns(Array(PinScenario.host.utf8))

    private struct Fixture {
        let scenario: PinScenario
        let verdict: PinVerdict
        let cache = VerifiedChainCache(capacity: 4)
        let key: [UInt8]

        init() async throws {
            let moment = Date(timeIntervalSince1970: Double(now))
            scenario = try #require(try PinScenario.all(at: moment).first { $0.row == "01" })
            let verifier = ChainVerifier(policy: try scenario.policy(), anchors: try TrustAnchors(scenario.anchors))
            verdict = try await verifier.verify(scenario.presented, for: host, at: now)
            key = VerifiedChainCache.key(scenario.presented, host: host, policyVersion: 1)
        }

        func keep(expiry: PinExpiry? = nil, at time: UInt64 = now) throws {
            let rule = try PinRule(for: .exactly(host), pins: scenario.pins, expiry: expiry)
            cache.keep(verdict, as: key, rule: rule, at: time)
        }
    }

    @Test func aVerdictIsKeptForTenMinutes() async throws {
        let fixture = try await Fixture()
        #expect(fixture.cache.verdict(fixture.key, at: Self.now) == nil)
        try fixture.keep()
        #expect(fixture.cache.verdict(fixture.key, at: Self.now + 600) == fixture.verdict)
        #expect(fixture.cache.verdict(fixture.key, at: Self.now + 601) == nil)
        #expect(fixture.cache.verdict(fixture.key, at: Self.now) == nil)  // and forgotten
    }

    @Test func aClockThatWentBackInvalidatesAVerdict() async throws {
        let fixture = try await Fixture()
        try fixture.keep()
        #expect(fixture.cache.verdict(fixture.key, at: Self.now - 1) == nil)
    }

    @Test func aVerdictEndsWithItsCertificates() async throws {
        let fixture = try await Fixture()
        let ends = try fixture.scenario.presented.map { try CertificateFields($0).notAfter }
        let end = UInt64(try #require(ends.min()))
        try fixture.keep(at: end - 10)
        #expect(fixture.cache.verdict(fixture.key, at: end) == fixture.verdict)
        #expect(fixture.cache.verdict(fixture.key, at: end + 1) == nil)
        try fixture.keep(at: end + 1)
        #expect(fixture.cache.verdict(fixture.key, at: end + 1) == nil)
    }

    @Test func aVerdictEndsWithItsRule() async throws {
        let fixture = try await Fixture()
        try fixture.keep(expiry: PinExpiry(time: Self.now + 5))
        #expect(fixture.cache.verdict(fixture.key, at: Self.now + 5) == fixture.verdict)
        #expect(fixture.cache.verdict(fixture.key, at: Self.now + 6) == nil)
    }

    @Test func theCacheKeyCoversChainHostAndPolicy() async throws {
        let fixture = try await Fixture()
        let presented = fixture.scenario.presented
        let joined = [presented[0] + presented[1]]
        var keys: Set = [
            fixture.key, VerifiedChainCache.key(presented, host: Self.host, policyVersion: 2),
            VerifiedChainCache.key(presented, host: .dns(Array("localhost2".utf8)), policyVersion: 1),
            VerifiedChainCache.key(presented.reversed(), host: Self.host, policyVersion: 1),
            VerifiedChainCache.key(presented + [[]], host: Self.host, policyVersion: 1),
            VerifiedChainCache.key(joined, host: Self.host, policyVersion: 1),
        ]
        #expect(keys.count == 6)
        for certificate in presented.indices {
            for index in presented[certificate].indices {
                var other = presented
                other[certificate][index] ^= 1
                keys.insert(VerifiedChainCache.key(other, host: Self.host, policyVersion: 1))
            }
        }
        #expect(keys.count == 6 + joined[0].count)
    }

    @Test func theCacheIsBounded() async throws {
        let fixture = try await Fixture()
        let rule = try PinRule(for: .exactly(Self.host), pins: fixture.scenario.pins)
        for number in UInt8(0)..<20 { fixture.cache.keep(fixture.verdict, as: [number], rule: rule, at: Self.now) }
        let kept = (UInt8(0)..<20).count { fixture.cache.verdict([$0], at: Self.now) != nil }
        #expect((1...4).contains(kept))
        #expect(fixture.cache.verdict([19], at: Self.now) != nil)
    }
}
