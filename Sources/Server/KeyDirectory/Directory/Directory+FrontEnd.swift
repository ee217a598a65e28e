// SPDX-License-Identifier: Apache-2.0

import LogEngine
import SQLStores
import SignetAPI
import Synchronization
import TransparencyLog

/// How a server is one of several that answer for one directory: what another one has published may not have come here yet.
///
/// A server without it is the only one, and never behind itself: to a client that knows a larger checkpoint it shows what it has, and the
/// client keeps that as evidence. A log that went back, or a restored backup, so cannot hide.
public final class FrontEnd: Sendable {
    /// How long a client waits here for a checkpoint that it knows from another front end.
    public static let patience = Duration.seconds(2)
    /// No more clients wait at once; those beyond it are told at once that this front end is behind. Anyone can name any size.
    package static let maximumWaitingCount = 1024

    private let sleep: @Sendable (Duration) async throws -> Void
    private let readingSleep: @Sendable (Duration) async throws -> Void
    private let waiting = Mutex(0)
    private let lag = Mutex<(@Sendable () -> Duration)?>(nil)
    private let comparison = Mutex<(@Sendable () async -> Bool)?>(nil)

    /// So long a front end may not have seen what is published and still say that it is behind. After that it says that it is unavailable:
    /// a client would take ``SignetAPI/ErrorCode/behind`` for a directory that shows less than it did.
    package static let silence = Duration.seconds(60)

    /// Says for how long this front end has not seen what is published.
    package func watch(_ lag: @escaping @Sendable () -> Duration) { self.lag.withLock { $0 = lag } }

    /// Says whether the database has published less by now than this front end has shown, or does not answer.
    package func compare(_ isDatabaseOlder: @escaping @Sendable () async -> Bool) {
        comparison.withLock { $0 = isDatabaseOlder }
    }

    /// Whether it has: an older copy was restored, or a standby was promoted that lacked something.
    var isDatabaseOlder: Bool {
        get async {
            let compare = comparison.withLock { $0 }
            return await compare?() ?? false
        }
    }

    /// Whether that is too long.
    var isCutOff: Bool { lag.withLock { $0?() ?? .zero } > Self.silence }

    /// A front end with the system's clock.
    public convenience init() { self.init(sleeping: { try await Task.sleep(for: $0) }) }

    /// A front end with a clock of the caller's.
    ///
    /// - Parameters:
    ///   - sleep: returns after a time, or throws when its task is cancelled.
    ///   - reading: the same, for the time that the database has to answer.
    package init(
        sleeping sleep: @escaping @Sendable (Duration) async throws -> Void,
        reading: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
    ) {
        self.sleep = sleep
        readingSleep = reading
    }

    /// Waits until something has happened, for ``patience`` at most.
    ///
    /// - Returns: whether it happened.
    func awaits(_ event: @escaping @Sendable () async -> Bool) async -> Bool {
        guard take() else { return false }
        defer { waiting.withLock { $0 -= 1 } }
        return await withTaskGroup(of: Bool.self) { [sleep] group in
            group.addTask { await event() }
            group.addTask {
                // Only a cancelled sleep throws.
                try? await sleep(Self.patience)
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    /// So long a client waits here for what is read from the database: one that does not answer holds nobody for longer.
    package static let reading = Duration.seconds(3)

    /// Waits for something, for ``reading`` at most. If it has not come by then it is cancelled, and nobody waits for its end.
    ///
    /// - Returns: nil if it did not come in time.
    func answer<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value? {
        await withCheckedContinuation { continuation in
            let first = FirstAnswer(continuation)
            let timer = Task { [readingSleep] in
                guard (try? await readingSleep(Self.reading)) != nil else { return }
                first.come(nil)
            }
            first.begin(
                Task {
                    first.come(await body())
                    timer.cancel()
                })
        }
    }

    private func take() -> Bool {
        waiting.withLock { count in
            guard count < Self.maximumWaitingCount else { return false }
            count += 1
            return true
        }
    }
}

/// The one of two answers that comes first.
private final class FirstAnswer<Value: Sendable>: Sendable {
    private struct State {
        var waiter: CheckedContinuation<Value?, Never>?
        var reading: Task<Void, Never>?
        var isOver = false
    }

    private let state: Mutex<State>

    init(_ waiter: CheckedContinuation<Value?, Never>) { state = Mutex(State(waiter: waiter)) }

    /// What may be given up.
    func begin(_ reading: Task<Void, Never>) {
        let isOver = state.withLock { state in
            state.reading = reading
            return state.isOver
        }
        if isOver { reading.cancel() }
    }

    func come(_ value: Value?) {
        let (waiter, reading) = state.withLock { state in
            defer { (state.waiter, state.isOver) = (nil, true) }
            return (state.waiter, state.reading)
        }
        waiter?.resume(returning: value)
        if value == nil { reading?.cancel() }
    }
}

extension Directory {
    /// Reads one consistent state of the database. One of several front ends waits for it no longer than ``FrontEnd/reading``.
    ///
    /// - Throws: ``DirectoryError``; `unavailable`: it did not answer in time.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (SQLTransaction) throws -> Value
    ) async throws(DirectoryError) -> Value {
        guard let frontEnd else { return try await database.read(body) }
        let database = database
        let outcome = await frontEnd.answer { () async -> Result<Value, DirectoryError> in
            do throws(DirectoryError) { return .success(try await database.read(body)) } catch {
                return .failure(error)
            }
        }
        guard let outcome else { throw .refused(.unavailable) }
        return try outcome.get()
    }

    /// Waits until the published checkpoint is as large as one that a client knows, where this server is one of several. A server that is
    /// alone returns at once.
    ///
    /// - Throws: ``DirectoryError``; `behind`: it did not come in time. The client asks again, and keeps nothing as evidence.
    public func catchUp(to size: UInt64) async throws(DirectoryError) {
        guard let frontEnd, isBehind(size) else { return }
        let log = log
        let hasCome = await frontEnd.awaits { (try? await log.awaitPublished(size: size)) != nil }
        guard hasCome || !isBehind(size) else { throw .refused(frontEnd.isCutOff ? .unavailable : .behind) }
    }

    /// Does what may be refused for good by what the database has. One that has gone back behind what this front end has shown does not know
    /// everybody, and its refusals count for nothing: the client is told to come back.
    ///
    /// The database is asked only after such a refusal.
    func judged<Value>(
        _ body: () async throws(DirectoryError) -> Value
    ) async throws(DirectoryError) -> Value {
        do throws(DirectoryError) { return try await body() } catch {
            guard let frontEnd, error.isFinalByRows, await frontEnd.isDatabaseOlder else { throw error }
            throw .refused(.unavailable)
        }
    }

    /// Whether this server is one of several and shows less than this size.
    package func isBehind(_ size: UInt64) -> Bool { frontEnd != nil && log.published.head.size < size }
}

extension DirectoryError {
    /// Whether a client takes it for the last word, and it rests on accounts, states, devices or invitations that are in the database or not.
    fileprivate var isFinalByRows: Bool {
        switch self {
        case .refused(.notYourAccount), .refused(.versionConflict), .refused(.handleTaken), .refused(.keyInUse),
            .refused(.notInvited), .refused(.notFound), .refused(.badRequest):
            true
        case .refused, .stopped, .database: false
        }
    }
}
