// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Writes what several requests bring in one transaction: what comes while one is under way waits, and goes together in the next one, first
/// come, first served.
///
/// Each change gets its own answer. Nobody who waits is forgotten, and a caller that is cancelled gets its answer all the same.
final class AcceptanceQueue: Sendable {
    /// The new account, where the change makes one; nil where it makes none, or where its handle is known.
    typealias Outcome = Result<AccountRow?, DirectoryError>

    /// How much one transaction takes.
    struct Limits: Sendable {
        /// How many changes.
        var count = 256
        /// How many bytes of states and cards. One change alone may have more.
        var byteCount = 4 << 20
        /// What has waited longer than this when a transaction begins is refused as unavailable: nothing of it was written.
        var patience = Duration.seconds(10)
    }

    private struct Waiting {
        let change: Acceptance
        let since: Duration
        let answer: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        var waiting: [Waiting] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private let limits: Limits
    private let clock: @Sendable () -> Duration
    private let write: @Sendable ([Acceptance]) async -> [Outcome]

    /// - Parameters:
    ///   - clock: by which waits are measured; it never runs back.
    ///   - write: writes changes and returns an outcome for each. One call is under way at a time.
    init(
        limits: Limits = Limits(), clock: @escaping @Sendable () -> Duration = AcceptanceQueue.steady,
        _ write: @escaping @Sendable ([Acceptance]) async -> [Outcome]
    ) {
        self.limits = limits
        self.clock = clock
        self.write = write
    }

    /// Writes a change with others, and returns when it is durable.
    ///
    /// - Throws: ``DirectoryError``; ``DirectoryError/database`` as well if it is not known whether it was written.
    func accept(_ change: Acceptance) async throws(DirectoryError) -> AccountRow? {
        let outcome = await withCheckedContinuation { answer in
            let waiting = Waiting(change: change, since: clock(), answer: answer)
            let isFirst = state.withLock { state in
                state.waiting.append(waiting)
                defer { state.isRunning = true }
                return !state.isRunning
            }
            // A task of its own: the caller may be cancelled, and the others must not be.
            if isFirst { Task { await run() } }
        }
        return try outcome.get()
    }

    /// How many wait for the next transaction.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func run() async {
        while let group = next() {
            let outcomes = await write(group.map(\.change))
            for (waiting, outcome) in zip(group, outcomes) { waiting.answer.resume(returning: outcome) }
        }
    }

    /// What goes into the next transaction; nil if nothing waits.
    private func next() -> [Waiting]? {
        let now = clock()
        while true {
            let (late, group) = state.withLock { state in Self.take(from: &state, limits, now) }
            for waiting in late { waiting.answer.resume(returning: .failure(.database)) }
            guard let group else { return nil }
            if !group.isEmpty { return group }
        }
    }

    /// - Returns: those that have waited too long, and those whose turn it is; nil if nobody is left.
    private static func take(from state: inout State, _ limits: Limits, _ now: Duration) -> ([Waiting], [Waiting]?) {
        let late = state.waiting.prefix { now - $0.since > limits.patience }
        state.waiting.removeFirst(late.count)
        var byteCount = 0
        let group = state.waiting.prefix(limits.count).prefix { waiting in
            defer { byteCount += waiting.change.byteCount }
            return byteCount == 0 || byteCount + waiting.change.byteCount <= limits.byteCount
        }
        state.waiting.removeFirst(group.count)
        if late.isEmpty && group.isEmpty { state.isRunning = false }
        return (Array(late), late.isEmpty && group.isEmpty ? nil : Array(group))
    }

    private static let steady: @Sendable () -> Duration = {
        let start = ContinuousClock.now
        return { ContinuousClock.now - start }
    }()
}
