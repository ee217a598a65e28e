// SPDX-License-Identifier: Apache-2.0

import LogFencing
import SQLStores
import Synchronization

/// Keeps the lease of a leader, on a connection beside those that write.
package final class LeaseKeeper: Sendable {
    private let database: any SQLDatabase
    private let holder: String
    private let clock: @Sendable () -> Duration
    private let watch: Mutex<LeaseWatch>
    private let isLost = Mutex(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - clock: of this process; it never runs back.
    ///   - sent: by that clock, when the request was sent that got the lease.
    init(_ database: any SQLDatabase, holder: String, sent: Duration, clock: @escaping @Sendable () -> Duration) {
        self.database = database
        self.holder = holder
        self.clock = clock
        watch = Mutex(LeaseWatch(at: sent))
    }

    /// Whether this process may begin to write.
    var allowsWriting: Bool {
        let now = clock()
        return !isLost.withLock { $0 } && watch.withLock { $0.allowsWriting(at: now) }
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
        if isKept { watch.withLock { $0.renew(sentAt: sent) } } else { isLost.withLock { $0 = true } }
        return isKept
    }

    /// Renews until it is ended.
    ///
    /// - Parameter onLost: called once, when somebody else has the lease or none could be had for too long.
    func start(onLost: @escaping @Sendable () -> Void) {
        let task = Task { [self] in
            while !Task.isCancelled {
                guard await renew(), allowsWriting else { return onLost() }
                try? await Task.sleep(for: LeaseWatch.renewal)
            }
        }
        self.task.withLock { $0 = task }
    }

    /// Ends renewing and gives the lease back.
    func end() async {
        let task = task.withLock { task in
            defer { task = nil }
            return task
        }
        task?.cancel()
        await task?.value
        _ = try? await database.write { [holder] in try $0.endLease(holder) }
    }
}
