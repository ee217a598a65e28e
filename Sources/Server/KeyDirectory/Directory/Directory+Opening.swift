// SPDX-License-Identifier: Apache-2.0

import DurableStorage
import Foundation
import KeyTransparency
public import LogEngine
public import Logging
package import SQLStores
import TransparencyLog
import VRF

/// Where things are in a data directory.
struct DirectoryPaths {
    let root: String
    /// The log's own directory.
    var log: String { "\(root)/log" }
    /// Every change of the directory's keys, with its proof; none before the first.
    var succession: String { "\(root)/succession" }
    /// The database; SQLite keeps `-wal` and `-shm` beside it.
    var database: String { "\(root)/directory.sqlite" }
}

extension Directory {
    /// Makes an empty directory: its data directory if there is none, the log and the database. Done once.
    ///
    /// - Parameters:
    ///   - path: the data directory, on a local disk; its parent must exist.
    ///   - clock: seconds since 1970.
    /// - Throws: ``DirectoryOpenError``. Nothing that exists is replaced.
    public static func create(
        at path: String, keys: DirectoryKeys, clock: @escaping @Sendable () -> UInt64, logger: Logger
    ) async throws(DirectoryOpenError) {
        try await create(at: path, keys: keys, clock: clock, logger: logger, in: nil)
    }

