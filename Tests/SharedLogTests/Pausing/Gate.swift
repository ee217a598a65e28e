// SPDX-License-Identifier: Apache-2.0

import Dispatch
import ObjectStores
import SQLStores
import Synchronization

/// One operation of a leader on its engines, counted from 1 on each.
struct Point: Hashable, Sendable, CustomStringConvertible {
    enum Engine: String, CaseIterable, Sendable {
        /// The connection of the claim, the frames and the publications.
        case link
        /// Frames that are read.
        case frames
        /// The lease that is renewed.
        case lease
        case objects
    }

    let engine: Engine
    let number: Int

    var description: String { "\(engine.rawValue) \(number)" }
}

/// What happens to an operation.
enum Stop: String, CaseIterable, Sendable {
    /// The process is stopped before it takes effect, and goes on later.
    case beforeIt
    /// The process is stopped when it has taken effect and before its answer, and goes on later.
    case afterIt
    /// It fails, and nothing was done.
    case failed
    /// It was not done, and nobody says so.
    case unknown
    /// It was done, and nobody says so.
    case unknownAndDone

    var isPause: Bool { self == .beforeIt || self == .afterIt }
}

/// Stops a whole process at one of its operations: all of its others wait meanwhile, as under SIGSTOP. Threads of stages are held;
/// tasks are suspended.
final class Gate: Sendable {
    private struct State {
        var counts: [Point.Engine: Int] = [:]
        var isShut = false
        var isReached = false
        var isOver = false
        var held: [@Sendable () -> Void] = []
        var watcher: (@Sendable () -> Void)?
    }

    /// Whether what is done counts as nothing, and passes.
    @TaskLocal static var isWideOpen = false

    private let target: Point?
    private let stop: Stop
    private let state = Mutex(State())

    init(_ stop: Stop = .beforeIt, at target: Point? = nil) { (self.stop, self.target) = (stop, target) }

    /// How many operations there were on each engine.
    var counts: [Point.Engine: Int] { state.withLock { $0.counts } }
    /// Whether the operation was reached.
    var isReached: Bool { state.withLock { $0.isReached } }

    /// Returns when the process was stopped, or has come to its end.
    func settled() async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                if !state.isShut, !state.isOver { state.watcher = { continuation.resume() } }
                return state.isShut || state.isOver
            }
            if isSettled { continuation.resume() }
        }
    }

    /// The process has come to its end.
    func end() { tell { $0.isOver = true } }

    /// Lets the process go on.
    func open() {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.isShut = false
            return state.held
        }
        for one in held { one() }
    }

    private func tell(_ change: (inout sending State) -> Void) {
        let watcher = state.withLock { state in
            change(&state)
            defer { state.watcher = nil }
            return state.watcher
        }
        watcher?()
    }

    private func shut() { tell { $0.isShut = true } }

    private func arrive(_ engine: Point.Engine) -> Stop? {
        state.withLock { state in
            state.counts[engine, default: 0] += 1
            guard target == Point(engine: engine, number: state.counts[engine, default: 0]) else { return nil }
            state.isReached = true
            return stop
        }
    }

    private func wait() async {
        await withCheckedContinuation { continuation in
            if !hold({ continuation.resume() }) { continuation.resume() }
        }
    }

    private func waitNow() {
        let passed = DispatchSemaphore(value: 0)
        if hold({ passed.signal() }) { passed.wait() }
    }

    private func hold(_ pass: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.isShut { state.held.append(pass) }
            return state.isShut
        }
    }

    // MARK: Passing

    /// Passes an operation of a task.
    func pass<Value, Failure: Error>(
        _ engine: Point.Engine, failed: Failure, unknown: Failure, _ body: () async -> Result<Value, Failure>
    ) async -> Result<Value, Failure> {
        if Self.isWideOpen { return await body() }
        await wait()
        let stop = arrive(engine)
        switch stop {
        case .failed: return .failure(failed)
        case .unknown: return .failure(unknown)
        case .beforeIt:
            shut()
            await wait()
        case .afterIt, .unknownAndDone, nil: break
        }
        let result = await body()
        if stop == .afterIt { shut() }
        await wait()
        return stop == .unknownAndDone ? .failure(unknown) : result
    }

    /// Passes an operation that holds its thread.
    func passNow<Value>(
        _ engine: Point.Engine, failed: any Error, unknown: any Error, _ body: () -> Result<Value, any Error>
    ) throws -> Value {
        waitNow()
        let stop = arrive(engine)
        switch stop {
        case .failed: throw failed
        case .unknown: throw unknown
        case .beforeIt:
            shut()
            waitNow()
        case .afterIt, .unknownAndDone, nil: break
        }
        let result = body()
        if stop == .afterIt { shut() }
        waitNow()
        if stop == .unknownAndDone { throw unknown }
        return try result.get()
    }
}

/// A database that a process reaches through a gate.
struct GatedDatabase: SQLDatabase {
    let base: any SQLDatabase
    let gate: Gate
    let reading: Point.Engine
    let writing: Point.Engine

    private static let failed: any Error = SQLFault.unavailable(.postgres(state: nil))
    private static let unknown: any Error = SQLFault.outcomeUnknown(.postgres(state: nil))

    func read<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await gate.pass(reading, failed: Self.failed, unknown: Self.failed) {
            do { return .success(try await base.read(body)) } catch { return .failure(error) }
        }.get()
    }

    func write<Value: Sendable>(_ body: @Sendable (SQLTransaction) throws -> Value) async throws -> Value {
        try await gate.pass(writing, failed: Self.failed, unknown: Self.unknown) {
            do { return .success(try await base.write(body)) } catch { return .failure(error) }
        }.get()
    }

    func readNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try gate.passNow(reading, failed: Self.failed, unknown: Self.failed) { Result { try base.readNow(body) } }
    }

    func writeNow<Value>(_ body: (SQLTransaction) throws -> Value) throws -> Value {
        try gate.passNow(writing, failed: Self.failed, unknown: Self.unknown) { Result { try base.writeNow(body) } }
    }

    var nowExpression: String { base.nowExpression }

    func expunge() async throws {}

    func close() { base.close() }
}

/// A store of objects that a process reaches through a gate.
struct GatedObjects: ObjectStore {
    let base: any ObjectStore
    let gate: Gate

    func get(_ path: String) async throws(ObjectFault) -> StoredObject? {
        try await pass(isWriting: false) { () throws(ObjectFault) in try await base.get(path) }
    }

    func put(
        _ bytes: [UInt8], at path: String, _ condition: PutCondition
    ) async throws(ObjectFault) -> PutOutcome {
        try await pass { () throws(ObjectFault) in try await base.put(bytes, at: path, condition) }
    }

    func remove(_ path: String) async throws(ObjectFault) {
        try await pass { () throws(ObjectFault) in try await base.remove(path) }
    }

    func list(_ prefix: String) async throws(ObjectFault) -> [String] {
        try await pass(isWriting: false) { () throws(ObjectFault) in try await base.list(prefix) }
    }

    private func pass<Value>(
        isWriting: Bool = true, _ body: () async throws(ObjectFault) -> Value
    ) async throws(ObjectFault) -> Value {
        let unknown: ObjectFault = isWriting ? .outcomeUnknown(.deadline) : .unavailable(.deadline)
        let result: Result<Value, ObjectFault> = await gate.pass(
            .objects, failed: .unavailable(.connection), unknown: unknown
        ) {
            do throws(ObjectFault) { return .success(try await body()) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
