// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TransparencyLog

/// The tree that the publisher grows and all readers share. No thread waits for a disk while holding it.
final class SharedTree: Sendable {
    /// How many entries are added before readers get their turn.
    private static let stepCount = 256

    private let state: Mutex<LogTree>

    init(_ tree: LogTree) { state = Mutex(tree) }

    /// Reads the tree; `body` must be short.
    func read<Value: Sendable, Failure: Error>(
        _ body: (LogTree) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        try state.withLock { (tree) throws(Failure) in try body(tree) }
    }

    /// Adds the entries of a group.
    func append(_ group: DurableEntries) {
        for start in stride(from: 0, to: group.entries.count, by: Self.stepCount) {
            let end = min(start + Self.stepCount, group.entries.count)
            state.withLock { tree in
                for place in start..<end { tree.append(group.entries[place], leaf: group.leaves[place]) }
            }
        }
    }

    /// Forgets the entries of bundles before `index`, which are in files.
    func removeRecent(before index: UInt64) { state.withLock { $0.removeRecent(before: index) } }
}
