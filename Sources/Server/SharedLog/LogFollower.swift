// SPDX-License-Identifier: Apache-2.0

package import LogEngine
import LogFencing
import SQLStores
import Synchronization
import TransparencyLog

/// Keeps a log that another process writes at what that process has published.
///
/// It believes the database nothing: every checkpoint is verified as the clients do, and the frames must make its root.
package final class LogFollower: Sendable {
    /// The log, for reading.
    package let log: DurableLog
    private let engines: SharedLogEngines
    private let kept: KeptFrames?
    /// How many entries this machine had shown before this start.
    private let shownBefore: UInt64
    private let clock: @Sendable () -> Duration
    private let reached: Mutex<Duration>

    private init(
        _ log: DurableLog, _ engines: SharedLogEngines, _ kept: KeptFrames?, shownBefore: UInt64,
        _ clock: @escaping @Sendable () -> Duration
    ) {
        self.log = log
        self.engines = engines
        self.kept = kept
        self.shownBefore = shownBefore
        self.clock = clock
        reached = Mutex(clock())
    }

    /// Reads the whole log, up to what is published: what this machine kept of it, and the rest from the database.
    ///
    /// A database that has less than this machine has shown, or another log, is refused: somebody has restored an older copy, even if all other
    /// memories of the log were put back with it.
    ///
    /// - Parameters:
    ///   - kept: frames that this process kept on its disk and keeps from now on; nil: it keeps none.
    ///   - clock: of this process; it never runs back.
    /// - Throws: ``SharedLogOpenError``; with ``SharedLogFault/shrinks(from:to:)`` or ``SharedLogFault/rootDiffers(size:)`` as well if the
    ///   database is not the one from which this machine has shown its last checkpoint.
    package static func open(
        _ engines: SharedLogEngines, _ following: LogFollowing, kept: KeptFrames? = nil,
        clock: @escaping @Sendable () -> Duration
    ) async throws(SharedLogOpenError) -> LogFollower {
        let before = kept?.shown.flatMap { engines.logSigned($0)?.head }
        let shown: PublishedCheckpoint
        do throws(SharedLogFault) { shown = try await engines.readPublished(extending: before) } catch {
            throw .fault(error)
        }
        let replay = try await engines.replay(to: shown.head, sealing: following.sealing, by: kept)
        do throws(SharedLogFault) { try before?.requireSame { replay.root(size: $0) } } catch { throw .fault(error) }
        let log: DurableLog
        do throws(SharedLogFault) {
            log = try DurableLog.follow(replay, in: FollowerStores(engines: engines), shown: shown, following)
        } catch { throw .fault(error) }
        let follower = LogFollower(log, engines, kept, shownBefore: before?.size ?? 0, clock)
        await follower.keep(shown)
        return follower
    }

    /// How many entries the start read from what this machine kept.
    package var keptSize: UInt64 { kept?.usedSize ?? 0 }

    /// How long ago the database was last reached, and everything that it had published was shown.
    package var lag: Duration { clock() - reached.withLock { $0 } }

    /// Looks once for something new, and shows it.
    ///
    /// - Returns: whether there was something.
    /// - Throws: ``SharedLogFault``. After any but ``SharedLogFault/unavailable(_:)`` this process has to end.
    @discardableResult
    package func step() async throws(SharedLogFault) -> Bool {
        let now = clock()
        let (checkpoint, frames) = try await engines.readPublished(from: log.statistics.durableSize)
        let shown = log.published
        // Of another server, which has come back or was left behind.
        guard checkpoint.head.size >= shown.head.size else {
            throw .shrinks(from: shown.head.size, to: checkpoint.head.size)
        }
        let isNew = checkpoint.bytes != shown.bytes
        if isNew { try await take(checkpoint, frames) }
        reached.withLock { $0 = max($0, now) }
        return isNew
    }

    /// Whether the database has published less by now than is shown here, or cannot be asked.
    package var isDatabaseOlder: Bool {
        get async {
            let shown = log.published.head.size
            guard let checkpoint = try? await engines.readPublished() else { return true }
            return checkpoint.head.size < shown
        }
    }

    /// - Parameter first: the first frames that lead to the checkpoint.
    private func take(_ next: PublishedCheckpoint, _ first: [Frame]) async throws(SharedLogFault) {
        var (checkpoint, frames) = (next, first)
        while let size = frames.last?.endIndex, size < checkpoint.head.size {
            let (later, more) = try await engines.readPublished(from: size)
            guard later.head.size >= checkpoint.head.size else {
                throw .shrinks(from: checkpoint.head.size, to: later.head.size)
            }
            checkpoint = later
            frames += more
        }
        try await log.advance(by: frames, to: checkpoint)
        await kept?.keep(frames)
        await keep(checkpoint)
    }

    /// Keeps what is shown, unless this machine has shown more before: a repair has put entries back that are not published again yet.
    private func keep(_ shown: PublishedCheckpoint) async {
        guard shown.head.size >= shownBefore else { return }
        await kept?.keep(shown)
    }

    /// Keeps what this process shows, since it has come to lead by this and writes the log itself: its next start refuses a database that has
    /// less.
    package func keepShown(_ checkpoint: PublishedCheckpoint) async { await keep(checkpoint) }

    /// Reads what is committed beyond what is shown, and shows nothing of it: this process is about to lead.
    ///
    /// - Parameters:
    ///   - row: of a claim that was acknowledged.
    ///   - engines: with the connection of the claim: others may still be to a server that a promotion has left behind.
    /// - Throws: ``CandidacyEnd``. If the log here is over, ``DurableLog/isOver``, or failed, this is of no use any more.
    func catchUp(with row: LogRow, over engines: SharedLogEngines) async throws(CandidacyEnd) {
        let shown = log.published.head
        // That was published and verified.
        guard row.head.size >= shown.size else {
            let seen = SeenHead(shown, in: .publishedCheckpoint)
            throw .ended(.conflict(.databaseBehind(seen: seen, database: row.head)))
        }
        do throws(SharedLogFault) {
            while log.statistics.durableSize < row.head.size {
                let frames = try await engines.frames(from: log.statistics.durableSize, to: row.head.size)
                // Not kept on the disk: a start demands that nothing there is beyond what is published.
                try await log.prepare(by: frames)
            }
        } catch { throw .fault(error) }
    }

    /// Looks for something new until the task is cancelled.
    ///
    /// - Parameters:
    ///   - pause: between two looks.
    ///   - onFault: told of every look that failed; returns whether to go on. Otherwise the log shows nothing new any more.
    package func run(
        every pause: Duration = .milliseconds(250), onFault: @Sendable (SharedLogFault) -> Bool
    ) async {
        while !Task.isCancelled {
            do throws(SharedLogFault) { try await step() } catch {
                guard onFault(error) else { return log.fail(.sharedStore(error)) }
            }
            try? await Task.sleep(for: pause)
        }
    }
}

