// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The groups that wait for the next group commit: bounded, first in first out.
final class AppendQueue: Sendable {
    private struct State {
        var groups: [PendingGroup] = []
        var entryCount = 0
        var byteCount = 0
        var end: UInt64
        var refusal: LogAppendError?
        var wantsSeal = false
    }

    /// What the group commit is to write next.
    struct Work {
        let groups: [PendingGroup]
        /// Whether a frame was requested even if it holds nothing but its seal.
        let wantsSeal: Bool

        var isEmpty: Bool { groups.isEmpty && !wantsSeal }
    }

    private let state: Mutex<State>
    private let limits: LogLimits

    /// A queue in front of a log of `size` entries.
    init(size: UInt64, limits: LogLimits) {
        state = Mutex(State(end: size))
        self.limits = limits
    }

    /// How many entries wait.
    var entryCount: Int { state.withLock { $0.entryCount } }

    /// Adds a group at the end.
    func push(_ group: PendingGroup) throws(LogAppendError) {
        try state.withLock { (state) throws(LogAppendError) in
            if let refusal = state.refusal { throw refusal }
            let count = group.entries.count
            guard state.entryCount == 0 || state.entryCount + count <= limits.queuedEntries,
                state.byteCount == 0 || state.byteCount + group.byteCount <= limits.queuedByteCount
            else { throw .queueFull(waiting: state.entryCount) }
            guard state.end + UInt64(count) <= LeafIndex.capacity else { throw .logFull }
            state.groups.append(group)
            state.entryCount += count
            state.byteCount += group.byteCount
            state.end += UInt64(count)
        }
    }

    /// Asks for a frame even if no caller waits.
    func askForSeal() throws(LogAppendError) {
        try state.withLock { (state) throws(LogAppendError) in
            if let refusal = state.refusal { throw refusal }
            state.wantsSeal = true
        }
    }

    /// How much waits: whether there is anything, and whether it is a full batch.
    var demand: (isEmpty: Bool, isFull: Bool) {
        state.withLock { ($0.groups.isEmpty && !$0.wantsSeal, $0.entryCount >= limits.batchEntries) }
    }

    /// Takes as many groups as may go into one frame.
    ///
    /// - Parameter fitting: how many of the groups, from the first, may be together.
    func take(_ fitting: ([PendingGroup]) -> Int) -> Work {
        state.withLock { state in
            var byteCount = 0
            let short = state.groups.prefix { group in
                byteCount += group.byteCount
                return byteCount <= Frame.maximumPayloadByteCount - Frame.sealByteCount
            }
            let taken = [PendingGroup](short.prefix(fitting([PendingGroup](short))))
            state.groups.removeFirst(taken.count)
            state.entryCount -= taken.reduce(0) { $0 + $1.entries.count }
            state.byteCount -= taken.reduce(0) { $0 + $1.byteCount }
            defer { state.wantsSeal = false }
            return Work(groups: taken, wantsSeal: state.wantsSeal)
        }
    }

    /// Counts an entry for which no caller waits.
    func countSeal() { state.withLock { $0.end += 1 } }

    /// Accepts nothing more; what waits is still written.
    func close() {
        state.withLock { if $0.refusal == nil { $0.refusal = .closed } }
    }

    /// Accepts nothing more and fails all waiters.
    func stop() {
        let waiting = state.withLock { state in
            state.refusal = .stopped
            defer { state.groups = [] }
            state.entryCount = 0
            state.byteCount = 0
            return state.groups
        }
        for group in waiting { group.waiter.resume(returning: .failure(.stopped)) }
    }
}
