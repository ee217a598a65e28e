// SPDX-License-Identifier: Apache-2.0

package import LogFencing
import Synchronization

/// One turn of a process as the leader of a log: whether it shows what is committed.
package final class LeaderTurn: Sendable {
    private struct State {
        var watch: ShowingWatch
        var hasShown = false
        var end: LeadershipEnd?
    }

    private let state: Mutex<State>

    /// - Parameter patience: as ``LogFencing/CandidateTurns`` has it.
    package init(patience: Duration = ShowingWatch.patience) {
        state = Mutex(State(watch: ShowingWatch(patience: patience)))
    }

    /// Whether anything was shown.
    package var hasShown: Bool { state.withLock { $0.hasShown } }

    /// Why the lease was lost or given up; nil if it was not, or another statement found first that somebody else leads.
    package var end: LeadershipEnd? { state.withLock { $0.end } }

    /// There is something to show, or one step towards that was made.
    package func step(at now: Duration) { state.withLock { $0.watch.step(at: now) } }

    /// Everything is shown.
    package func rest() {
        state.withLock { state in
            state.watch.rest()
            state.hasShown = true
        }
    }

    /// Whether there is something to show and no step was made for too long.
    package func isStuck(at now: Duration) -> Bool { state.withLock { $0.watch.isStuck(at: now) } }

    func end(_ end: LeadershipEnd) { state.withLock { $0.end = $0.end ?? end } }
}
