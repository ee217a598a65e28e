// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TransparencyLog

/// transparency-dev/merkle's published cases.
@Suite(
    "Published Merkle proof cases", .enabled(if: OutsideVectors.present, "the outside vectors are not here"))
struct MerkleVectorTests {
    struct InclusionCase: Decodable {
        let name: String
        let leafIdx: UInt64
        let treeSize: UInt64
        let root: Data
        let leafHash: Data
        let proof: [Data]?
        let wantErr: Bool
    }

    struct ConsistencyCase: Decodable {
        let name: String
        let size1: UInt64
        let size2: UInt64
        let root1: Data
        let root2: Data
        let proof: [Data]?
        let wantErr: Bool
    }

    /// Some consistency cases use words for roots. Ours have 32 bytes by type, so a hash of the words stands for
    /// them: equal words stay equal, others differ.
    static func hash(_ data: Data) -> TreeHash { TreeHash(data) ?? .leaf(Array(data)) }

    /// Whether the case is accepted; a hash of another length refuses it by its type.
    static func accepts(_ test: InclusionCase) -> Bool {
        let hashes = (test.proof ?? []).compactMap { TreeHash($0) }
        guard let root = TreeHash(test.root), let leaf = TreeHash(test.leafHash),
            hashes.count == test.proof?.count ?? 0
        else { return false }
        let proof = InclusionProof(index: test.leafIdx, hashes: hashes)
        return (try? proof.verify(leaf: leaf, in: TreeHead(size: test.treeSize, root: root))) != nil
    }

    @Test func everyInclusionCaseHasItsVerdict() throws {
        let cases: [InclusionCase] = try OutsideVectors.list("merkle/inclusion.json")
        #expect(cases.count == 98)
        for test in cases {
            #expect(Self.accepts(test) != test.wantErr, "\(test.name)")
        }
    }

    @Test func everyConsistencyCaseHasItsVerdict() throws {
        let cases: [ConsistencyCase] = try OutsideVectors.list("merkle/consistency.json")
        #expect(cases.count == 98)
        for test in cases {
            let proof = ConsistencyProof(hashes: (test.proof ?? []).map(Self.hash))
            let old = TreeHead(size: test.size1, root: Self.hash(test.root1))
            let new = TreeHead(size: test.size2, root: Self.hash(test.root2))
            let accepted = (try? proof.verify(from: old, to: new)) != nil
            #expect(accepted != test.wantErr, "\(test.name)")
        }
    }
}
