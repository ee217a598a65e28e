// SPDX-License-Identifier: Apache-2.0

import ObjectStores
import ObjectTesting
import Synchronization

/// Which writes of objects fail: from one on, until the end.
final class FailingPuts: Sendable {
    private struct State {
        var left: Int?
        var hasFailed = false
    }

    private let state = Mutex(State())

    func begin(after count: Int) { state.withLock { $0 = State(left: count) } }

    /// - Returns: whether one has failed.
    func end() -> Bool {
        state.withLock { state in
            defer { state = State() }
            return state.hasFailed
        }
    }

    func fault(_ operation: MemoryObjects.Operation, _ isDone: Bool) -> MemoryObjects.Fault? {
        guard case .put(let path, _, _) = operation else { return nil }
        return state.withLock { state in
            guard var left = state.left else { return nil }
            if !isDone || path == "signed" { left -= 1 }
            state.left = left
            guard left <= 0 else { return nil }
            let isFirst = !state.hasFailed
            state.hasFailed = true
            // What a leader does not try again: a refusal it does, for as long as it may show nothing.
            let fault = ObjectFault.malformedAnswer
            return isDone && isFirst ? .after(fault) : .before(fault)
        }
    }
}
