// SPDX-License-Identifier: Apache-2.0

package import LogFencing
package import SQLStores
import Synchronization

/// Keeps the lease of a leader, on a connection beside those that write.
package final class LeaseKeeper: Sendable {
    private struct State {
        var watch: LeaseWatch
        /// When the first request was sent after which no answer came.
        var unanswered: Duration?
        var isLost = false
        /// Why, in terms of the leader.
        var end = LeadershipEnd.superseded
        /// The newest time that the database has told, in milliseconds since 1970, and when it was asked for that.
        var told: (milliseconds: Int64, sent: Duration)?
        /// Who is to be told.
        var listeners: [@Sendable () -> Void] = []
        var tasks: [Task<Void, Never>] = []
    }

    private let database: any SQLDatabase
    private let holder: String
    private let clock: @Sendable () -> Duration
    private let wall: (@Sendable () -> UInt64)?
    private let turn: LeaderTurn
    private let state: Mutex<State>

    /// - Parameters:
    ///   - clock: of this process; it never runs back.
    ///   - sent: by that clock, when the request was sent that got the lease.
    ///   - told: the database's time when it gave the lease, in milliseconds since 1970; nil if unknown.
    ///   - wall: this process's time in seconds since 1970, by which epochs are dated; nil: it is not compared with the database's.
    ///   - turn: whether anything is shown.
    package init(
        _ database: any SQLDatabase, holder: String, sent: Duration, told: Int64? = nil,
        clock: @escaping @Sendable () -> Duration, wall: (@Sendable () -> UInt64)? = nil,
        turn: LeaderTurn = LeaderTurn()
    ) {
        self.database = database
        self.holder = holder
        self.clock = clock
        self.wall = wall
        self.turn = turn
        state = Mutex(State(watch: LeaseWatch(at: sent), told: told.map { ($0, sent) }))
    }

    /// Why this process leads no more, once the lease is lost or given up.
    package var end: LeadershipEnd { state.withLock { $0.end } }

    /// Whether this process may begin to write.
    package var allowsWriting: Bool {
        let now = clock()
        return state.withLock { !$0.isLost && $0.watch.allowsWriting(at: now) }
    }

    /// Asks the database to make the lease longer.
    ///
    /// - Returns: false when somebody else has it.
    package func renew() async -> Bool {
        let (sent, now) = (clock(), database.nowExpression)
        state.withLock { $0.unanswered = $0.unanswered ?? sent }
        let told: Int64?
        do { told = try await database.write { [holder] in try $0.renewLease(holder, now: now) } } catch {
            // Without an answer the lease runs on as long as it does.
            return true
        }
        state.withLock { $0.unanswered = nil }
        guard let told else {
            lose(.superseded)
            return false
        }
        state.withLock { state in
            state.watch.renew(sentAt: sent)
            if sent >= state.told?.sent ?? sent { state.told = (told, sent) }
        }
        return true
    }

    /// Whether this process may begin to write. One that was away for a while asks the database first. It holds the thread meanwhile.
    func mayWrite() -> Bool {
        if isClockAhead { lose(.clockAhead) }
        if allowsWriting { return true }
        _ = waiting { [self] in await renew() }
        return allowsWriting
    }

    /// Gives the lease up if the database has not answered for too long: for good, also if an answer comes later. A process that was away
    /// itself asks first. So it does if nothing can be shown, or by its clock no epoch may end.
    ///
    /// - Returns: whether it may still be ours.
    package func check() -> Bool {
        let now = clock()
        let (isLost, isSilent) = state.withLock { state in
            (state.isLost, state.unanswered.map { now - $0 >= LeaseWatch.patience } == true)
        }
        guard !isLost else { return false }
        let end: LeadershipEnd? =
            isClockAhead ? .clockAhead : turn.isStuck(at: now) ? .unshown : isSilent ? .superseded : nil
        if let end { lose(end) }
        return end == nil
    }

    /// Whether this process's clock is too far ahead of the database's, by what that has told last and how long ago that was.
    private var isClockAhead: Bool {
        guard let wall, let told = state.withLock({ $0.told }) else { return false }
        let time = wall()
        // It told its time after it was asked, so that by now it is no later there.
        let latest = told.milliseconds + (clock() - told.sent).milliseconds
        return !ClockDifference(before: time, after: time, database: latest).allowsEpochs
    }

    /// There is something to show, or one step towards that was made.
    func madeStep() { turn.step(at: clock()) }

    /// Everything is shown.
    func hasShown() { turn.rest() }

    /// Calls a closure once, when somebody else has the lease or it was given up; at once if that was before. ``end`` says why.
    package func whenLost(_ listener: @escaping @Sendable () -> Void) {
        let isLost = state.withLock { state in
            if !state.isLost { state.listeners.append(listener) }
            return state.isLost
        }
        if isLost { listener() }
    }

    private func lose(_ end: LeadershipEnd) {
        let listeners = state.withLock { state in
            if !state.isLost { state.end = end }
            defer { (state.isLost, state.listeners) = (true, []) }
            return state.listeners
        }
        turn.end(end)
        for listener in listeners { listener() }
    }

    private var isLost: Bool { state.withLock { $0.isLost } }

    /// Renews until it is ended, or until it was given up: what this process has begun may take long to end, and nobody is to wait for that.
    func start() {
        let renewing = Task { [self] in
            while !Task.isCancelled, !isLost, await renew() { try? await Task.sleep(for: LeaseWatch.renewal) }
        }
        // Beside it, because a database that does not answer holds a renewal for as long as it likes.
        let watching = Task { [self] in
            while !Task.isCancelled, check() { try? await Task.sleep(for: LeaseWatch.renewal / 4) }
        }
        state.withLock { $0.tasks = [renewing, watching] }
    }

    /// Ends renewing and gives the lease back.
    package func end() async {
        let tasks = state.withLock { state in
            defer { (state.tasks, state.listeners) = ([], []) }
            return state.tasks
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        _ = try? await database.write { [holder] in try $0.endLease(holder) }
    }
}
