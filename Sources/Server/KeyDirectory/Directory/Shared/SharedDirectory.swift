// SPDX-License-Identifier: Apache-2.0

import DurableStorage
package import KeyTransparency
package import LogEngine
package import LogFencing
package import Logging
package import SQLStores
package import SharedLog
import Synchronization
package import TransparencyLog
package import VRF

/// A directory that several processes share: each may accept and answer, and one of them writes the log.
///
/// What a process accepts is a row of the database, with a row beside it in `waiting`. The process that leads takes these, logs them and
/// publishes; the others see the published checkpoint and answer who waits for it. No process asks another one for anything.
package struct SharedDirectory: Sendable {
    let engines: SharedLogEngines
    let accounts: any SQLDatabase
    let state: String?
    private let snapshotPolicy: IndexSnapshotPolicy
    let history: String?
    private let secret: FrontEndSecret
    private let clock: @Sendable () -> UInt64
    private let wall: (@Sendable () -> UInt64)?
    private let logger: Logger

    /// The tables of the accounts.
    package static var schema: SQLSchema { DirectorySchema.schema }

    /// - Parameters:
    ///   - engines: the log's.
    ///   - accounts: with the tables of ``schema``.
    ///   - state: a folder of this machine for the log's frames and a snapshot of the index, which make the next start quicker: of one
    ///     process, or one part of it. Another one that is given the same only reads the snapshot. Nil for none.
    ///   - history: a folder with the proofs of earlier changes of keys and what earlier logs held, the same on each machine; nil for none.
    ///   - secret: what all processes share, so that one opens what another sealed.
    ///   - policy: when a snapshot is written.
    ///   - clock: seconds since 1970.
    ///   - wall: the same of this machine, which is compared with the database's before this leads; nil: it is not.
    package init(
        _ engines: SharedLogEngines, accounts: any SQLDatabase, state: String?, history: String? = nil,
        secret: FrontEndSecret, snapshots policy: IndexSnapshotPolicy = IndexSnapshotPolicy(),
        clock: @escaping @Sendable () -> UInt64, wall: (@Sendable () -> UInt64)? = nil, logger: Logger
    ) {
        snapshotPolicy = policy
        self.engines = history.map(engines.knowing(history:)) ?? engines
        self.accounts = accounts
        self.state = state
        self.history = history
        self.secret = secret
        self.clock = clock
        self.wall = wall
        self.logger = logger
    }

    /// Makes an empty directory in an empty database. Done once.
    ///
    /// - Throws: ``SharedDirectoryError``.
    package func create(_ keys: DirectoryKeys) async throws(SharedDirectoryError) {
        do throws(SharedLogFault) {
            try await engines.create(Directory.logConfiguration(keys, clock, onFatal: {}))
        } catch { throw .log(.fault(error)) }
        do throws(DirectoryOpenError) {
            try database.name(origin: keys.log.verifierKey.name.bytes, vrfKey: keys.vrf.publicKey.bytes)
        } catch { throw .directory(error) }
    }

    /// Has the process that leads log what one machine had accepted and not logged: in tables that were copied from it.
    package static func handOver(_ database: SQLTransaction) throws {
        try database.run(
            "INSERT INTO waiting (state) SELECT id FROM states WHERE id > (SELECT checked_state FROM meta) ORDER BY id")
        try database.run("INSERT INTO waiting (label, version) SELECT label, version FROM erased")
    }

    /// How many steps wait for the process that leads, and the number of the oldest, which stays its own.
    package static func waiting(_ database: SQLTransaction) throws -> (count: Int64, first: Int64?) {
        try WaitingRows.extent(in: database)
    }

    /// Has one machine log what waits: in tables that were copied back to it.
    ///
    /// - Returns: how many ends of accounts wait. One machine may not find the versions that they need; the process that leads does.
    package static func takeBack(_ file: SQLTransaction) throws -> Int {
        let ends = try file.row("SELECT COUNT(*) FROM waiting WHERE state IS NULL")?.integer(0) ?? 0
        if let first = try file.row("SELECT MIN(state) FROM waiting")?.optionalInteger(0) {
            try file.run("UPDATE meta SET checked_state = ?1 WHERE checked_state > ?1", [first - 1])
        }
        try file.run("DELETE FROM waiting")
        return Int(ends)
    }

    // MARK: Serving

    /// The directory of a process that accepts and answers, and does not write the log.
    ///
    /// - Parameters:
    ///   - steady: by which the follower's lag is counted; it never runs back.
    ///   - onFatal: called once, when the log shows nothing new any more: the process is to end.
    /// - Throws: ``SharedDirectoryError``.
    package func serve(
        vrf: VRFPrivateKey, steady: @escaping @Sendable () -> Duration,
        onFatal: @escaping @Sendable () -> Void = {}
    ) async throws(SharedDirectoryError) -> (Directory, LogFollower) {
        do throws(SharedLogFault) { try await engines.requireServed() } catch { throw .log(.fault(error)) }
        let replica = try await follow(steady: steady, onFatal: onFatal)
        let follower = replica.follower
        let directory = directory(
            follower.log, replica.epochs, replica.snapshots, vrf, Directory.standardHeartbeat,
            following: engines.database)
        directory.frontEnd?.watch { follower.lag }
        directory.frontEnd?.compare { await follower.isDatabaseOlder }
        do throws(DirectoryOpenError) {
            try reconciliation(follower.log, replica.epochs, isAwaited: false).requireOwn(
                origin: engines.origin, vrfKey: vrf.publicKey.bytes)
        } catch {
            await follower.log.close()
            throw .directory(error)
        }
        return (directory, follower)
    }

    /// Reads the log into memory and keeps it at what is published: for a process that answers, or one that stands by to lead.
    ///
    /// - Parameters:
    ///   - steady: by which the follower's lag is counted; it never runs back.
    ///   - onFatal: called once, when the log shows nothing new any more.
    /// - Throws: ``SharedDirectoryError``.
    package func follow(
        steady: @escaping @Sendable () -> Duration, onFatal: @escaping @Sendable () -> Void = {}
    ) async throws(SharedDirectoryError) -> DirectoryReplica {
        let kept = keptFrames()
        let (epochs, snapshots) = index(isOurs: kept != nil)
        var following = LogFollowing()
        following.sealing = epochs
        following.onPublished = { Self.published($0, epochs, snapshots) }
        following.onFatal = { _ in onFatal() }
        let follower: LogFollower
        do throws(SharedLogOpenError) {
            follower = try await LogFollower.open(engines, following, kept: kept, clock: steady)
        } catch { throw .log(error) }
        do throws(SharedLogFault) { try requireKnown(epochs.succession) } catch {
            await follower.log.close()
            throw .log(.fault(error))
        }
        if follower.keptSize > 0 {
            logger.info("kept frames used", metadata: ["entries": "\(follower.keptSize)"])
        }
        Directory.report(epochs, to: logger)
        return DirectoryReplica(follower: follower, epochs: epochs, snapshots: snapshots)
    }

    // MARK: Leading

    /// Whether it is worth trying to lead, and how far this process's clock is from the database's.
    package func look(holder: String, steady: @escaping @Sendable () -> Duration) async -> LeaseSight {
        await LogCandidate(engines, holder: holder, clock: steady, wall: wall).look()
    }

    /// Demands that the object store answers, without which nobody can take over.
    ///
    /// - Throws: ``SharedDirectoryError``; it is passing.
    package func reachesMemory(
        holder: String, steady: @escaping @Sendable () -> Duration
    ) async throws(SharedDirectoryError) {
        do throws(CandidacyEnd) {
            try await LogCandidate(engines, holder: holder, clock: steady).reachesMemory()
        } catch { throw .candidacy(error) }
    }

    /// The directory of the process that writes the log, once nobody else does.
    ///
    /// - Parameters:
    ///   - link: a connection for the log alone, which is never made anew; the directory closes it.
    ///   - holder: a name that no other process has.
    ///   - changing: the trust of a change of keys or witnesses that this process makes; it may be in the log already, without its proof.
    ///   - replica: the log in memory, from ``follow(steady:onFatal:)`` of this directory, which nothing else steps any more; nil: the whole log
    ///     is read after the claim. It is of no use any more when it ``DirectoryReplica/isOver``.
    ///   - turn: told what is shown.
    ///   - others: what witnesses hold who answer, asked by what was signed last.
    ///   - onFatal: called once, when this process leads no more: it is to end.
    /// - Throws: ``SharedDirectoryError``; one that ``SharedDirectoryError/isPassing`` is worth a retry.
    package func lead(
        _ keys: DirectoryKeys, over link: any SQLDatabase, _ facts: (DatabaseFacts, DatabaseDemands), holder: String,
        from replica: DirectoryReplica? = nil, turn: LeaderTurn = LeaderTurn(),
        epochInterval: Duration = .zero, heartbeat: UInt64 = Directory.standardHeartbeat,
        witnessing: (any CheckpointWitnessing)? = nil,
        others: @Sendable (PublishedCheckpoint) async -> [SeenHead] = { _ in [] },
        changing: DirectoryTrust? = nil,
        steady: @escaping @Sendable () -> Duration, onFatal: @escaping @Sendable () -> Void = {}
    ) async throws(SharedDirectoryError) -> Directory {
        let (epochs, snapshots) = replica.map { ($0.epochs, $0.snapshots) } ?? index(isOurs: false)
        var configuration = Directory.logConfiguration(keys, clock, onFatal: onFatal)
        let failure = FirstFailure()
        configuration.onFatal = { found in
            failure.note(found)
            onFatal()
        }
        configuration.sealing = epochs
        configuration.frameInterval = epochInterval
        configuration.witnessing = witnessing
        configuration.onPublished = { Self.published($0, epochs, snapshots) }
        let log: DurableLog
        do throws(CandidacyEnd) {
            log = try await LogCandidate(engines, holder: holder, clock: steady, wall: wall).lead(
                over: link, facts, configuration, from: replica?.follower, turn: turn, others: others
            ) { (isLogged) throws(SharedLogFault) in
                try requireKnown(epochs.succession, changing: changing, isLogged: isLogged)
            }
        } catch { throw .candidacy(error) }
        if replica == nil { Directory.report(epochs, to: logger) }
        let directory = directory(log, epochs, snapshots, keys.vrf, heartbeat)
        let isAwaited = witnessing == nil
        do throws(DirectoryOpenError) {
            try await directory.beginFirstEpoch(isAwaited: isAwaited)
            try await reconciliation(log, epochs, isAwaited: isAwaited).run(
                origin: engines.origin, vrfKey: keys.vrf.publicKey.bytes)
            try await directory.beginAnew(isAwaited: isAwaited)
        } catch {
            await directory.log.close()
            // That the log has failed is what the others follow from.
            if let failure = failure.first { throw .failed(failure) }
            throw .directory(error)
        }
        return directory
    }

    /// Remembers why a log has failed.
    private final class FirstFailure: Sendable {
        private let found = Mutex<LogFailure?>(nil)

        var first: LogFailure? { found.withLock { $0 } }

        func note(_ failure: LogFailure) { found.withLock { $0 = $0 ?? failure } }
    }

    /// Lets go of the databases. A directory that was opened lets go of that of the accounts by itself.
    package func close() {
        engines.database.close()
        accounts.close()
    }

    // MARK: Parts

    private var database: DirectoryDatabase { DirectoryDatabase(database: accounts, handsOver: true, logger: logger) }

    private func reconciliation(_ log: DurableLog, _ epochs: EpochSealer, isAwaited: Bool) -> Reconciliation {
        Reconciliation(log: log, epochs: epochs, database: database, awaitsPublication: isAwaited)
    }

    private func directory(
        _ log: DurableLog, _ epochs: EpochSealer, _ snapshots: IndexSnapshotWriter?, _ vrf: VRFPrivateKey,
        _ heartbeat: UInt64, following followed: (any SQLDatabase)? = nil
    ) -> Directory {
        Directory(
            log: log, epochs: epochs, snapshots: snapshots, origin: engines.origin, vrf: vrf, database: database,
            paths: DirectoryPaths(root: history ?? "/nonexistent"), clock: clock, logger: logger, heartbeat: heartbeat,
            frontEnd: FrontEnd(), secret: secret, following: followed)
    }

    private func keptFrames() -> KeptFrames? {
        guard let state else { return nil }
        let (reserve, logger) = (DiskReserve(besideFileAt: "\(state)/wal"), logger)
        return KeptFrames.open(in: POSIXFileSystem(root: state), hasRoom: { !reserve.isReached }) {
            logger.warning("\($0)")
        }
    }

    /// - Parameter isOurs: whether snapshots are written into the folder, and not only read.
    private func index(isOurs: Bool) -> (EpochSealer, IndexSnapshotWriter?) {
        guard let state else { return (EpochSealer(clock: clock), nil) }
        let files = POSIXFileSystem(root: state)
        let epochs = Directory.sealer(of: files, clock, logger)
        guard isOurs else { return (epochs, nil) }
        let writer = IndexSnapshotWriter(
            files: files, epochs: epochs, policy: snapshotPolicy,
            reserve: DiskReserve(besideFileAt: "\(state)/index.snapshot"), logger: logger)
        return (epochs, writer)
    }

    private static func published(
        _ checkpoint: PublishedCheckpoint, _ epochs: EpochSealer, _ snapshots: IndexSnapshotWriter?
    ) {
        epochs.published(size: checkpoint.head.size)
        snapshots?.published(size: checkpoint.head.size)
    }
}

