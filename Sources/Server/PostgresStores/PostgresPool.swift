// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SQLStores
import Synchronization

/// The connections of a database. Whoever asked first has the next free one.
final class PostgresPool: Sendable {
    private typealias Answer = @Sendable (Result<PostgresSlot, any Error>) -> Void

    private struct State {
        var free: [PostgresSlot]
        var waiting: [(ticket: UInt64, answer: Answer)] = []
        var nextTicket: UInt64 = 0
        var isClosed = false
    }

    private let state: Mutex<State>
    /// How long to wait for a free connection; nil: as long as it takes.
    private let patience: Duration?

    init(count: Int, patience: Duration?) {
        state = Mutex(State(free: (0..<max(1, count)).map { _ in PostgresSlot() }))
        self.patience = patience
    }

    /// Waits for a free slot.
    ///
    /// - Throws: `SQLFault.unavailable` after the patience, or if the pool is closed; `CancellationError`.
    func take() async throws -> PostgresSlot {
        let ticket = newTicket()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                ask(ticket) { continuation.resume(with: $0) }
                // It may have been cancelled before it waited.
                if Task.isCancelled { refuse(ticket, CancellationError()) }
            }
        } onCancel: {
            refuse(ticket, CancellationError())
        }
    }

    /// Holds the thread until a slot is free.
    ///
    /// - Throws: `SQLFault.unavailable` after the patience, or if the pool is closed.
    func takeNow() throws -> PostgresSlot {
        let (arrived, given) = (DispatchSemaphore(value: 0), Given())
        ask(newTicket()) { result in
            given.result.withLock { $0 = result }
            arrived.signal()
        }
        arrived.wait()
        guard let result = given.result.withLock({ $0 }) else { throw Self.away }
        return try result.get()
    }

    /// Lets the next one have a slot.
    func giveBack(_ slot: PostgresSlot) {
        if slot.connection?.isUsable == false { slot.connection = nil }
        let next: Answer? = state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst().answer }
            if !state.isClosed { state.free.append(slot) }
            return nil
        }
        next?(.success(slot))
    }

    /// Refuses those who wait and closes what is free; what is in use is closed when it is given back.
    func close() {
        let (free, waiting) = state.withLock { state in
            defer { (state.isClosed, state.free, state.waiting) = (true, [], []) }
            return (state.free, state.waiting)
        }
        for slot in free { slot.connection = nil }
        for waiter in waiting { waiter.answer(.failure(Self.away)) }
    }

    private static let away = SQLFault.unavailable(.postgres(state: nil))

    private final class Given: Sendable {
        let result = Mutex<Result<PostgresSlot, any Error>?>(nil)
    }

    private func newTicket() -> UInt64 {
        state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
    }

    private func ask(_ ticket: UInt64, _ answer: @escaping Answer) {
        let now: Result<PostgresSlot, any Error>? = state.withLock { state in
            guard !state.isClosed else { return .failure(Self.away) }
            if let slot = state.free.popLast() { return .success(slot) }
            state.waiting.append((ticket, answer))
            return nil
        }
        if let now { return answer(now) }
        guard let patience else { return }
        let time = DispatchTimeInterval.milliseconds(Int(clamping: Int64(patience / .milliseconds(1))))
        DispatchQueue.global().asyncAfter(deadline: .now() + time) { [self] in refuse(ticket, Self.away) }
    }

    /// Ends the wait of one who has no slot yet.
    private func refuse(_ ticket: UInt64, _ error: any Error) {
        let answer: Answer? = state.withLock { state in
            guard let place = state.waiting.firstIndex(where: { $0.ticket == ticket }) else { return nil }
            return state.waiting.remove(at: place).answer
        }
        answer?(.failure(error))
    }
}
