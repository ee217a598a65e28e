import Foundation
import Testing
import VerifiableMap

/// What the map costs, printed; run with `SIGNET_MEASURE=1` and `-c release`.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["SIGNET_MEASURE"] != nil, "set SIGNET_MEASURE=1"))
struct MeasurementTests {
    /// Milliseconds of processor time of this process.
    private func processorTime(_ body: () throws -> Void) rethrows -> Double {
        let start = clock()
        try body()
        return Double(clock() - start) * 1_000 / Double(CLOCKS_PER_SEC)
    }

    /// Bytes that this process holds in memory; zero where the system does not say.
    private var residentByteCount: Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4_096 : 0
    }

    private func text(_ number: Double, _ digits: Int = 1) -> String { String(format: "%.\(digits)f", number) }

    @Test(arguments: [10_000, 100_000, 1_000_000]) func costs(count: Int) throws {
        let entries = try numbered(0..<count)
        let fresh = try (0..<6).map { try numbered(count + $0 * 10_000..<count + ($0 + 1) * 10_000) }
        var trie = MapTrie()
        let before = residentByteCount
        let build = try processorTime {
            for start in stride(from: 0, to: count, by: 1_000) { try trie.update(Array(entries[start..<start + 1_000])) }
        }
        let resident = residentByteCount - before
        let version = trie.current
        let sample = stride(from: 0, to: count, by: max(1, count / 10_000)).map { entries[$0] }
        var proofs: [MapProof] = []
        let prove = processorTime { proofs = sample.map { version.proof(of: $0.key) } }
        let bytes = proofs.map(\.encoded)
        let verify = try processorTime {
            for (entry, bytes) in zip(sample, bytes) {
                _ = try MapProof(decoding: bytes, value: entry.value).verify(entry.key, in: version.root)
            }
        }
        print("\(count) entries in batches of 1000: \(text(Double(count) / build * 1_000, 0)) sets/s")
        print("  resident \(text(Double(resident) / Double(count))) B an entry")
        print("  proof \(text(Double(bytes.map(\.count).reduce(0, +)) / Double(sample.count))) B")
        print("  prove \(text(prove * 1_000 / Double(sample.count), 2)) us, verify \(text(verify * 1_000 / Double(sample.count), 2)) us")
        for batch in fresh {
            var prediction: MapPrediction?
            let predict = try processorTime { prediction = try trie.predict(batch) }
            let swap = try processorTime { if let made = prediction { try trie.commit(made) } }
            prediction = nil
            let free = processorTime { _ = trie.nodeCount() }
            print("  10000 more: predict \(text(predict)) ms, swap \(text(swap, 3)) ms, free \(text(free)) ms")
        }
        let after = residentByteCount - before
        print("  resident after \(text(Double(after) / Double(count + 60_000))) B an entry")
        let later = trie.current
        var snapshot: [UInt8] = []
        let write = processorTime { snapshot = later.snapshot(position: 0) }
        let read = try processorTime { _ = try MapTrie.decoding(snapshot: snapshot) }
        print("  snapshot \(snapshot.count) B, write \(text(write)) ms, read \(text(read)) ms")
        let whole = try processorTime { _ = try VerifiableMapTests.version(entries) }
        print("  one batch of all: \(text(Double(count) / whole * 1_000, 0)) sets/s")
    }
}