extension Directory {
    /// Logs what other processes have accepted and this one has not logged yet. Only of a directory that leads.
    ///
    /// - Returns: how many steps were waiting.
    /// - Throws: ``DirectoryOpenError``; the process is to end unless the database was away.
    @discardableResult
    package func logWaiting() async throws(DirectoryOpenError) -> Int {
        try await reconciliation.logWaiting()
    }

    /// Logs what other processes accept until the task is cancelled.
    ///
    /// - Parameters:
    ///   - pause: between two looks at what waits.
    ///   - onFault: told of every failure; returns whether to go on.
    package func sequence(
        every pause: Duration = .milliseconds(100), onFault: @Sendable (DirectoryOpenError) -> Bool
    ) async {
        await reconciliation.logAsItComes(every: pause, onFault: onFault)
    }

    var reconciliation: Reconciliation {
        Reconciliation(log: log, epochs: epochs, database: database, awaitsPublication: false)
    }
}

/// The log of a shared directory in the memory of one process: its tree, its index and the histories of its labels. It follows what is
/// published, and becomes the log that this process writes if it comes to lead.
package struct DirectoryReplica: Sendable {
    let follower: LogFollower
    let epochs: EpochSealer
    let snapshots: IndexSnapshotWriter?

    /// How many entries are shown.
    package var size: UInt64 { follower.log.published.head.size }

    /// The newest record under a label of the log's own statements; nil if there is none.
    package func newest(under label: ReservedLabel) -> ReservedRecord? { epochs.newest(under: label) }

    /// The version of that record, and when it was logged; nil if there is none.
    ///
    /// - Throws: ``LogEngine/DurableLogReadError``.
    package func newestVersion(
        under label: ReservedLabel
    ) async throws(DurableLogReadError) -> PublishedVersion? {
        let (log, size) = (follower.log, size)
        guard let index = epochs.lastIndex(of: label.index, size: size), let end = epochs.end(after: index) else {
            return nil
        }
        let entry = try await log.entry(at: end)
        guard let epoch = try? EpochRecord(decoding: entry) else { return nil }
        return PublishedVersion(epochs.version(of: label.index), in: epoch)
    }

    /// When the last epoch ended, in seconds since 1970; nil if there is none.
    package var lastEpochTime: UInt64? { epochs.lastTime }

    /// Whether a process has come to lead by it, so that it follows no more.
    package var isOver: Bool { follower.log.isOver }

    /// Looks once for something new.
    ///
    /// - Throws: ``LogEngine/SharedLogFault``, as ``SharedLog/LogFollower/step()``.
    package func step() async throws(SharedLogFault) { _ = try await follower.step() }

    /// Keeps what a directory that leads by this has published, from now on until the task is cancelled, within a second.
    package func keepShown(of directory: Directory) async {
        var kept: PublishedCheckpoint?
        while true {
            let isLast = Task.isCancelled
            let shown = directory.log.published
            if shown.bytes != kept?.bytes { await follower.keepShown(shown) }
            kept = shown
            guard !isLast else { return }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// Lets go of everything, if nobody has come to lead by it.
    package func close() async {
        await snapshots?.finish()
        await follower.log.close()
    }
}

/// Why a shared directory was not made or opened.
package enum SharedDirectoryError: Error, Sendable {
    /// The log could not be read.
    case log(SharedLogOpenError)
    /// This process does not lead.
    case candidacy(CandidacyEnd)
    /// The accounts and the log do not belong together, or the database is away.
    case directory(DirectoryOpenError)
    /// The log failed before this process had begun to lead.
    case failed(LogFailure)

    /// Whether the same process may lead later, without anything that a person would have to decide.
    package var isPassing: Bool {
        switch self {
        case .candidacy(let end): end.isPassing
        case .log(.fault(.unavailable)), .directory(.databaseAway), .failed(.sharedStore(.unavailable)): true
        case .failed(.leadershipEnded(let end)): end.isPassing
        case .log, .directory, .failed: false
        }
    }
}
