// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TransparencyLog

/// The path of an epoch's record to the root of the checkpoint that was published last: every lookup shows the same one until the
/// next checkpoint. A log only grows, so the path of an entry at one size never changes.
final class EpochPath: Sendable {
    private struct Kept {
        let entry: UInt64
        let size: UInt64
        let hashes: [TreeHash]
    }

    private let kept = Mutex<Kept?>(nil)

    /// The path of `entry` among the first `size` entries, or what `compute` makes of the two.
    func hashes(
        of entry: UInt64, size: UInt64, computing compute: () throws(DirectoryError) -> [TreeHash]
    ) throws(DirectoryError) -> [TreeHash] {
        if let kept = kept.withLock({ $0 }), (kept.entry, kept.size) == (entry, size) { return kept.hashes }
        let hashes = try compute()
        kept.withLock { $0 = Kept(entry: entry, size: size, hashes: hashes) }
        return hashes
    }
}
