// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TransparencyLog

/// What is published now, and who waits for what is not published yet.
final class Publications: Sendable {
    typealias Outcome = Result<PublishedCheckpoint, LogWaitError>

    /// What a caller waits for.
    enum Wish {
        /// A checkpoint of at least this size.
        case size(UInt64)
        /// A checkpoint whose signing begins after this wish was made.
        case freshSignature
    }

    private struct Waiter {
        let size: UInt64
        let round: UInt64
        let continuation: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        var published: PublishedCheckpoint
        var roundsBegun: UInt64 = 0
        var wantedRound: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
        var nextWaiter: UInt64 = 0
        var end: LogWaitError?

        /// Takes out those whom the round that was begun last serves when it signs `size` entries.
        mutating func takeServed(bySigning size: UInt64) -> [Waiter] {
            let served = waiters.filter { $0.value.size <= size && $0.value.round <= roundsBegun }
            for waiter in served { waiters[waiter.key] = nil }
            return Array(served.values)
        }
    }

    private let state: Mutex<State>

    init(_ published: PublishedCheckpoint) { state = Mutex(State(published: published)) }

    /// The checkpoint published last.
    var published: PublishedCheckpoint { state.withLock { $0.published } }

    /// Starts a round of signing, which serves every wish that was made until now.
    func beginRound() { state.withLock { $0.roundsBegun += 1 } }

    /// Whether a round was requested that has not begun.
    var isRoundWanted: Bool { state.withLock { $0.wantedRound > $0.roundsBegun } }

    /// Asks for a round of signing for which no caller waits.
    func want() { state.withLock { $0.wantedRound = $0.roundsBegun + 1 } }

    /// Tells those whom the round that was begun last would have served; who waits for more, or for a later round, waits on.
    ///
    /// - Parameter size: how many entries the round signed.
    func failRound(ofSize size: UInt64, _ reason: LogWaitError) {
        let failed = state.withLock { $0.takeServed(bySigning: size) }
        for waiter in failed { waiter.continuation.resume(returning: .failure(reason)) }
    }

    /// Publishes the checkpoint of the round that was begun last.
    func complete(_ checkpoint: PublishedCheckpoint) {
        let served = state.withLock { state in
            state.published = checkpoint
            return state.takeServed(bySigning: checkpoint.head.size)
        }
        for waiter in served { waiter.continuation.resume(returning: .success(checkpoint)) }
    }

    /// Fails all current and future waiters.
    func end(_ reason: LogWaitError) {
        let waiters = state.withLock { state in
            state.end = state.end ?? reason
            defer { state.waiters = [:] }
            return state.waiters
        }
        for waiter in waiters.values { waiter.continuation.resume(returning: .failure(reason)) }
    }

    /// Waits until a wish is fulfilled. `onWaiting` runs once the wish is registered.
    func wait(for wish: Wish, onWaiting: @Sendable () -> Void = {}) async throws(LogWaitError) -> PublishedCheckpoint {
        let number = state.withLock { state in
            defer { state.nextWaiter += 1 }
            return state.nextWaiter
        }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                register(number, wish, continuation)
                onWaiting()
            }
        } onCancel: {
            cancel(number)
        }
        return try outcome.get()
    }

    private func register(_ number: UInt64, _ wish: Wish, _ continuation: CheckedContinuation<Outcome, Never>) {
        let answer: Outcome? = state.withLock { state in
            if let end = state.end { return .failure(end) }
            if Task.isCancelled { return .failure(.cancelled) }
            switch wish {
            case .size(let size) where size <= state.published.head.size: return .success(state.published)
            case .size(let size): state.waiters[number] = Waiter(size: size, round: 0, continuation: continuation)
            case .freshSignature:
                state.wantedRound = state.roundsBegun + 1
                state.waiters[number] = Waiter(size: 0, round: state.wantedRound, continuation: continuation)
            }
            return nil
        }
        if let answer { continuation.resume(returning: answer) }
    }

    private func cancel(_ number: UInt64) {
        let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
        waiter?.continuation.resume(returning: .failure(.cancelled))
    }
}
