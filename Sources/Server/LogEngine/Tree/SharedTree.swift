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
    func append(_ group: HashedEntries) {
        var position = 0
        for start in stride(from: 0, to: group.count, by: Self.stepCount) {
            let end = min(start + Self.stepCount, group.count)
            let next = Frame.end(of: end - start, in: group.payload[...], from: position)
            state.withLock { $0.append(group.payload[position..<next], leaves: group.leaves[start..<end]) }
            position = next
        }
    }

    /// Forgets the entries of bundles before `index`, which are in files.
    func removeRecent(before index: UInt64) { state.withLock { $0.removeRecent(before: index) } }
}
