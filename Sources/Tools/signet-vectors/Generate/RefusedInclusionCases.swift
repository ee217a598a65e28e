// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import TransparencyLog

/// A checkpoint to believe, and an entry that is not where the proof says.
enum RefusedInclusionCases {
    static func all(_ bench: VectorBench) throws -> [TlogProofCase] {
        try paths(bench) + heads(bench)
    }

    private static func paths(_ bench: VectorBench) throws -> [TlogProofCase] {
        func refuse(
            _ name: String, _ reason: String, _ change: (inout ProofDraft) throws -> Void
        ) throws -> TlogProofCase {
            try bench.refuse(name, .inclusion, reason, change: change)
        }
        return [
            try refuse("entry-bit", "one bit of the entry differs") { $0.entry = $0.entry.flipping(at: 0) },
            try refuse("entry-newline-missing", "the entry lacks its last LF") { $0.entry.removeLast() },
            try refuse("entry-neighbour", "the entry is the one before") { $0.entry = VectorBench.entry(5) },
            try refuse("index-other", "the index is the one before") { $0.index = line("index 5") },
            try refuse("index-is-size", "the index equals the size") { $0.index = line("index 11") },
            try refuse("index-largest", "the index is 2^64 - 1") {
                $0.index = line("index 18446744073709551615")
            },
            try refuse("index-modulo-path", "the index lies 16 further, where the path turns the same way") {
                $0.index = line("index 22")
            },
            try refuse("hash-first-missing", "the first hash is missing") { $0.hashes.removeFirst() },
            try refuse("hash-last-missing", "the last hash is missing") { $0.hashes.removeLast() },
            try refuse("hashes-missing", "there are no hashes") { $0.hashes = [] },
            try refuse("hash-surplus", "a hash too many, at the end") { $0.hashes.append($0.hashes[0]) },
            try refuse("hash-surplus-first", "a hash too many, at the beginning") {
                $0.hashes.insert($0.hashes[0], at: 0)
            },
            try refuse("hashes-swapped", "two hashes are swapped") { $0.hashes.swapAt(0, 1) },
            try refuse("hashes-reversed", "the hashes stand from the root down") { $0.hashes.reverse() },
            try refuse("hash-bit", "one bit of a hash differs") {
                $0.hashes[2] = base64Line(try Base64.decode($0.hashes[2].dropLast()).flipping(at: 31))
            },
            try refuse("hash-zero", "a hash is all zeros") {
                $0.hashes[0] = base64Line(Array(repeating: 0, count: 32))
            },
        ]
    }

    private static func heads(_ bench: VectorBench) throws -> [TlogProofCase] {
        func resign(
            _ name: String, _ reason: String, _ text: (ProofDraft) throws -> [UInt8]
        ) throws -> TlogProofCase {
            try bench.refuse(name, .inclusion, reason) {
                $0.text = try text($0)
                $0.signatures = try bench.sign($0.text)
            }
        }
        return [
            try resign("root-other", "another root was signed") { _ in
                try bench.text(size: 11, root: .leaf([1]))
            },
            try resign("root-is-leaf", "the leaf's hash was signed as the root") {
                try bench.text(size: 11, root: .leaf($0.entry))
            },
            try resign("size-other", "a size was signed that the path does not fit") { _ in
                let root = try Checkpoint(decoding: bench.text(size: 11)).head.root
                return try bench.text(size: 1000, root: root)
            },
            try resign("checkpoint-older", "the checkpoint is an earlier one of the same log") { _ in
                try bench.text(size: 10)
            },
            try resign("checkpoint-before-entry", "the checkpoint is older than the entry") { _ in
                try bench.text(size: 6)
            },
            try resign("tree-empty", "the checkpoint is that of the empty tree") { _ in
                try bench.text(size: 0, root: .emptyTree)
            },
            try bench.refuse(
                "node-as-entry", .inclusion, "the entry is the preimage of a node, and the proof starts there"
            ) {
                let leaves = [VectorBench.entry(0), VectorBench.entry(1)].map { TreeHash.leaf($0) }
                $0 = try bench.draft(index: 0, size: 4)
                $0.entry = leaves[0].bytes + leaves[1].bytes
                $0.hashes.removeFirst()
                $0.text = try bench.text(size: 2, root: Checkpoint(decoding: $0.text).head.root)
                $0.signatures = try bench.sign($0.text)
            },
            try bench.refuse(
                "entry-hash-without-prefix", .inclusion,
                "the tree was built with SHA-256 of the entry, without the leaf prefix"
            ) {
                $0.entry = VectorBench.entry(0)
                $0.index = line("index 0")
                $0.hashes = []
                $0.text = try bench.text(size: 1, root: VectorBench.plainHash($0.entry))
                $0.signatures = try bench.sign($0.text)
                ($0.size, $0.leafIndex) = (1, 0)
            },
        ]
    }
}
