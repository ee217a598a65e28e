// SPDX-License-Identifier: Apache-2.0

import LogFencing
package import SQLStores
import Synchronization

/// Keeps the lease of a leader, on a connection beside those that write.
package final class LeaseKeeper: Sendable {
    private struct State {
        var watch: LeaseWatch
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
        let sent = clock()
        let now = database.nowExpression
        let isKept = try? await database.write { [holder] in try $0.renewLease(holder, now: now) }
        // Without an answer the lease runs on as long as it does.
        guard let isKept else { return true }
        if isKept { state.withLock { $0.watch.renew(sentAt: sent) } } else { lose() }
        return isKept
    }

    /// Looks at the clock, and gives the lease up if none could be had for too long: for good, also if an answer comes later.
    ///
    /// - Returns: whether it is still ours.
    package func check() -> Bool {
        guard !allowsWriting else { return true }
        lose()
        return false
    }

    /// Calls a closure once, when somebody else has the lease or none could be had for too long; at once if that was before.
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
    ///
    /// - Parameter onLost: as in ``whenLost(_:)``.
    func start(onLost: @escaping @Sendable () -> Void) {
        whenLost(onLost)
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
