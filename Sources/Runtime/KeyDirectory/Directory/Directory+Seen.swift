import Foundation
import GRDB
import KeyTransparency
import SignetAPI
import TransparencyLog

// Checkpoints as the quorum cosigned them right before a step of a recovery, or a change of guardians, and when it first saw the
// step: they show contacts how old it is, from both sides, whatever its epoch says.
extension Directory {
    /// Keeps a checkpoint of this moment, before a step is logged. Where too few witnesses cosign, it is the one that
    /// was published last: contacts then count less of a wait than there was, and never more.
    ///
    /// - Throws: ``DirectoryError/database``, ``DirectoryError/stopped``. A retry helps with the first.
    func keepAbsent() async throws(DirectoryError) {
        do { try await log.republish() } catch {
            guard case .belowQuorum = error else { throw error == .stopped ? .stopped : .refused(.unavailable) }
        }
        let published = log.published
        try await database.write { try SeenRows.insert(published, in: $0) }
    }

    /// Keeps the published checkpoint if it is the first that covers this entry.
    ///
    /// - Throws: ``DirectoryError/database``, ``DirectoryError/stopped``. A retry helps with the first.
    func keepSeen(_ entry: UInt64) async throws(DirectoryError) {
        let published = log.published
        guard published.head.size > entry else { return }
        try await database.write { database in
            if try SeenRows.first(covering: entry, in: database) == nil { try SeenRows.insert(published, in: database) }
        }
    }

    /// What shows that the quorum saw the log without an entry, and with it, to somebody who verified the log at this size; nil where
    /// nothing of that is kept.
    func seen(
        _ entry: UInt64, in size: UInt64
    ) async throws(DirectoryError) -> (absent: SeenCheckpoint?, seen: SeenCheckpoint?) {
        let rows = try await database.read { database in
            (try SeenRows.last(before: entry, in: database), try SeenRows.first(covering: entry, in: database))
        }
        return (try shown(rows.0, in: size), try shown(rows.1, in: size))
    }

    private func shown(_ row: SeenRows.Kept?, in size: UInt64) throws(DirectoryError) -> SeenCheckpoint? {
        guard let row, row.size <= size else { return nil }
        do {
            return SeenCheckpoint(note: row.note, consistency: try log.consistencyProof(from: row.size, to: size))
        } catch { throw .stopped }
    }
}

/// The table `seen`.
private enum SeenRows {
    typealias Kept = (size: UInt64, note: [UInt8])

    static func insert(_ checkpoint: PublishedCheckpoint, in database: Database) throws {
        try database.run(
            "INSERT INTO seen (size, note) VALUES (?, ?)",
            [Int64(clamping: checkpoint.head.size), Data(checkpoint.bytes)])
    }

    /// The smallest checkpoint that covers an entry, as it was cosigned first.
    static func first(covering entry: UInt64, in database: Database) throws -> Kept? {
        try row("size > ? ORDER BY size, id", entry, in: database)
    }

    /// The largest that does not, as it was cosigned last.
    static func last(before entry: UInt64, in database: Database) throws -> Kept? {
        try row("size <= ? ORDER BY size DESC, id DESC", entry, in: database)
    }

    private static func row(_ condition: String, _ entry: UInt64, in database: Database) throws -> Kept? {
        try database.row("SELECT size, note FROM seen WHERE \(condition) LIMIT 1", [Int64(clamping: entry)]).map {
            (UInt64(clamping: try $0.integer(0)), try $0.bytes(1))
        }
    }
}
