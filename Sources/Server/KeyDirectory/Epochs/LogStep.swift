// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogEngine

/// A group of entries, read once: a step of one account, or an entry about the log itself.
struct LogStep: ReadGroup {
    let contents: [LogEntry]
    /// The entry on which it depends whether the step may be the next one.
    let last: LogEntry
    /// Whose step it is; nil for an entry about the log.
    let label: LabelIndex?

    /// Reads a group.
    ///
    /// - Throws: ``KeyTransparency/IndexFault``: rule S: leaves of one label's devices, then one state record of it.
    init(_ entries: [[UInt8]]) throws(IndexFault) {
        var contents: [LogEntry] = []
        contents.reserveCapacity(entries.count)
        for (place, entry) in entries.enumerated() {
            do { contents.append(try LogEntry(decoding: entry)) } catch { throw .unknownEntry(at: UInt64(place)) }
        }
        guard let last = contents.last else { throw .noStateRecord }
        self.contents = contents
        self.last = last
        label = try Self.label(of: contents, last)
    }

    private static func label(of contents: [LogEntry], _ last: LogEntry) throws(IndexFault) -> LabelIndex? {
        switch last {
        case .succession where contents.count == 1, .predecessor where contents.count == 1: return nil
        case .state(let record):
            for content in contents.dropLast() {
                guard case .device(let leaf) = content, LabelIndex(leaf.label) == record.label else {
                    throw .unsettled(label: record.label.key)
                }
            }
            return record.label
        default: throw .noStateRecord
        }
    }
}

extension PendingGroup {
    /// The group as ``EpochSealer`` read it.
    var logStep: LogStep? { step as? LogStep }
}
