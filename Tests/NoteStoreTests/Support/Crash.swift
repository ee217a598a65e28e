// SPDX-License-Identifier: Apache-2.0

import ObjectStores
import ObjectTesting
import Synchronization

@testable import NoteStore

/// A process that dies at one of the points at which it touches its database or its objects, and does nothing afterwards.
final class Crash: Sendable {
    struct Death: Error {}

    /// What becomes of a write to the object store at which the process dies.
    enum Kind: CaseIterable, Sendable {
        /// It is not done.
        case before
        /// It is done.
        case after
        /// It is done later.
        case late
    }

    private struct State {
        var countdown: Int?
        var kind = Kind.before
        var isDead = false
    }

    private let state = Mutex(State())

    /// Dies at the n-th point from now on.
    func arm(_ point: Int, _ kind: Kind) { state.withLock { $0 = State(countdown: point, kind: kind) } }

    /// Dies no more.
    ///
    /// - Returns: whether it has died.
    func disarm() -> Bool {
        state.withLock { state in
            defer { state = State() }
            return state.isDead
        }
    }

    var faults: WriteFaults {
        WriteFaults {
            if self.diesNow() != nil { throw Death() }
        } afterCommit: {
            if self.diesNow() != nil { throw Death() }
        }
    }

    /// What happens to an operation of the object store.
    func fault(_ operation: MemoryObjects.Operation) -> MemoryObjects.Fault? {
        let isWrite =
            switch operation {
            case .put, .remove: true
            case .get, .list: false
            }
        guard isWrite else { return state.withLock { $0.isDead } ? .before(.refused(.connection)) : nil }
        switch diesNow() {
        case nil: return nil
        case (_, isFirst: false)?: return .before(.refused(.connection))
        case (.before, _)?: return .before(.refused(.connection))
        // Refused, though it is done: whoever is dead does not ask again.
        case (.after, _)?: return .after(.refused(.connection))
        case (.late, _)?: return .late(.refused(.connection))
        }
    }

    private func diesNow() -> (Kind, isFirst: Bool)? {
        state.withLock { state in
            if state.isDead { return (state.kind, false) }
            guard let left = state.countdown else { return nil }
            state.countdown = left - 1
            guard left == 0 else { return nil }
            state.isDead = true
            return (state.kind, true)
        }
    }
}
