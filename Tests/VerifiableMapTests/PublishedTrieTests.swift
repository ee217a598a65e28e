// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VerifiableMap

/// Fourteen tries, with their roots and proofs, made by the Go package whose format this is.
@Suite("Published tries", .enabled(if: OutsideVectors.present, "the outside vectors are not here"))
struct PublishedTrieTests {
    struct Trie: Decodable {
        let key_prefix: String
        let value_prefix: String
        let n: Int
        let root: String
        let presence: [Proof]
        let absence: [Proof]

        var version: MapVersion {
            get throws { try VerifiableMapTests.version(numbered(0..<n, key_prefix, value_prefix)) }
        }
    }

    struct Proof: Decodable {
        let key: String
        let value: String
        let proof: String
    }

    static var tries: [Trie] { get throws { try OutsideVectors.list("mpt/mpt.json") } }

    @Test func theSetIsComplete() throws {
        let tries = try Self.tries
        #expect(tries.count == 14)
        #expect(tries.map(\.presence.count).reduce(0, +) == 72)
        #expect(tries.map(\.absence.count).reduce(0, +) == 140)
    }

    @Test func everyRootIsTheirs() throws {
        for trie in try Self.tries {
            #expect(try trie.version.root.bytes == unhex(trie.root), "\(trie.key_prefix) \(trie.n)")
        }
    }

    @Test func everyPresenceProofIsTheirsByteForByteAndVerifies() throws {
        for trie in try Self.tries {
            let version = try trie.version
            for test in trie.presence { try check(test, value(unhex(test.value)), version) }
        }
    }

    @Test func everyAbsenceProofIsTheirsByteForByteAndVerifies() throws {
        for trie in try Self.tries {
            let version = try trie.version
            for test in trie.absence { try check(test, nil, version) }
        }
    }

    private func check(_ test: Proof, _ value: MapValue?, _ version: MapVersion) throws {
        let (key, theirs) = (try key(unhex(test.key)), try unhex(test.proof))
        let proof = try MapProof(decoding: theirs, value: value)
        #expect(proof.encoded == theirs)
        #expect(version.proof(of: key) == proof)
        #expect(version.value(of: key) == value)
        let verified = try proof.verify(key, in: version.root)
        #expect(verified.outcome == (value.map { .present($0) } ?? .absent))
        #expect(verified.key == key && verified.root == version.root)
    }
}