    /// Makes an empty directory whose accounts are in any database.
    ///
    /// - Parameter database: with the tables of a directory, and nothing in them; nil: a file in the data directory.
    /// - Throws: ``DirectoryOpenError``.
    package static func create(
        at path: String, keys: DirectoryKeys, clock: @escaping @Sendable () -> UInt64, logger: Logger,
        in database: (any SQLDatabase)?
    ) async throws(DirectoryOpenError) {
        let paths = DirectoryPaths(root: path)
        for folder in [paths.root, paths.log] {
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .file(code: errno) }
        }
        guard database != nil || access(paths.database, F_OK) != 0 else { throw .database(.exists) }
        // The log first: its record of what was signed is what makes a directory.
        do throws(LogOpenError) {
            try await DurableLog.create(at: paths.log, logConfiguration(keys, clock, onFatal: {}))
        } catch { throw .log(error) }
        let (origin, vrfKey) = (keys.log.verifierKey.name.bytes, keys.vrf.publicKey.bytes)
        guard let database else {
            return try DirectoryDatabase.create(at: paths.database, origin: origin, vrfKey: vrfKey, logger: logger)
        }
        try DirectoryDatabase(database: database, logger: logger).name(origin: origin, vrfKey: vrfKey)
    }

    /// Opens a directory: the log replays and verifies itself, the database is compared with it, and states that were
    /// written but not logged when the last process ended are logged now.
    ///
    /// - Parameters:
    ///   - path: the data directory.
    ///   - keys: the keys it was created with.
    ///   - clock: seconds since 1970.
    ///   - epochClock: the same, for what is logged and for the checkpoints that are signed; nil: that one.
    ///   - epochInterval: the least time between two epochs, unless 4,096 changes wait.
    ///   - heartbeat: after this many seconds without an epoch, one ends even if it has no changes.
    ///   - witnessing: the witnesses that must cosign a checkpoint before it is published; nil for none.
    ///   - frontEnd: how this server is one of several; nil: it is the only one.
    ///   - secret: what all front ends share; by default a random one for this start.
    ///   - onFatal: called once, on a thread of the log, when the log has failed for good: the process is to end.
    /// - Throws: ``DirectoryOpenError``: the operator has to act.
    public static func open(
        at path: String, keys: DirectoryKeys, clock: @escaping @Sendable () -> UInt64,
        epochClock: (@Sendable () -> UInt64)? = nil, logger: Logger,
        epochInterval: Duration = .zero, heartbeat: UInt64 = standardHeartbeat,
        witnessing: (any CheckpointWitnessing)? = nil, frontEnd: FrontEnd? = nil,
        secret: FrontEndSecret = FrontEndSecret(),
        onFatal: @escaping @Sendable () -> Void = {}
    ) async throws(DirectoryOpenError) -> Directory {
        try await open(
            at: path, logFiles: POSIXFileSystem(root: DirectoryPaths(root: path).log), keys: keys, clock: clock,
            epochClock: epochClock, logger: logger, epochInterval: epochInterval, heartbeat: heartbeat,
            witnessing: witnessing,
            frontEnd: frontEnd, secret: secret, onFatal: onFatal)
    }

    /// Opens a directory whose log is on any storage, and its accounts in any database.
    ///
    /// - Parameter database: nil: the file in the data directory. The directory closes it.
    package static func open(
        at path: String, logFiles: any LogFileSystem, keys: DirectoryKeys, clock: @escaping @Sendable () -> UInt64,
        epochClock: (@Sendable () -> UInt64)? = nil, logger: Logger, epochInterval: Duration = .zero,
        heartbeat: UInt64 = standardHeartbeat,
        witnessing: (any CheckpointWitnessing)? = nil, snapshots policy: IndexSnapshotPolicy = IndexSnapshotPolicy(),
        in database: (any SQLDatabase)? = nil, frontEnd: FrontEnd? = nil, secret: FrontEndSecret = FrontEndSecret(),
        onFatal: @escaping @Sendable () -> Void
    ) async throws(DirectoryOpenError) -> Directory {
        let signingClock = epochClock ?? clock
        let epochs = sealer(of: logFiles, signingClock, logger)
        let snapshots = IndexSnapshotWriter(
            files: logFiles, epochs: epochs, policy: policy,
            reserve: DiskReserve(besideFileAt: DirectoryPaths(root: path).database), logger: logger)
        var configuration = logConfiguration(keys, signingClock, onFatal: onFatal)
        configuration.sealing = epochs
        configuration.frameInterval = epochInterval
        configuration.witnessing = witnessing
        configuration.onPublished = {
            epochs.published(size: $0.head.size)
            snapshots.published(size: $0.head.size)
        }
        let log: DurableLog
        do throws(LogOpenError) { log = try await DurableLog.open(in: logFiles, configuration) } catch {
            throw .log(error)
        }
        report(epochs, to: logger)
        do throws(DirectoryOpenError) {
            let (paths, hasFile) = (DirectoryPaths(root: path), database == nil)
            var database =
                if let database { DirectoryDatabase(database: database, logger: logger) } else {
                    try DirectoryDatabase(at: paths.database, logger: logger)
                }
            let places = RecordPlaces(log, paths, hasFile: hasFile)
            database.isKept = { places.areKept }
            let directory = Directory(
                log: log, epochs: epochs, snapshots: snapshots, origin: keys.log.verifierKey.name, vrf: keys.vrf,
                database: database, paths: paths, places: places,
                clock: clock, logger: logger, heartbeat: heartbeat, frontEnd: frontEnd, secret: secret)
            let publishesAlone = witnessing == nil
            try await directory.beginFirstEpoch(isAwaited: publishesAlone)
            try await Reconciliation(
                log: log, epochs: epochs, database: database, awaitsPublication: publishesAlone
            ).run(origin: keys.log.verifierKey.name, vrfKey: keys.vrf.publicKey.bytes)
            try await directory.beginAnew(isAwaited: publishesAlone)
            do { try await directory.awaitWhatWasNotSeen() } catch { throw .database(.damaged) }
            return directory
        } catch {
            await snapshots.finish()
            await log.close()
            throw error
        }
    }

    /// A sealer that knows what the snapshot of the log's index says, if there is one.
    static func sealer(
        of files: any LogFileSystem, _ clock: @escaping @Sendable () -> UInt64, _ logger: Logger
    ) -> EpochSealer {
        do throws(IndexSnapshot.Fault) {
            return EpochSealer(snapshot: try IndexSnapshot(in: files), clock: clock)
        } catch {
            if error == .missing {
                logger.info("no index snapshot: the whole index is made from the log")
            } else {
                logger.warning("index snapshot not used", metadata: ["reason": "\(error)"])
            }
            return EpochSealer(clock: clock)
        }
    }

    static func report(_ epochs: EpochSealer, to logger: Logger) {
        if let size = epochs.usedSnapshot {
            logger.info("index snapshot used", metadata: ["entries": "\(size)"])
        } else if let fault = epochs.refusedSnapshot {
            logger.warning("index snapshot not used", metadata: ["reason": "\(fault)"])
        }
    }

    /// Even the first answer, that a person is not registered, rests on an epoch. A log that goes on where another one
    /// ended begins with the last checkpoint of that one.
    func beginFirstEpoch(isAwaited: Bool) async throws(DirectoryOpenError) {
        guard log.statistics.durableSize == 0 else { return }
        let links: [SuccessionLink]
        do { links = try succession()?.links ?? [] } catch { throw .database(.damaged) }
        do {
            if let end = links.last(where: { $0.record.kind == .log }) {
                _ = try await log.append([PredecessorRecord(note: end.note).entry])
            } else {
                try log.seal()
            }
            if isAwaited { _ = try await log.awaitPublished(size: 1) }
        } catch { throw .logStopped }
    }

    /// After the server was down for a while, the log ends in a current epoch before any request is answered.
    func beginAnew(isAwaited: Bool) async throws(DirectoryOpenError) {
        do {
            let size = log.published.head.size
            if try beat(), isAwaited { _ = try await log.awaitPublished(size: size + 1) }
        } catch { throw .logStopped }
    }

    static func logConfiguration(
        _ keys: DirectoryKeys, _ clock: @escaping @Sendable () -> UInt64, onFatal: @escaping @Sendable () -> Void
    ) -> LogConfiguration {
        var configuration = LogConfiguration(signer: keys.log, cosigners: keys.cosigners, clock: clock)
        configuration.onFatal = { _ in onFatal() }
        return configuration
    }
}