extension SharedLogEngines {
    /// What is published. It may be less than what was once, after a repair; what is committed may not.
    ///
    /// - Parameter shown: what this machine has shown before.
    /// - Throws: ``SharedLogFault``.
    func readPublished(extending shown: TreeHead? = nil) async throws(SharedLogFault) -> PublishedCheckpoint {
        let row = try await asking { try await database.read { try SharedLogRow.read($0) } }
        let published = try published(row)
        try shown?.requireCommitted(row.row.head.size)
        return published
    }

    /// What is published, and the next frames that lead to it, at least one if any is lacking: of one server at one moment. While a database
    /// fails over, two connections may be to two.
    ///
    /// - Throws: ``SharedLogFault``.
    func readPublished(from start: UInt64) async throws(SharedLogFault) -> (PublishedCheckpoint, [Frame]) {
        try await asking {
            try await database.read { transaction in
                let published = try published(SharedLogRow.read(transaction))
                return (published, try transaction.nextFrames(from: start, to: published.head.size))
            }
        }
    }
}

// What a machine has shown: a database that has less, or something else, is an older copy or another one, even if all other memories of the
// log were put back with it.
extension TreeHead {
    /// Demands that so many entries are committed.
    func requireCommitted(_ count: UInt64) throws(SharedLogFault) {
        guard count >= size else { throw .shrinks(from: size, to: count) }
    }

    /// Demands that the log has this root.
    ///
    /// - Parameter root: of the log's first entries; nil beyond those that were read.
    func requireSame(_ root: (UInt64) -> TreeHash?) throws(SharedLogFault) {
        guard root(size) ?? self.root == self.root else { throw .rootDiffers(size: size) }
    }
}

/// Where a process reads that does not write the log.
struct FollowerStores: LogStores {
    let engines: SharedLogEngines

    func bundle(_ tile: Tile) throws(DurableLogReadError) -> [UInt8] { try engines.bundle(tile) }

    func release() {}

    // Nothing calls these: a log that is followed has no stages that write.

    var placesBeforeSigning: Bool { true }

    func commit(_ groups: [HashedEntries]) throws(LogFailure) -> UInt64 { throw .leadershipEnded(.outOfTurn) }

    func nextSize(isWanted: Bool) throws(LogFailure) -> UInt64? { throw .leadershipEnded(.outOfTurn) }

    func write(_ tile: Tile, _ bytes: [UInt8]) throws(LogFailure) { throw .leadershipEnded(.outOfTurn) }

    func finishPlacing(_ head: TreeHead, bundle: [UInt8]) throws(LogFailure) { throw .leadershipEnded(.outOfTurn) }

    func remember(_ checkpoint: PublishedCheckpoint, root: (UInt64) -> TreeHash?) throws(LogFailure) {
        throw .leadershipEnded(.outOfTurn)
    }

    func publish(_ checkpoint: PublishedCheckpoint, isWitnessed: Bool) throws(LogFailure) {
        throw .leadershipEnded(.outOfTurn)
    }
}
