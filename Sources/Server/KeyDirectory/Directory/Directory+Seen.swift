// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeyTransparency
import LogEngine
import SQLStores
import SignetAPI
import Synchronization
import TransparencyLog

// Checkpoints as the quorum cosigned them right before a step of a recovery, or a change of guardians, and when it first saw the
// step: they bound its age for contacts, from both sides, independently of its epoch's time.
extension Directory {
    /// Keeps a checkpoint of this moment, before a step is logged. Where too few witnesses cosign, it is the one that
    /// was published last: contacts then count less of a wait than there was, and never more.
    ///
    /// - Parameter isFresh: whether it has to be of this moment. A takeover can wait; a request must not be withheld.
    /// - Throws: ``DirectoryError/database``, ``DirectoryError/stopped``; `notYet`: too few witnesses cosign now. A retry
    ///   helps with the first and the last.
    func keepAbsent(isFresh: Bool) async throws(DirectoryError) {
        if writesLog {
            do { try await log.republish() } catch {
                guard case .belowQuorum = error else { throw error == .stopped ? .stopped : .refused(.unavailable) }
                guard !isFresh else { throw .refused(.notYet) }
            }
        } else if await !seesNewCheckpoint(), isFresh {
            throw .refused(.notYet)
        }
        let published = log.published
        try await database.write { try SeenRows.insert(published, in: $0) }
    }

    /// Keeps the published checkpoint if it is the first that covers this entry.
    ///
    /// - Throws: ``DirectoryError/database``, ``DirectoryError/stopped``. A retry helps with the first.
    func keepSeen(_ entry: UInt64) async throws(DirectoryError) {
        let published = log.published
        guard published.head.size > entry else { return unseen.insert(entry) }
        try await database.write { database in
            if try SeenRows.first(covering: entry, in: database) == nil { try SeenRows.insert(published, in: database) }
        }
        unseen.remove(entry)
    }

    /// Keeps what could not be kept when a step was logged, because too few witnesses cosigned then.
    func keepUnseen() async {
        for entry in unseen.all {
            // It stays there, and is kept with the next checkpoint.
            do { try await keepSeen(entry) } catch { return }
        }
    }

    /// An entry that was logged after the last stored checkpoint may be a step that a stop of the server left without
    /// one.
    func awaitWhatWasNotSeen() async throws(DirectoryError) {
        let size = log.statistics.durableSize
        let kept = try await database.read { try SeenRows.newestSize(in: $0) }
        guard let kept, kept < size else { return }
        unseen.insert(size - 1)
        try await keepSeen(size - 1)
    }

    /// Takes no takeover of which contacts would say that it did not wait: the witnesses saw the request late, because they
    /// were away. By the last cosignature on what was kept, so that it holds for any quorum of theirs, and with half of what
    /// contacts allow: the other half is for clocks of witnesses.
    ///
    /// - Parameters:
    ///   - start: the account's state, which the takeover follows.
    ///   - row: the same, as the log has it.
    ///   - now: seconds since 1970.
    /// - Throws: ``DirectoryError``; `notYet`: later it is taken.
    func requireShownWait(since start: AccountState, _ row: StateRow, at now: UInt64) async throws(DirectoryError) {
        // A takeover of anything else was refused before.
        guard case .started(let request, _, _) = start.step else { return }
        guard let place = log.index(ofLeaf: row.leaf) else { throw .refused(.notYet) }
        try await keepSeen(place)
        let kept = try await database.read { try SeenRows.first(covering: place, in: $0) }
        let seenAt = kept.flatMap { try? SignedNote(decoding: $0.note) }?.lastCosigned
        let clocks = RecoveryDelay.tolerance / 2
        guard RecoveryDelay.hasPassed(request.commitment.delay, since: seenAt, to: now - min(now, clocks)) else {
            throw .refused(.notYet)
        }
    }

    /// A proof for a client that verified the log at this size that the quorum saw the log without an entry, and with
    /// it; nil if none of that is stored.
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

/// Entries that contacts ask about and that no checkpoint which was kept covers yet.
final class UnseenEntries: Sendable {
    private let entries = Mutex<Set<UInt64>>([])

    var all: [UInt64] { entries.withLock { $0.sorted() } }
    func insert(_ entry: UInt64) { entries.withLock { _ = $0.insert(entry) } }
    func remove(_ entry: UInt64) { entries.withLock { _ = $0.remove(entry) } }
}

/// The table `seen`.
private enum SeenRows {
    typealias Kept = (size: UInt64, note: [UInt8])

    static func insert(_ checkpoint: PublishedCheckpoint, in database: SQLTransaction) throws {
        try database.run(
            "INSERT INTO seen (size, note) VALUES (?, ?)",
            [Int64(clamping: checkpoint.head.size), checkpoint.bytes])
    }

    /// The smallest checkpoint that covers an entry, as it was cosigned first.
    static func first(covering entry: UInt64, in database: SQLTransaction) throws -> Kept? {
        try row("size > ? ORDER BY size, id", entry, in: database)
    }

    /// The largest that does not, as it was cosigned last.
    static func last(before entry: UInt64, in database: SQLTransaction) throws -> Kept? {
        try row("size <= ? ORDER BY size DESC, id DESC", entry, in: database)
    }

    /// How large the log was in the newest one; nil: there is none.
    static func newestSize(in database: SQLTransaction) throws -> UInt64? {
        try database.row("SELECT size FROM seen ORDER BY size DESC LIMIT 1", []).map {
            UInt64(clamping: try $0.integer(0))
        }
    }

    private static func row(_ condition: String, _ entry: UInt64, in database: SQLTransaction) throws -> Kept? {
        try database.row("SELECT size, note FROM seen WHERE \(condition) LIMIT 1", [Int64(clamping: entry)]).map {
            (UInt64(clamping: try $0.integer(0)), try $0.bytes(1))
        }
    }
}
