// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// One step of the log's pipeline, on a thread of its own: it may block, and never runs twice at once.
///
/// A serial dispatch queue has threads outside the pool of Swift concurrency, so that waiting for a disk there starves
/// no task.
final class Stage: Sendable {
    private let queue: DispatchQueue
    private let isScheduled = Atomic<Bool>(false)

    init(_ label: String) { queue = DispatchQueue(label: label) }

    /// Runs `work` soon, after this stage's current work. Calls that come before it starts are joined into one, so
    /// `work` is to do everything there is to do.
    func schedule(_ work: @escaping @Sendable () -> Void) {
        guard !isScheduled.exchange(true, ordering: .acquiringAndReleasing) else { return }
        queue.async { [self] in
            _ = isScheduled.exchange(false, ordering: .acquiringAndReleasing)
            work()
        }
    }

    /// Runs `work` after `delay`, unless this stage is scheduled to do it earlier.
    func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        let nanoseconds = delay.components.seconds * 1_000_000_000 + delay.components.attoseconds / 1_000_000_000
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(nanoseconds))) { work() }
    }

    /// Runs `work` on this stage and returns what it returns.
    func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }

    /// Returns when everything scheduled before has been done.
    func finish() async { await run {} }
}
