// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Measuring
import PaperDirectory
import TransparencyLog
import VerifiableMap

/// The whole index of a directory at one size: the memory it stays in, its paths, and the next epochs of 10,000 labels.
///
/// One size a process: what an earlier one has left behind would count for the next.
struct GrowthCost: ~Copyable {
    private static let perEpoch = 10_000
    private static let epochs = 5
    private static let sampleCount = 1000
    private static let time: UInt64 = 1_800_000_000_000
    private var people = OtherPeople(keepsTree: false)

    /// Fills the index, an epoch for every 10,000 labels, and reports.
    mutating func report(labels: Int) throws {
        try Self.warmUp()
        let before = Resident.now
        while people.count < labels {
            try people.come(min(Self.perEpoch, labels - Int(people.count)))
            try people.endEpoch(at: Self.time)
        }
        let after = Resident.now
        Report.title("The whole index, \(labels) labels, \(people.histories.size) entries")
        Report.goal("resident bytes a label", (after.bytes - before.bytes) / Double(labels), atMost: 400)
        Report.line("the most while it grew, bytes a label", (after.peak - before.bytes) / Double(labels), "")
        try reportIndexPaths()
        try reportLogPaths()
        try reportEpochs()
    }

    /// Makes the code resident: it is there once, whatever the number of labels.
    private static func warmUp() throws {
        var few = OtherPeople(keepsTree: false)
        try few.come(sampleCount)
        try few.endEpoch(at: time)
    }

    private func reportIndexPaths() throws {
        var counts: [Int] = []
        for number in 1...Self.sampleCount {
            let key = try LabelIndex(OtherPeople.label(UInt64(number))).key
            guard case .present(_, let path) = people.index.current.proof(of: key) else {
                throw BenchFault.notInTheIndex
            }
            counts.append(path.steps.count)
        }
        reportCounts("index path of a label", counts, "steps")
    }

    /// What shows a witness or a client that the log has only grown, from sizes spread evenly over its life.
    private func reportLogPaths() throws {
        var tree = MerkleTree()
        let size = people.histories.size
        for index in 0..<size { tree.append(people.histories.leaf(at: index) ?? .leaf([])) }
        let places = (1...UInt64(Self.sampleCount)).map { $0 * size / UInt64(Self.sampleCount + 1) }
        let growth = try places.map { try tree.consistencyProof(from: $0, to: size).hashes.count }
        reportCounts("consistency path from a size", growth, "hashes")
        let inclusion = try places.map { try tree.inclusionProof(index: $0, size: size).hashes.count }
        reportCounts("inclusion path of an entry", inclusion, "hashes")
    }

    private func reportCounts(_ name: String, _ counts: [Int], _ unit: String) {
        Report.line("\(name), mean of \(counts.count)", Double(counts.reduce(0, +)) / Double(counts.count), unit)
        Report.line("\(name), longest", Double(counts.max() ?? 0), unit)
    }

    private mutating func reportEpochs() throws {
        var (adding, sealing): ([Double], [Double]) = ([], [])
        for _ in 0..<Self.epochs {
            let start = threadTime()
            try people.come(Self.perEpoch)
            let added = threadTime()
            try people.endEpoch(at: Self.time)
            adding.append((added - start) / 1e6)
            sealing.append((threadTime() - added) / 1e6)
        }
        Report.line("making and adding their 20,000 entries, median of \(Self.epochs)", median(adding), "ms")
        Report.goal("predict and swap an epoch of 10,000 new labels, median, ms", median(sealing), atMost: 250)
        Report.line("the same, fastest", sealing.min() ?? .nan, "ms")
    }
}
