// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SQLStores

/// A place for one connection. Whoever has taken it from the pool is the only one that uses it, until it is given back.
final class PostgresSlot: @unchecked Sendable {
    /// The thread on which closures of tasks are run, because they hold it.
    let thread = PostgresThread()
    /// Read and written only by whoever has the slot.
    var connection: PostgresConnection?
}

/// A thread, or at least a queue that runs one thing after another and never on a thread of Swift's tasks.
actor PostgresThread {
    private let executor = Executor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs a closure on it.
    func run<Value: Sendable>(_ body: @Sendable () throws -> Value) throws -> Value { try body() }

    /// Runs a closure when nothing else runs on it, and holds the caller's thread meanwhile.
    nonisolated func runNow<Value>(_ body: () throws -> Value) rethrows -> Value {
        try executor.queue.sync(execute: body)
    }

    private final class Executor: SerialExecutor {
        let queue = DispatchQueue(label: "postgres")

        func enqueue(_ job: UnownedJob) {
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }

        func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    }
}
