// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
package import TransparencyLog

/// Entries for which a caller waits, on their way through the pipeline.
package struct PendingGroup: Sendable {
    typealias Outcome = Result<Range<UInt64>, LogAppendError>

    /// At least one.
    let entries: HashedEntries
    /// What the log's sealer read in the entries; nil in a log without one.
    package let step: (any ReadGroup)?
    let waiter: CheckedContinuation<Outcome, Never>

    package var leaves: [TreeHash] { entries.leaves }
    /// How many bytes of payload the entries take.
    var byteCount: Int { entries.payload.count }
}

/// Entries that were checked before. All are in one buffer, which is copied into the frame of the write-ahead log and into the
/// bundles. Each is hashed once, here.
package struct HashedEntries: Sendable {
    /// The entries, each of 1 to 65,535 bytes, as frames and bundles hold them: behind its length in two bytes.
    package let payload: [UInt8]
    /// The leaf hash of each entry.
    package let leaves: [TreeHash]

    /// How many entries there are.
    package var count: Int { leaves.count }

    /// - Parameters:
    ///   - entries: each of 1 to 65,535 bytes.
    ///   - byteCount: what they take as payload.
    init(_ entries: [[UInt8]], byteCount: Int) {
        var payload: [UInt8] = []
        payload.reserveCapacity(byteCount)
        for entry in entries { Frame.appendEntry(entry, to: &payload) }
        self.payload = payload
        leaves = entries.map { TreeHash.leaf($0) }
    }

    /// The entries of a frame that was read.
    init(_ frame: Frame) {
        payload = [UInt8](frame.payload)
        leaves = frame.leaves
    }

    /// The entry that seals a frame.
    init(seal entry: [UInt8]) { self.init([entry], byteCount: 2 + entry.count) }
}

/// Entries that were checked, read and hashed, on the caller's own time.
struct PreparedGroup: Sendable {
    let entries: HashedEntries
    let step: (any ReadGroup)?

    /// Checks `entries` against the format's limits, and has the log's sealer read them.
    init(_ entries: [[UInt8]], maximumByteCount: Int, sealing: (any LogSealing)?) throws(LogAppendError) {
        guard !entries.isEmpty else { throw .emptyGroup }
        for (position, entry) in entries.enumerated() {
            guard !entry.isEmpty else { throw .emptyEntry(position: position) }
            guard entry.count <= EntryBundle.maximumEntryByteCount else {
                throw .entryTooLong(position: position, byteCount: entry.count)
            }
        }
        let byteCount = entries.reduce(0) { $0 + 2 + $1.count }
        guard byteCount <= maximumByteCount else {
            throw .groupTooLarge(byteCount: byteCount, maximum: maximumByteCount)
        }
        do throws(IndexFault) { step = try sealing?.read(entries) } catch { throw .breaksRule(error) }
        self.entries = HashedEntries(entries, byteCount: byteCount)
    }

    func awaited(by waiter: CheckedContinuation<PendingGroup.Outcome, Never>) -> PendingGroup {
        PendingGroup(entries: entries, step: step, waiter: waiter)
    }
}
