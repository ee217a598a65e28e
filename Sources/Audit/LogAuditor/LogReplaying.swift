// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import TransparencyLog

/// Reads a log for a caller that keeps nothing of it: to check evidence.
extension LogSource {
    /// What has read the first `size` entries.
    ///
    /// - Throws: ``AuditorError``.
    public func replay(
        size: UInt64, progress: Auditor.Progress = { _, _ in }
    ) async throws(AuditorError) -> CheckpointAudit {
        guard size <= LabelHistories.maximumSize else { throw .tooLarge(size) }
        let tiles = SourceTiles(source: self, folder: nil)
        var audit = CheckpointAudit()
        while audit.size < size {
            for entry in try await tiles.read(bundle: audit.size / UInt64(Tile.fullWidth), size: size).entries {
                audit.add(entry)
            }
            progress(audit.size, size)
        }
        return audit
    }

    /// The root that the tree of the larger size has at the smaller, and the proof from there, as the source tells it.
    ///
    /// Security: nothing is verified.
    ///
    /// - Throws: ``AuditorError``.
    public func link(from old: UInt64, to size: UInt64) async throws(AuditorError) -> ForkEvidence.Link {
        try await SourceTiles(source: self, folder: nil).link(from: old, to: size)
    }
}
