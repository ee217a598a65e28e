// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import SignetClient
import TransparencyLog

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What an earlier audit on this machine found sound of a log, as the audit of the log that goes on from it knows it: where
/// that audit stands, and when the last epoch ended there, before which the next log has none.
public struct FormerAudit: Sendable {
    /// The largest checkpoint that was found sound.
    let checkpoint: Checkpoint
    /// The epoch in which it ends.
    let lastEpoch: EpochRecord
    /// Whether the log has handed over to another one there.
    let hasEnded: Bool

    /// The audit of a folder; nil where nothing was found sound, or what was cannot be read.
    public init?(_ folder: AuditFolder) {
        guard let bytes = try? folder.checkpoint.read(maximumByteCount: SignedNote.maximumByteCount),
            let note = try? SignedNote(decoding: bytes), let checkpoint = try? Checkpoint(decoding: note.text)
        else { return nil }
        let entries = Self.lastEntries(of: folder, checkpoint.head.size)
        guard let last = entries.last, let epoch = try? EpochRecord(decoding: last) else { return nil }
        (self.checkpoint, lastEpoch) = (checkpoint, epoch)
        // Behind the record that ends a log there are epochs alone.
        let act = entries.last { (try? EpochRecord(decoding: $0)) == nil }
        hasEnded = act.flatMap { try? SuccessionRecord(decoding: $0) }?.kind == .log
    }

    /// The entries of the last bundle, after those of the one before where that is full and the last has one entry alone.
    private static func lastEntries(of folder: AuditFolder, _ size: UInt64) -> [[UInt8]] {
        guard let tile = SourceTiles.lastBundle(of: size), let bundle = folder.bundle(tile),
            let entries = try? EntryBundle(decoding: bundle, width: tile.width).entries
        else { return [] }
        return (entries.count == 1 ? lastEntries(of: folder, size - 1) : []) + entries
    }

    /// The audits below a home folder, but for that of one folder.
    public static func all(in home: String, besides own: AuditFolder) -> [FormerAudit] {
        AuditFolder.all(in: home, besides: own).compactMap(FormerAudit.init)
    }

    /// The one of several audits that is of the log from which a log goes on, by its first entry, and that came furthest: a log
    /// that changed its key has several folders. Nil if there is none.
    static func origin(ofLogBeginningWith entry: [UInt8], among audits: [FormerAudit]) -> FormerAudit? {
        guard let named = end(namedBy: entry) else { return nil }
        return audits.filter { $0.checkpoint.origin == named.origin }
            .max { $0.checkpoint.head.size < $1.checkpoint.head.size }
    }

    /// Demands that the end that a log names in its first entry is the one at which this audit stands, and that the log before
    /// it did end there: an auditor that has not read that far knows of no later epoch.
    ///
    /// - Throws: ``AuditorError/formerEnd(audited:named:)``.
    func checkEnd(namedBy entry: [UInt8]) throws(AuditorError) {
        let named = Self.end(namedBy: entry)
        guard hasEnded, named == checkpoint else {
            throw .formerEnd(audited: checkpoint.head.size, named: named?.head.size ?? 0)
        }
    }

    private static func end(namedBy entry: [UInt8]) -> Checkpoint? {
        (try? PredecessorRecord(decoding: entry).note).flatMap { try? Checkpoint(decoding: $0.text) }
    }
}
