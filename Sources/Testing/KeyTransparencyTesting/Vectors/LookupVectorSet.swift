import Foundation

/// The published set.
package enum LookupVectorSet {
    /// Every case, good ones first.
    package static func cases() throws -> [LookupVector] {
        let bench = try LookupVectorBench()
        return try GoodLookups.all(bench) + BadForms.all(bench) + BadCheckpoints.all(bench)
            + BadIndexes.all(bench) + BadHistories.all(bench) + BadTimes.all(bench)
    }

    /// The set as a file: a JSON list, one case a line.
    package static func text() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let lines = try cases().map { String(decoding: try encoder.encode($0), as: UTF8.self) }
        return Array("[\n\(lines.joined(separator: ",\n"))\n]\n".utf8)
    }
}
