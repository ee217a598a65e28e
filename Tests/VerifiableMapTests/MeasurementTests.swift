// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import Testing
import VerifiableMap

private let measuredCount = ProcessInfo.processInfo.environment["SIGNET_MEASURE"].flatMap { Int($0) }

/// What the map costs, printed. Run with `-c release`, once for each size: `SIGNET_MEASURE=1000000`.
@Suite(.enabled(if: measuredCount != nil, "set SIGNET_MEASURE to a number of entries"))
struct MeasurementTests {
    /// Milliseconds of processor time of this process.
    private func processorTime(_ body: () throws -> Void) rethrows -> Double {
        let start = clock()
        try body()
        return Double(clock() - start) * 1_000 / Double(CLOCKS_PER_SEC)
    }

    /// Bytes that this process holds in memory; zero where the system does not say.
    private var residentByteCount: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4_096 : 0
    }

    private func text(_ number: Double, _ digits: Int = 1) -> String {
        String(format: "%.\(digits)f", number)
    }

    @Test func costs() throws {
        let count = try #require(measuredCount)
        let entries = try numbered(0..<count)
        let fresh = try (0..<6).map { try numbered(count + $0 * 10_000..<count + ($0 + 1) * 10_000) }
        var trie = MapTrie()
        let before = residentByteCount
        let build = try processorTime {
            for start in stride(from: 0, to: count, by: 1_000) {
                try trie.update(Array(entries[start..<start + 1_000]))
            }
        }
        let resident = residentByteCount - before
        print("\(count) entries in batches of 1000: \(text(Double(count) / build * 1_000, 0)) sets/s")
        print("  resident \(text(Double(resident) / Double(count))) B an entry")
        try printProofCosts(trie.current, entries)
        try printEpochCosts(&trie, fresh)
        try printSnapshotCosts(trie.current)
        let whole = try processorTime { _ = try version(entries) }
        print("  one batch of all: \(text(Double(count) / whole * 1_000, 0)) sets/s")
    }

    private func printProofCosts(_ version: MapVersion, _ entries: [MapEntry]) throws {
        let count = 10_000
        let sample = stride(from: 0, to: entries.count, by: entries.count / count).map { entries[$0] }
        var proofs: [MapProof] = []
        let prove = processorTime { proofs = sample.map { version.proof(of: $0.key) } }
        let bytes = proofs.map(\.encoded)
        let verify = try processorTime {
            for (entry, bytes) in zip(sample, bytes) {
                _ = try MapProof(decoding: bytes, value: entry.value).verify(entry.key, in: version.root)
            }
        }
        let hashCount = proofs.reduce(0) { $0 + 1 + ($1.path?.steps.count ?? 0) }
        let hashing = processorTime { for _ in 0..<hashCount { sinkHash() } }
        let size = Double(bytes.reduce(0) { $0 + $1.count }) / Double(count)
        print("  proof \(text(size)) B, prove \(text(prove * 1_000 / Double(count), 2)) us")
        let surplus = (verify - hashing) / hashing * Double(hashCount) / Double(count)
        print("  verify \(text(verify * 1_000 / Double(count), 2)) us: its hashes and \(text(surplus)) more")
    }

    /// One hash of 65 bytes, as plainly as swift-crypto lets us.
    private func sinkHash() {
        withUnsafeTemporaryAllocation(byteCount: 65, alignment: 8) { buffer in
            buffer.initializeMemory(as: UInt8.self, repeating: 7)
            var hasher = SHA256()
            hasher.update(bufferPointer: UnsafeRawBufferPointer(buffer))
            withExtendedLifetime(hasher.finalize()) {}
        }
    }

    private func printEpochCosts(_ trie: inout MapTrie, _ batches: [[MapEntry]]) throws {
        for batch in batches {
            var prediction: MapPrediction?
            let predict = try processorTime { prediction = try trie.predict(batch) }
            let swap = try processorTime { if let made = prediction { try trie.commit(made) } }
            prediction = nil
            let free = processorTime { _ = trie.nodeCount() }
            print(
                "  10000 more: predict \(text(predict)) ms, swap \(text(swap, 3)) ms, free \(text(free)) ms")
        }
    }

    private func printSnapshotCosts(_ version: MapVersion) throws {
        var snapshot: [UInt8] = []
        let write = processorTime { snapshot = version.snapshot(position: 0) }
        let read = try processorTime { _ = try MapTrie.decoding(snapshot: snapshot) }
        print("  snapshot \(snapshot.count) B, write \(text(write)) ms, read \(text(read)) ms")
    }
}
