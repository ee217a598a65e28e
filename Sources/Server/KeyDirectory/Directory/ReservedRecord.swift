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
    /// - Returns: nil if there is none.
    /// - Throws: `LogOpenError`.
    package static func newest(
        under label: ReservedLabel, in log: LogCopy
    ) throws(LogOpenError) -> ReservedRecord? {
        var newest: ReservedRecord?
        try log.forEachFrame { (frame) throws(LogOpenError) in
            frame.forEachEntry { entry in
                guard let record = try? StateRecord(decoding: [UInt8](entry)), record.label == label.index else {
                    return
                }
                newest = ReservedRecord(label: label, version: record.version, leaf: .leaf(record.entry))
            }
        }
        return newest
    }
}
