import Foundation
import GRDB
import KeyTransparency
import TransparencyLog

// Checkpoints as the quorum cosigned them when it first saw a step of a recovery, or a change of guardians: nobody can have
// such a cosignature made later, so they show contacts that the step is as old as its epoch says.
extension Directory {
    /// Keeps the published checkpoint if it is the first that covers this entry.
    ///
    /// - Throws: ``DirectoryError/database``, ``DirectoryError/stopped``. A retry helps with the first.
    func keepSeen(_ entry: UInt64) async throws(DirectoryError) {
        let published = log.published
        guard published.head.size > entry else { return }
        try await database.write { try SeenRows.insert(published, covering: entry, in: $0) }
    }

    /// What shows that the quorum saw an entry, to somebody who verified the log at this size; nil if nothing of that is kept yet.
    func seen(_ entry: UInt64, in size: UInt64) async throws(DirectoryError) -> SeenCheckpoint? {
        guard let first = try await database.read({ try SeenRows.first(covering: entry, in: $0) }), first.size <= size
        else {
            return nil
        }
        do {
            let proof = try log.consistencyProof(from: first.size, to: size)
            return SeenCheckpoint(note: first.note, consistency: proof)
        } catch { throw .stopped }
    }
}

/// The table `seen`.
private enum SeenRows {
    static func insert(_ checkpoint: PublishedCheckpoint, covering entry: UInt64, in database: Database) throws {
        guard try first(covering: entry, in: database) == nil else { return }
        try database.run(
            "INSERT OR IGNORE INTO seen (size, note) VALUES (?, ?)",
            [Int64(clamping: checkpoint.head.size), Data(checkpoint.bytes)])
    }

    /// The smallest checkpoint that covers an entry.
    static func first(covering entry: UInt64, in database: Database) throws -> (size: UInt64, note: [UInt8])? {
        try database.row(
            "SELECT size, note FROM seen WHERE size > ? ORDER BY size LIMIT 1", [Int64(clamping: entry)]
        ).map { (UInt64(clamping: try $0.integer(0)), try $0.bytes(1)) }
    }
}
