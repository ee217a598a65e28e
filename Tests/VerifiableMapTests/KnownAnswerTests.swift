// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VerifiableMap

/// Roots and proofs of large maps, on which the Go package and an earlier program of ours agree.
struct KnownAnswerTests {
    struct Answer: CustomTestStringConvertible {
        let count: Int
        let root: String
        let presence: (byteCount: Int, sha256: String)
        let absence: (number: Int, byteCount: Int, sha256: String)
        var testDescription: String { "\(count) keys" }
    }

    static let small = Answer(
        count: 100_000, root: "2aa4648848e8b8b4b362904d6c4221bec9b4c391c5e9d33ce3d21253f12a153b",
        presence: (561, "76404cbabbb673e0df206000448a1d6a72b81adc9e5da239006b43387a889e5d"),
        absence: (112_345, 592, "e77b26188c81cb82574a8af3bf8de6c02542713a48bcfdba1092c5c2a42f508f"))

    static let large = Answer(
        count: 1_000_000, root: "e81f3585a34965b2bd37d6f9c81374ae6306a0f87dd4889bb6b2dfab003de547",
        presence: (759, "c1293a941e20e44a9531efd0f30a12b072c7ba7d9b439d2e1b73c1b6e836a188"),
        absence: (1_012_345, 691, "7bbb90341df6b4b28307a8777342bb4827574555bc6ce7caf8585c31c4272c69"))

    @Test func theRootOfAHundredThousandKeysIsTheKnownOne() throws { try check(Self.small) }

    /// Takes half a minute without optimisation of the tests.
    @Test(
        .enabled(
            if: ProcessInfo.processInfo.environment["SIGNET_LARGE_TESTS"] != nil, "set SIGNET_LARGE_TESTS=1"))
    func theRootOfAMillionKeysIsTheKnownOne() throws { try check(Self.large) }

    /// In batches, as a directory grows.
    private func check(_ answer: Answer) throws {
        var trie = MapTrie()
        for start in stride(from: 0, to: answer.count, by: 10_000) {
            try trie.update(numbered(start..<start + 10_000))
        }
        let version = trie.current
        #expect(version.root.bytes == (try unhex(answer.root)))
        #expect(version.count == answer.count)
        try check(version, numbered(0).key, answer.presence.byteCount, answer.presence.sha256)
        try check(
            version, numbered(answer.absence.number).key, answer.absence.byteCount, answer.absence.sha256)
    }

    private func check(_ version: MapVersion, _ key: MapKey, _ byteCount: Int, _ digest: String) throws {
        let proof = version.proof(of: key)
        #expect(proof.encoded.count == byteCount)
        #expect(sha256(proof.encoded) == (try unhex(digest)))
        _ = try proof.verify(key, in: version.root)
    }
}
