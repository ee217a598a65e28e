// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import LogEngine
import LogFencing
package import Logging
import PostgresStores
package import SQLStores
package import SharedLog
import SignetAPI
import Synchronization
package import Telemetry
import TransparencyLog

/// Looks at what the processes of a shared directory have in common, for the metrics and `/ready` of one of them.
///
/// It has connections of its own, so that it says what a database does that keeps the others waiting.
package final class SharedLogWatch: MetricSource {
    /// The log's tables, and those of the accounts.
    package typealias Databases = (log: SharedLogEngines, accounts: any SQLDatabase)

    private struct State {
        var databases: Databases?
        var look: SharedLogLook?
        /// How far this process's clock is from the database's, by the last look.
        var clock: ClockDifference?
        var remarks = ClockRemarks()
        /// How many rows wait, and since when the oldest was seen.
        var pending: (count: Int64, first: Int64?, since: Duration) = (0, nil, .zero)
        var reached: Duration
        var isUnprotected = false
        /// Why the last look failed; nil if it did not.
        var absence: String?
        var shown: (@Sendable () -> UInt64)?
    }

    private let open: @Sendable () throws -> Databases
    private let isProtected: @Sendable (SQLTransaction) throws -> Bool
    private let meters: SharedLogMeters
    private let clock: @Sendable () -> Duration
    private let wall: @Sendable () -> UInt64
    private let logger: Logger?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - meters: what this process counts.
    ///   - clock: of this process; it never runs back.
    ///   - wall: this process's time in seconds since 1970, which is compared with the database's.
    ///   - logger: told when that is too far away.
    ///   - isProtected: whether the accounts' database asks a standby to acknowledge each commit.
    ///   - open: connects. Tried again until it succeeds.
    package init(
        _ meters: SharedLogMeters, clock: @escaping @Sendable () -> Duration,
        wall: @escaping @Sendable () -> UInt64 = ServerClock.system.time, logger: Logger? = nil,
        isProtected: @escaping @Sendable (SQLTransaction) throws -> Bool = { _ in true },
        opening open: @escaping @Sendable () throws -> Databases
    ) {
        self.open = open
        self.isProtected = isProtected
        self.meters = meters
        self.clock = clock
        self.wall = wall
        self.logger = logger
        state = Mutex(State(reached: clock()))
    }

    /// How long ago the database was last reached.
    var lag: Duration { clock() - state.withLock { $0.reached } }

    /// What an operator is to be told of this process's clock, and of why the last look failed. Neither is a reason to leave the process out: the
    /// database's clock may be the wrong one, and who sees nothing new for long is behind.
    var remarks: [String] {
        let (clock, absence) = state.withLock { ($0.clock, $0.absence) }
        let remark = clock.flatMap { $0.isLarge ? "the clock is \(ClockRemarks.text($0))" : nil }
        return [remark, absence.map { "what is published was not read: \($0)" }].compactMap(\.self)
    }

    /// Whether the last database that was reached asks no standby to acknowledge a commit, so that nothing is accepted.
    var isUnprotected: Bool { state.withLock { $0.isUnprotected } }

    /// Why this process leads without the parts that log something; nil: it does not.
    var missingParts: String? { meters.now.missingParts }

    /// The log's condition by the last look; nil if there was none, or it found nothing.
    var condition: LogCondition? {
        state.withLock { $0.look }.map { look in
            LogCondition(
                isAlive: true, size: look.size, publishedSize: look.published.head.size,
                checkpointTime: DirectoryAdapter.time(of: look.published.note))
        }
    }

    /// Compares what is published with how many entries this process shows.
    package func compare(with shown: @escaping @Sendable () -> UInt64) { state.withLock { $0.shown = shown } }

    /// Looks each second until the task is cancelled, and lets go of the connections then.
    package func run() async {
        while !Task.isCancelled {
            await look()
            try? await Task.sleep(for: .seconds(1))
        }
        let databases = state.withLock { state in
            defer { state.databases = nil }
            return state.databases
        }
        databases?.log.database.close()
        databases?.accounts.close()
    }

    /// Looks once. What was seen before counts no longer if this look fails.
    package func look() async {
        let begin = clock()
        do {
            let (log, accounts) = try databases()
            let before = wall()
            let look = try await log.look()
            let difference = ClockDifference(before: before, after: wall(), database: look.time)
            let (isProtected, waiting) = try await accounts.read { [isProtected] in
                (try isProtected($0), try SharedDirectory.waiting($0))
            }
            let (count, first) = waiting
            state.withLock { state in
                let isSame = first != nil && first == state.pending.first
                state.isUnprotected = !isProtected
                state.pending = (count, first, isSame ? state.pending.since : begin)
                (state.look, state.reached) = (look, max(state.reached, begin))
                (state.clock, state.absence) = (difference, nil)
                if let logger { state.remarks.tell(difference, logger) }
            }
        } catch {
            let absence = Self.words(of: error)
            state.withLock { ($0.look, $0.clock, $0.absence) = (nil, nil, absence) }
        }
    }

    private static func words(of error: any Error) -> String? {
        switch error {
        case SharedLogFault.unavailable(let words): words
        case SharedEnginesError.database(.turnedAway(let refusal, _, _)):
            "database: \(SQLCode.postgres(state: refusal.state))"
        case let fault as SQLFault: "database: \(fault.code)"
        default: nil
        }
    }

    private func databases() throws -> Databases {
        if let known = state.withLock({ $0.databases }) { return known }
        let databases = try open()
        state.withLock { $0.databases = databases }
        return databases
    }

    package func samples() -> [MetricSample] { counted + seen }

    private var counted: [MetricSample] {
        let now = meters.now
        return [
            MetricSample(.sharedLeads, now.leads ? 1.0 : 0.0), MetricSample(.sharedTakeovers, now.takeovers),
            MetricSample(.sharedCommitTime, now.committing / .seconds(1)), MetricSample(.sharedRepeats, now.repeats),
        ]
            + SharedLogMeters.Commit.allCases.map {
                MetricSample(.sharedCommits, now.commits[$0] ?? 0, ("outcome", $0.rawValue))
            }
            + SharedLogMeters.Placing.allCases.map {
                MetricSample(.sharedObjects, now.placings[$0] ?? 0, ("outcome", $0.rawValue))
            }
    }

    private var seen: [MetricSample] {
        let (found, pending, shown, clock) = state.withLock { ($0.look, $0.pending, $0.shown, $0.clock) }
        guard let look = found else { return [] }
        let (size, published) = (look.size, look.published.head.size)
        let age = pending.first == nil ? Duration.zero : self.clock() - pending.since
        let behind = shown.map { shown -> MetricSample in
            let own = shown()
            return MetricSample(.sharedBehind, published > own ? published - own : 0)
        }
        return [
            MetricSample(.sharedGeneration, look.generation),
            MetricSample(.sharedLease, look.leaseLeft / .seconds(1)),
            MetricSample(.sharedPending, UInt64(clamping: pending.count)),
            MetricSample(.sharedPendingAge, age / .seconds(1)),
            MetricSample(.sharedUnpublished, size > published ? size - published : 0),
            MetricSample(.sharedClock, Double(clock?.seconds ?? 0)),
        ] + (behind.map { [$0] } ?? [])
    }
}

extension SharedEngines {
    /// A watch of a data directory's log.
    ///
    /// - Parameter logger: told when this process's clock is far from the database's.
    /// - Throws: ``StoredDirectoryError``: the directory cannot be read as one.
    package func watch(
        _ data: DataDirectory, logger: Logger? = nil
    ) throws(StoredDirectoryError) -> SharedLogWatch {
        let policy = try StoredDirectory.readProfile(data).trust.policy
        guard let origin = policy.logs.first?.name else { throw .noLog }
        let isProtected: @Sendable (SQLTransaction) throws -> Bool = { [replicatesBelowSQL] transaction in
            if replicatesBelowSQL { return true }
            let standbys = try transaction.row("SELECT current_setting('synchronous_standby_names')")?.text(0)
            return standbys?.isEmpty == false
        }
        return SharedLogWatch(
            meters, clock: StoredDirectory.steadyClock(), logger: logger, isProtected: isProtected
        ) {
            (try log(policy, origin, count: 1), try database(SharedDirectory.schema, count: 1))
        }
    }
}
