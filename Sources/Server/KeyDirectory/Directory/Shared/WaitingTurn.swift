// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Synchronization

/// Steps that other processes have accepted, and that are given to the log together.
struct WaitingTurn: Sendable {
    typealias State = (id: Int64, account: Int64, pending: Reconciliation.PendingState)
    typealias Closing = (id: Int64, label: [UInt8], version: UInt64)

    /// The next states of accounts.
    var states: [State]
    /// The ends of accounts that were erased.
    var closings: [Closing]

    /// The numbers of its steps.
    var numbers: [Int64] { states.map(\.id) + closings.map(\.id) }
    /// Whose steps they are.
    var labels: [LabelIndex] {
        states.map { LabelIndex($0.pending.label) } + closings.compactMap { LabelIndex($0.label) }
    }
}

/// The steps that were given to the log and are not taken out of the table yet. Of one label there is never more than one.
final class StepsUnderWay: Sendable {
    private struct State {
        var numbers: Set<Int64> = []
        var labels: Set<LabelIndex> = []
        var failure: DirectoryOpenError?
    }

    private let state = Mutex(State())

    /// The lowest of these numbers that is not under way; nil if all are.
    func first(of numbers: [Int64]) -> Int64? {
        state.withLock { state in numbers.first { !state.numbers.contains($0) } }
    }

    /// Takes those of some steps that may be under way beside the others: of each label the first, if none of it is.
    func begin(_ turn: WaitingTurn) -> WaitingTurn {
        state.withLock { state in
            func begins(_ number: Int64, _ label: LabelIndex?) -> Bool {
                guard let label, !state.numbers.contains(number), state.labels.insert(label).inserted else {
                    return false
                }
                return state.numbers.insert(number).inserted
            }
            return WaitingTurn(
                states: turn.states.filter { begins($0.id, LabelIndex($0.pending.label)) },
                closings: turn.closings.filter { begins($0.id, LabelIndex($0.label)) })
        }
    }

    /// They are logged and taken out, or wait again.
    func end(_ turn: WaitingTurn, failure: DirectoryOpenError? = nil) {
        state.withLock { state in
            state.numbers.subtract(turn.numbers)
            state.labels.subtract(turn.labels)
            state.failure = state.failure ?? failure
        }
    }

    /// Why the first turn failed that has since the last question.
    func takeFailure() -> DirectoryOpenError? {
        state.withLock { state in
            defer { state.failure = nil }
            return state.failure
        }
    }
}

extension Reconciliation {
    /// Logs what waits until the task is cancelled. Steps that come while others are on their way into the log are given to it too, so that
    /// they share the next epoch with these instead of waiting for the one after.
    ///
    /// - Parameters:
    ///   - pause: between two looks at what waits.
    ///   - onFault: told of every failure; returns whether to go on.
    func logAsItComes(every pause: Duration, onFault: @Sendable (DirectoryOpenError) -> Bool) async {
        let underWay = StepsUnderWay()
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                do throws(DirectoryOpenError) {
                    if let failure = underWay.takeFailure() { throw failure }
                    if let turn = try await next(beside: underWay) {
                        group.addTask { await finish(turn, underWay) }
                    }
                } catch {
                    guard onFault(error) else { return group.cancelAll() }
                }
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// What is to be given to the log now; nil if nothing is.
    func next(beside underWay: StepsUnderWay) async throws(DirectoryOpenError) -> WaitingTurn? {
        guard let first = underWay.first(of: try await waitingNumbers()) else { return nil }
        let turn = underWay.begin(try await waiting(from: first))
        return turn.numbers.isEmpty ? nil : turn
    }

    private func finish(_ turn: WaitingTurn, _ underWay: StepsUnderWay) async {
        do throws(DirectoryOpenError) {
            _ = try await log(turn)
            underWay.end(turn)
        } catch { underWay.end(turn, failure: error) }
    }
}
