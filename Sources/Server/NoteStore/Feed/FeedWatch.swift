// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Wakes those who wait for news of an account.
final class FeedWatch: Sendable {
    /// A waiting caller.
    struct Listener: Sendable {
        fileprivate let account: Int64
        fileprivate let number: UInt64
        fileprivate let calls: AsyncStream<Void>
    }

    private struct Waiting {
        let cursor: UInt64
        let call: AsyncStream<Void>.Continuation
    }

    private struct State {
        var next: UInt64 = 0
        var count = 0
        var hasStopped = false
        var waiting: [Int64: [UInt64: Waiting]] = [:]
    }

    /// How many may wait, of one account and over all.
    static let perAccount = 32
    static let total = 4096

    private let state = Mutex(State())

    /// Listens from now on; nil if too many do, or it is over.
    ///
    /// - Parameter cursor: what the caller knows of the feed.
    func listen(_ account: Int64, past cursor: UInt64 = 0) -> Listener? {
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        return state.withLock { state in
            guard !state.hasStopped, state.count < Self.total,
                state.waiting[account, default: [:]].count < Self.perAccount
            else { return nil }
            state.next += 1
            state.count += 1
            state.waiting[account, default: [:]][state.next] = Waiting(cursor: cursor, call: continuation)
            return Listener(account: account, number: state.next, calls: calls)
        }
    }

    /// Returns when the account has news, the time is over, the task is cancelled or everything stops.
    func wait(for listener: Listener, atMost duration: Duration) async {
        let timer = Task {
            try? await Task.sleep(for: duration)
            forget(listener)
        }
        for await _ in listener.calls { break }
        timer.cancel()
        forget(listener)
    }

    /// Ends a listener's waiting.
    func forget(_ listener: Listener) {
        let continuation = state.withLock { state -> AsyncStream<Void>.Continuation? in
            guard let found = state.waiting[listener.account]?.removeValue(forKey: listener.number) else { return nil }
            if state.waiting[listener.account]?.isEmpty ?? false { state.waiting[listener.account] = nil }
            state.count -= 1
            return found.call
        }
        continuation?.finish()
    }

    /// Calls those who wait for these accounts.
    func wake(_ accounts: Set<Int64>) {
        let called = state.withLock { state in accounts.flatMap { state.waiting[$0].map { Array($0.values) } ?? [] } }
        for waiting in called { waiting.call.yield() }
    }

    /// What is known of each feed for which somebody waits, at least.
    var cursors: [Int64: UInt64] {
        state.withLock { $0.waiting.compactMapValues { $0.values.map(\.cursor).min() } }
    }

    /// Calls those who know less of a feed than where it stands.
    ///
    /// - Returns: how many.
    @discardableResult
    func wake(standing newest: [Int64: UInt64]) -> Int {
        let called = state.withLock { state in
            newest.flatMap { account, newest in
                (state.waiting[account] ?? [:]).values.filter { $0.cursor < newest }
            }
        }
        for waiting in called { waiting.call.yield() }
        return called.count
    }

    /// Ends all waiting, now and later.
    func stop() {
        let called = state.withLock { state in
            state.hasStopped = true
            return state.waiting.values.flatMap { Array($0.values) }
        }
        for waiting in called { waiting.call.finish() }
    }
}
