// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Measuring
import TransparencyLog
import VRF

/// A log in which every label is new, with a device key and a state record, in epochs of a thousand labels: the
/// dearest that an auditor meets, since every label is a new leaf of the index.
struct ReplayCost {
    private static let labelsPerEpoch: UInt64 = 1000

    let labels: UInt64
    let entries: [[UInt8]]

    init(labels: UInt64) throws {
        self.labels = labels
        var histories = LabelHistories()
        var index = EpochIndex()
        var entries: [[UInt8]] = []
        for label in 0..<labels {
            for entry in try Self.entries(of: label) {
                try histories.add(LogEntry(decoding: entry), leaf: .leaf(entry))
                entries.append(entry)
            }
            guard (label + 1).isMultiple(of: Self.labelsPerEpoch) || label + 1 == labels else { continue }
            let time = 1_800_000_000_000 + label
            let record = try index.close(try histories.settle(), at: time, index: histories.size)
            try histories.add(.epoch(record), leaf: .leaf(record.entry))
            entries.append(record.entry)
        }
        self.entries = entries
    }

    func report() throws {
        let timings = try interleaved(
            rounds: labels >= 1_000_000 ? 3 : 5, repetitions: 1,
            [Candidate("replay", replay), Candidate("bare hashing", hash)])
        let count = Double(entries.count)
        Report.title("Replay of \(entries.count) entries, \(labels) labels (processor time of one core)")
        Report.line("entries read and hashed into the tree, no rule checked", count / timings.fastest(1) * 1e9, "/s")
        Report.goal(
            "entries audited: rules E and S, and every epoch's index root", count / timings.fastest(0) * 1e9,
            atLeast: 50_000)
        Report.line("times bare hashing", timings.median { $0[0] / $0[1] }, "")
    }

    private func replay() throws {
        var audit = CheckpointAudit()
        for entry in entries { audit.add(entry) }
        guard audit.finding(at: audit.head) == .sound else { throw IndexFault.tooLarge }
    }

    private func hash() {
        var frontier = MerkleFrontier()
        for entry in entries { frontier.append(.leaf(entry)) }
        keep(frontier.root)
    }

    /// A device key and a state record, both of them of nobody.
    private static func entries(of label: UInt64) throws -> [[UInt8]] {
        let bytes = (0..<64).map { UInt8(truncatingIfNeeded: label >> (8 * ($0 % 8))) ^ UInt8($0) }
        guard let hash = VRFHash(bytes), let leaf = DeviceLeaf(label: hash, publicKey: Array(bytes[..<32])) else {
            throw LogEntryError.invalidField
        }
        let record = StateRecord(label: LabelIndex(hash), version: 1, kind: .set, commitment: .toNothing)
        return [leaf.entry, record.entry]
    }
}
