// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Measuring
import PaperDirectory
import VerifiableMap

/// An index check beside the bare SHA-256 calls of its path.
struct IndexCost {
    private let key: MapKey
    private let root: MapHash
    private let value: MapValue
    private let encoded: [UInt8]
    private let stepCount: Int
    private let nodeInput = [UInt8](repeating: 0x5A, count: 65)

    init(_ paper: PaperLookup) throws {
        guard case .present(let label) = paper.response.answer else { throw BenchFault.notInTheIndex }
        key = paper.record.label.key
        root = paper.response.epoch.root
        value = label.head.value
        encoded = label.indexPath.encoded
        stepCount = label.indexPath.steps.count
    }

    func report() throws {
        Report.title("Index check of \(stepCount) steps, read from bytes")
        let timings = try interleaved(
            rounds: 300, repetitions: 500,
            [Candidate("check", check), Candidate("\(stepCount) bare SHA-256 calls", bare)])
        for candidate in timings.names.indices {
            Report.line("\(timings.names[candidate]), fastest round", timings.fastest(candidate) / 1000, "µs")
        }
        let (path, steps) = (timings.fastest(1), Double(stepCount))
        Report.goal(
            "hashes' cost above the path, fastest rounds", (timings.fastest(0) - path) / (path / steps), atMost: 12)
        Report.goal(
            "the same, median of rounds", timings.median { ($0[0] - $0[1]) / ($0[1] / steps) }, atMost: 12)
    }

    private func check() throws {
        keep(try MapProof(decoding: encoded, value: value).verify(key, in: root))
    }

    private func bare() {
        var sum: UInt8 = 0
        for _ in 0..<stepCount { sum &+= bareHash(nodeInput) }
        keep(sum)
    }
}
