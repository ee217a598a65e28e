// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency
package import LogEngine
package import TransparencyLog

/// The newest record that a log has under a label of its own statements, by which what it is of is told from anything else.
package struct ReservedRecord: Hashable, Sendable {
    /// Under which it stands.
    package let label: ReservedLabel
    /// From 1.
    package let version: UInt64
    /// Its leaf hash.
    package let leaf: TreeHash

    /// A record of a log.
    package init(label: ReservedLabel, version: UInt64, leaf: TreeHash) {
        (self.label, self.version, self.leaf) = (label, version, leaf)
    }

    /// Whether it is the record of something.
    package func isOf(_ bytes: [UInt8]) -> Bool {
        TreeHash.leaf(label.record(of: bytes, version: version).entry) == leaf
    }

    /// Whether it is the record of something with this SHA-256 hash.
    package func isOf(hash: [UInt8]) -> Bool {
        guard let commitment = StateCommitment(hash) else { return false }
        let record = StateRecord(label: label.index, version: version, kind: .set, commitment: commitment)
        return TreeHash.leaf(record.entry) == leaf
    }

    /// Looks for the newest record in a log that may be open in another process: every frame is read, and nothing is written.
    ///
    /// - Parameter size: how many entries are published.
    /// - Returns: the newest, published or not, and the newest that is published; nil if there is none.
    /// - Throws: `LogOpenError`.
    package static func newest(
        under label: ReservedLabel, in log: LogCopy, publishedTo size: UInt64
    ) throws(LogOpenError) -> (durable: ReservedRecord?, published: PublishedVersion?) {
        var (durable, published): (ReservedRecord?, PublishedVersion?)
        // Of the record, the epoch of which has not ended yet.
        var version: UInt64?
        try log.forEachFrame { (frame) throws(LogOpenError) in
            var index = frame.firstIndex
            frame.forEachEntry { entry in
                defer { index += 1 }
                let entry = [UInt8](entry)
                if let record = try? StateRecord(decoding: entry), record.label == label.index {
                    durable = ReservedRecord(label: label, version: record.version, leaf: .leaf(record.entry))
                    version = record.version
                } else if let ended = version, let epoch = try? EpochRecord(decoding: entry) {
                    if index < size { published = PublishedVersion(ended, in: epoch) }
                    version = nil
                }
            }
        }
        return (durable, published)
    }
}

/// The newest published version of what a log says under a label of its own statements.
package struct PublishedVersion: Hashable, Sendable {
    /// From 1.
    package let version: UInt64
    /// When the epoch ended that logged it, in seconds since 1970.
    package let time: UInt64

    init(_ version: UInt64, in epoch: EpochRecord) { (self.version, time) = (version, epoch.time / 1000) }
}
