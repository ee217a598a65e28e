// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The published sets.
package enum LookupVectorSet {
    /// Every lookup, good ones first.
    package static func cases() throws -> [LookupVector] {
        let bench = try LookupVectorBench()
        return try GoodLookups.all(bench) + BadForms.all(bench) + BadCheckpoints.all(bench)
            + BadIndexes.all(bench) + BadHistories.all(bench) + BadTimes.all(bench)
    }

    /// Every walk over milestones.
    package static func milestones() throws -> [MilestoneVector] {
        try MilestoneCases.all(MilestoneVectorBench())
    }

    /// Every recovery.
    package static func recoveryDelays() throws -> [RecoveryDelayVector] { try RecoveryDelayCases.all() }

    /// Pins of a directory's server.
    package static func pins() throws -> [PinsVector] { try PinsCases.all() }

    /// The file of ``pins()``, of the same form.
    package static func pinsFile() throws -> [UInt8] { try text(pins()) }

    /// The sets of lookups by the names of their files: a JSON list each, one case a line.
    package static func files() throws -> [(name: String, bytes: [UInt8])] {
        [
            ("lookup.json", try text(cases())), ("milestones.json", try text(milestones())),
            ("recovery-delay.json", try text(recoveryDelays())),
        ]
    }

    private static func text(_ cases: [some DirectoryVector]) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = try cases.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
        return Array("[\n\(lines.joined(separator: ",\n"))\n]\n".utf8)
    }
}
