// SPDX-License-Identifier: Apache-2.0

import DurableStorage
package import LogEngine
import LogFencing
package import ObjectStores
package import SQLStores
package import TransparencyLog

/// Where a log is that several machines share, and by what they know that it is theirs.
///
/// ```
/// database  log, lease, frames     how far the log is, who may write it, and its entries
/// objects   tile/...               full tiles and bundles, as they are served; immutable
///           tail/<size>            the entries of a head that no full bundle holds; immutable
///           signed                 what the leader signed last, before it leaves the process: the second memory
///           checkpoint             the published checkpoint, for mirrors
/// ```
package struct SharedLogEngines: Sendable {
    /// The tables of ``SharedLogTables``.
    package private(set) var database: any SQLDatabase
    /// The objects.
    package let objects: any ObjectStore
    /// The log's key, and the witnesses without which nothing is shown: what the clients demand.
    package let policy: Policy
    /// The log's name.
    package let origin: KeyName
    /// What was demanded before a change of keys or witnesses that this process completes: notes of then are taken too. Nil in all others.
    package var former: Policy?
    /// How many entries the checkpoint has that shows the last change of keys or witnesses that this machine's files are of; nil: unknown. By it
    /// an older copy of the engines is told from files of before a change.
    package var changed: UInt64?
    /// What this process counts.
    package let meters: SharedLogMeters

    package init(
        database: any SQLDatabase, objects: any ObjectStore, policy: Policy, origin: KeyName,
        meters: SharedLogMeters = SharedLogMeters()
    ) {
        self.meters = meters
        self.database = database
        self.objects = objects
        self.policy = policy
        self.origin = origin
    }

    /// The same over a connection of its own.
    func over(_ link: any SQLDatabase) -> SharedLogEngines {
        var engines = self
        engines.database = link
        return engines
    }

    /// Where the object store has the note that was signed last: the log's second memory.
    package static let signedPath = "signed"
    static let checkpointPath = "checkpoint"
    static let tailPrefix = "tail/"
    static func tailPath(_ size: UInt64) -> String { "\(tailPrefix)\(size)" }

    /// Makes a log without entries in an empty database.
    ///
    /// - Parameter configuration: with the log's key.
    /// - Throws: ``SharedLogFault``.
    package func create(_ configuration: LogConfiguration) async throws(SharedLogFault) {
        let first: PublishedCheckpoint
        do { first = try configuration.sign(.empty) } catch { throw .checkpointInvalid }
        try await asking { [origin] in
            try await database.write { transaction in
                guard try transaction.row("SELECT 1 FROM log") == nil else { throw SharedLogFault.logExists }
                let root = TreeHead.empty.root.bytes
                try transaction.run(
                    """
                    INSERT INTO log (id, origin, generation, size, root, published_size, published_root, note)
                    VALUES (1, ?, 0, 0, ?, 0, ?, ?)
                    """, [origin.bytes, root, root, first.bytes])
            }
        }
    }

    /// A checkpoint of this log whose signature by the log's key holds.
    package func logSigned(_ bytes: [UInt8]) -> PublishedCheckpoint? {
        guard let note = try? SignedNote(decoding: bytes),
            let signed = (try? policy.verifyLogSignature(on: note)) ?? (try? former?.verifyLogSignature(on: note)),
            signed.checkpoint.origin == origin
        else { return nil }
        return PublishedCheckpoint(head: signed.checkpoint.head, note: note)
    }

    /// Why a checkpoint is refused: one that names another key of the log's name is of a time before or after a change of keys, if it is
    /// what it says. Nothing in it was verified.
    func refusal(of bytes: [UInt8]) -> SharedLogFault {
        guard let note = try? SignedNote(decoding: bytes), let checkpoint = try? Checkpoint(decoding: note.text),
            checkpoint.origin == origin,
            note.signatures.contains(where: { line in
                line.name == origin && !policy.logs.contains { line.isClaimed(by: $0) }
            })
        else { return .checkpointInvalid }
        return .keysChanged
    }

    /// The same of what was signed last.
    func refusal(ofMemory bytes: [UInt8]) -> SharedLogFault {
        let fault = refusal(of: bytes)
        guard fault == .keysChanged, let changed, let note = try? SignedNote(decoding: bytes),
            let signed = try? Checkpoint(decoding: note.text).head.size, signed < changed
        else { return fault }
        return .objectsBeforeChange(signed: signed, changed: changed)
    }

    private func refusal(ofPublished row: SharedLogRow) -> SharedLogFault {
        let fault = logSigned(row.note) == nil ? refusal(of: row.note) : .keysChanged
        let published = row.row.published.size
        guard fault == .keysChanged, let changed, published < changed else { return fault }
        return .databaseBeforeChange(published: published, changed: changed)
    }

    /// A checkpoint of this log that clients would believe.
    func believed(_ bytes: [UInt8]) -> PublishedCheckpoint? {
        guard let checkpoint = logSigned(bytes),
            (try? policy.verify(checkpoint.note)) != nil || (try? former?.verify(checkpoint.note)) != nil
        else { return nil }
        return checkpoint
    }

    /// The checkpoint of the row: the one that was published last, or the one that the log was made with.
    ///
    /// - Throws: ``SharedLogFault``.
    func published(_ row: SharedLogRow) throws(SharedLogFault) -> PublishedCheckpoint {
        guard row.origin == origin.bytes else { throw .otherLog(origin: row.origin) }
        // Nobody has cosigned the empty log, and there is nothing in it to believe.
        let checkpoint = row.row.published.size == 0 ? logSigned(row.note) : believed(row.note)
        // Signed by the log's key and not for the witnesses that are demanded here: others are demanded by whoever published it.
        guard let checkpoint else { throw refusal(ofPublished: row) }
        guard checkpoint.head == row.row.published else { throw .checkpointInvalid }
        return checkpoint
    }

    /// Demands that the database has published what the bucket shows to mirrors, where a leader puts it only after that: a copy that somebody
    /// has made of the database falls behind. Without an answer of the object store nothing is demanded; nor by a checkpoint that clients would
    /// not believe: whoever can write to the bucket has what was signed and not published yet.
    ///
    /// - Throws: ``SharedLogFault``.
    package func requireServed() async throws(SharedLogFault) {
        guard let object = (try? await objects.get(Self.checkpointPath)).flatMap({ $0 }),
            let served = believed(object.bytes)?.head.size
        else { return }
        let published = try await look().published.head.size
        guard served <= published else { throw .servedIsNewer(served: served, published: published) }
    }

    /// Gives every failure of the database as a fault.
    func asking<Value>(_ body: () async throws -> Value) async throws(SharedLogFault) -> Value {
        do { return try await body() } catch { throw Self.fault(error) }
    }

    static func fault(_ error: any Error) -> SharedLogFault {
        switch error {
        case let error as SharedLogFault: error
        case let error as SQLFault: .unavailable("database: \(error.code)")
        case is DamagedRow: .rowDamaged
        default: .unavailable("database")
        }
    }
}
