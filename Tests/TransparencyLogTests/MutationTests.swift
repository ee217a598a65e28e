// SPDX-License-Identifier: Apache-2.0

import SeededRandomness
import Testing
import TransparencyLog

/// Thousands of damaged inputs for every parser: none may trap, and what is still accepted is what is printed.
struct MutationTests {
    static let rounds = 20_000
    let log: SmallLog

    init() throws { log = try SmallLog() }

    private func check(_ seed: UInt64, _ input: [UInt8], _ reprint: ([UInt8]) throws -> [UInt8]) throws {
        #expect(try reprint(input) == input)
        var mutator = Mutator(seed: seed)
        var survivor = input
        for round in 0..<Self.rounds {
            let mutant = mutator.mutate(round.isMultiple(of: 2) ? input : survivor)
            guard let printed = try? reprint(mutant) else { continue }
            #expect(printed == mutant)
            survivor = mutant.count < 4 * input.count ? mutant : input
        }
    }

    @Test func mutatedSignedNotesNeverTrap() throws {
        try check(1, log.note(size: 9, times: [1, 2]).encoded) { try SignedNote(decoding: $0).encoded }
    }

    @Test func mutatedCheckpointsNeverTrap() throws {
        try check(2, log.text(size: 9, extensions: [[0x61]])) { try Checkpoint(decoding: $0).text }
    }

    @Test func mutatedTlogProofsNeverTrap() throws {
        try check(3, log.proof(index: 4, size: 9, times: [1], extra: [1, 2, 3]).encoded) {
            try TlogProof(decoding: $0).encoded
        }
    }

    @Test func mutatedVerifierKeysNeverTrap() throws {
        try check(4, log.log.verifierKey.encoded) { try VerifierKey(decoding: $0).encoded }
    }

    @Test func mutatedKeyNamesNeverTrap() throws {
        try check(5, Array("log.example/\u{E9}\u{1F600}".utf8)) { try KeyName($0).bytes }
    }

    @Test func mutatedTilePathsNeverTrap() throws {
        try check(6, Array("tile/12/x001/x234/067.p/25".utf8)) { try Tile(decodingPath: $0).path }
    }

    @Test func mutatedEntryBundlesNeverTrap() throws {
        try check(7, EntryBundle(entries: [[1, 2, 3], [], [4]]).encoded) {
            try EntryBundle(decoding: $0, width: 3).encoded
        }
    }

    /// A policy does not keep its comments and white space, but its canonical text is a fixed point.
    @Test func mutatedPoliciesNeverTrap() throws {
        let policy = try log.policy("group g 2 w0 w1 w2\nquorum g\n")
        #expect(try Policy(decoding: policy.encoded).encoded == policy.encoded)
        var mutator = Mutator(seed: 8)
        for _ in 0..<Self.rounds {
            guard let read = try? Policy(decoding: mutator.mutate(policy.encoded)) else { continue }
            #expect(try Policy(decoding: read.encoded) == read)
            #expect(try Policy(decoding: read.encoded).encoded == read.encoded)
        }
    }

    /// Proofs with random sizes, indexes and hash counts never trap, whatever the numbers.
    @Test func proofsOfAnySizeNeverTrap() {
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<Self.rounds {
            let shift = UInt64.random(in: 0..<64, using: &generator)
            let numbers = (0..<2).map { _ in UInt64.random(in: 0...(.max >> shift), using: &generator) }
            let count = Int.random(in: 0...66, using: &generator)
            let hashes = Array(repeating: TreeHash.emptyTree, count: count)
            let small = TreeHead(size: numbers[0], root: .leaf([1])),
                large = TreeHead(size: numbers[1], root: .leaf([2]))
            let inclusion = InclusionProof(index: numbers[0], hashes: hashes)
            #expect(throws: InclusionProofError.self) { try inclusion.verify(leaf: .leaf([3]), in: large) }
            #expect(throws: ConsistencyProofError.self) {
                try ConsistencyProof(hashes: hashes).verify(from: small, to: large)
            }
        }
    }
}
