// SPDX-License-Identifier: Apache-2.0

import LogFencing
package import SQLStores
import Synchronization

/// Keeps the lease of a leader, on a connection beside those that write.
package final class LeaseKeeper: Sendable {
    private struct State {
        var watch: LeaseWatch
        /// When the first request was sent after which no answer came.
        var unanswered: Duration?
        var isLost = false
        /// Who is to be told.
        var listeners: [@Sendable () -> Void] = []
        var tasks: [Task<Void, Never>] = []
    }

    private let database: any SQLDatabase
    private let holder: String
    private let clock: @Sendable () -> Duration
    private let state: Mutex<State>

    /// - Parameters:
    ///   - clock: of this process; it never runs back.
    ///   - sent: by that clock, when the request was sent that got the lease.
    package init(
        _ database: any SQLDatabase, holder: String, sent: Duration, clock: @escaping @Sendable () -> Duration
    ) {
        self.database = database
        self.holder = holder
        self.clock = clock
        state = Mutex(State(watch: LeaseWatch(at: sent)))
    }

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
        let isKept = try? await database.write { [holder] in try $0.renewLease(holder, now: now) }
        // Without an answer the lease runs on as long as it does.
        guard let isKept else { return true }
        state.withLock { $0.unanswered = nil }
        if isKept { state.withLock { $0.watch.renew(sentAt: sent) } } else { lose() }
        return isKept
    }

    /// Whether this process may begin to write. One that was away for a while asks the database first. It holds the thread meanwhile.
    func mayWrite() -> Bool {
        if allowsWriting { return true }
        _ = waiting { [self] in await renew() }
        return allowsWriting
    }

    /// Gives the lease up if the database has not answered for too long: for good, also if an answer comes later. A process that was away
    /// itself asks first.
    ///
    /// - Returns: whether it may still be ours.
    package func check() -> Bool {
        let now = clock()
        let isOver = state.withLock { state in
            state.isLost || state.unanswered.map { now - $0 >= LeaseWatch.patience } == true
        }
        if isOver { lose() }
        return !isOver
    }

    /// Calls a closure once, when somebody else has the lease or the database has not answered for too long; at once if that was before.
    package func whenLost(_ listener: @escaping @Sendable () -> Void) {
        let isLost = state.withLock { state in
            if !state.isLost { state.listeners.append(listener) }
            return state.isLost
        }
        if isLost { listener() }
    }

    private func lose() {
        let listeners = state.withLock { state in
            defer { (state.isLost, state.listeners) = (true, []) }
            return state.listeners
        }
        for listener in listeners { listener() }
    }

    /// Renews until it is ended.
    func start() {
        let renewing = Task { [self] in
            while !Task.isCancelled, await renew() { try? await Task.sleep(for: LeaseWatch.renewal) }
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
