import KeyTransparency
import SignetClient
import TransparencyLog

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What an earlier audit on this machine found sound of a log, as the audit of the log that goes on from it knows it: when
/// its last epoch ended, before which the next log has none.
public struct FormerAudit: Sendable {
    /// The log's name.
    let origin: [UInt8]
    /// The last epoch that was found sound.
    let lastEpoch: EpochRecord

    /// The audit of a folder; nil where nothing was found sound, or what was cannot be read.
    public init?(_ folder: AuditFolder) {
        guard let bytes = try? folder.checkpoint.read(maximumByteCount: SignedNote.maximumByteCount),
            let note = try? SignedNote(decoding: bytes), let checkpoint = try? Checkpoint(decoding: note.text),
            let tile = SourceTiles.lastBundle(of: checkpoint.head.size), let bundle = folder.bundle(tile),
            let entry = try? EntryBundle(decoding: bundle, width: tile.width).entries.last,
            let epoch = try? EpochRecord(decoding: entry)
        else { return nil }
        (origin, lastEpoch) = (checkpoint.origin.bytes, epoch)
    }

    /// The audits below a home folder, but for that of one folder.
    public static func all(in home: String, besides own: AuditFolder) -> [FormerAudit] {
        AuditFolder.all(in: home, besides: own).compactMap(FormerAudit.init)
    }

    /// Whether a log says in its first entry that it goes on from this one.
    func isOrigin(ofLogBeginningWith entry: [UInt8]) -> Bool {
        guard let note = try? PredecessorRecord(decoding: entry).note else { return false }
        return (try? Checkpoint(decoding: note.text).origin.bytes) == origin
    }
}
