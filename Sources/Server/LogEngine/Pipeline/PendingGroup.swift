// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
package import TransparencyLog

/// Entries for which a caller waits, on their way through the pipeline.
package struct PendingGroup: Sendable {
    typealias Outcome = Result<Range<UInt64>, LogAppendError>

    /// From 1 entry, each of 1 to 65,535 bytes.
    let entries: [[UInt8]]
    package let leaves: [TreeHash]
    /// What the log's sealer read in the entries; nil in a log without one.
    package let step: (any ReadGroup)?
    /// How many bytes of payload the entries take.
    let byteCount: Int
    let waiter: CheckedContinuation<Outcome, Never>
}

/// Entries that are durable, on their way into the tree.
struct DurableEntries: Sendable {
    let entries: [[UInt8]]
    let leaves: [TreeHash]

    init(_ group: PendingGroup) {
        entries = group.entries
        leaves = group.leaves
    }

    /// The entry that seals a frame.
    init(seal entry: [UInt8]) {
        entries = [entry]
        leaves = [TreeHash.leaf(entry)]
    }
}

/// Entries that were checked, read and hashed, on the caller's own time.
struct PreparedGroup: Sendable {
    let entries: [[UInt8]]
    let leaves: [TreeHash]
    let step: (any ReadGroup)?
    let byteCount: Int

    /// Checks `entries` against the format's limits, and has the log's sealer read them.
    init(_ entries: [[UInt8]], maximumByteCount: Int, sealing: (any LogSealing)?) throws(LogAppendError) {
        guard !entries.isEmpty else { throw .emptyGroup }
        for (position, entry) in entries.enumerated() {
            guard !entry.isEmpty else { throw .emptyEntry(position: position) }
            guard entry.count <= EntryBundle.maximumEntryByteCount else {
                throw .entryTooLong(position: position, byteCount: entry.count)
            }
        }
        byteCount = entries.reduce(0) { $0 + 2 + $1.count }
        guard byteCount <= maximumByteCount else {
            throw .groupTooLarge(byteCount: byteCount, maximum: maximumByteCount)
        }
        do throws(IndexFault) { step = try sealing?.read(entries) } catch { throw .breaksRule(error) }
        self.entries = entries
        leaves = entries.map { TreeHash.leaf($0) }
    }

    func awaited(by waiter: CheckedContinuation<PendingGroup.Outcome, Never>) -> PendingGroup {
        PendingGroup(entries: entries, leaves: leaves, step: step, byteCount: byteCount, waiter: waiter)
    }
}
