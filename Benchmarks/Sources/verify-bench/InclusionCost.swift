// SPDX-License-Identifier: Apache-2.0

import CAllocations
import Crypto
import Measuring
import TransparencyLog

/// An inclusion check of 20 hashes beside the 21 SHA-256 calls that it makes.
struct InclusionCost {
    private let entry = [UInt8](repeating: 0x41, count: 134)
    private let proof: InclusionProof
    private let head: TreeHead
    private let leafInput: [UInt8]
    private let nodeInput = [UInt8](repeating: 0x5A, count: 65)

    init() throws {
        let index: UInt64 = 700_001
        var tree = MerkleTree()
        for number in 0..<UInt64(1 << 20) {
            let filler = withUnsafeBytes(of: number.bigEndian) { Array($0) }
            tree.append(.leaf(number == index ? entry : filler))
        }
        proof = try tree.inclusionProof(index: index, size: tree.size)
        head = TreeHead(size: tree.size, root: try tree.root(size: tree.size))
        leafInput = [0x00] + entry
    }

    func report() throws {
        Report.title("Inclusion check of \(proof.hashes.count) hashes")
        let timings = try interleaved(
            rounds: 300, repetitions: 500,
            [Candidate("check", check), Candidate("21 bare SHA-256 calls", bare)])
        for candidate in timings.names.indices {
            Report.line("\(timings.names[candidate]), fastest round", timings.fastest(candidate) / 1000, "µs")
        }
        Report.goal(
            "check ÷ bare calls, fastest rounds", timings.fastest(0) / timings.fastest(1), atMost: 1.2)
        Report.goal("check ÷ bare calls, median of rounds", timings.median { $0[0] / $0[1] }, atMost: 1.2)
        try reportAllocations()
    }

    private func reportAllocations() throws {
        let before = allocation_count()
        keep([UInt8](repeating: 1, count: 4096))
        guard allocation_count() > before else {
            print("  allocations cannot be counted on this system")
            return
        }
        let ours = try allocations(check)
        let bare = try allocations(bare)
        Report.line("heap allocations of a check, for each hash", ours, "")
        Report.line("heap allocations of a bare SHA-256 call", bare, "")
        Report.goal("heap allocations of ours, for each hash", ours - bare, atMost: 0)
    }

    /// Heap allocations for each of the 21 hashes.
    private func allocations(_ work: () throws -> Void) throws -> Double {
        let before = allocation_count()
        for _ in 0..<1000 { try work() }
        return Double(allocation_count() - before) / 21_000
    }

    private func check() throws { try proof.verify(leaf: .leaf(entry), in: head) }

    private func bare() {
        var sum = Self.hash(leafInput)
        for _ in 0..<20 { sum &+= Self.hash(nodeInput) }
        keep(sum)
    }

    @inline(__always)
    private static func hash(_ input: [UInt8]) -> UInt8 {
        var hasher = SHA256()
        input.withUnsafeBytes { hasher.update(bufferPointer: $0) }
        return hasher.finalize().withUnsafeBytes { $0[0] }
    }
}
