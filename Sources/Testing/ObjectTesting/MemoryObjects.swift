// SPDX-License-Identifier: Apache-2.0

package import ObjectStores
import Synchronization

/// A store of objects in memory, in which each operation can be made to fail as a network makes it fail.
package final class MemoryObjects: ObjectStore {
    /// What is asked of the store.
    package enum Operation: Hashable, Sendable {
        case get(String)
        case put(String, [UInt8], PutCondition)
        case remove(String)
        case list(String)
    }

    /// What happens to one operation.
    package enum Fault: Hashable, Sendable {
        /// It fails, and nothing was done.
        case before(ObjectFault)
        /// It is done, and its answer is lost.
        case after(ObjectFault)
        /// It fails now, and is done when ``deliver()`` is called. Only writes can be late.
        case late(ObjectFault)
    }

    private struct State {
        var objects = PaperObjects()
        var late: [Operation] = []
        var log: [Operation] = []
    }

    private let state = Mutex(State())
    private let fault: @Sendable (Operation) -> Fault?

    /// - Parameter fault: what happens to an operation; nil if nothing does.
    package init(fault: @escaping @Sendable (Operation) -> Fault? = { _ in nil }) { self.fault = fault }

    /// What was asked so far, in order.
    package var log: [Operation] { state.withLock { $0.log } }

    /// Does what was late, in the order in which it was asked, each if its condition holds now.
    package func deliver() {
        state.withLock { state in
            for operation in state.late { Self.perform(operation, on: &state.objects) }
            state.late = []
        }
    }

    package func get(_ path: String) async throws(ObjectFault) -> StoredObject? {
        try ObjectPath.check(path)
        return try run(.get(path)) { $0.get(path) }
    }

    package func put(
        _ bytes: [UInt8], at path: String, _ condition: PutCondition
    ) async throws(ObjectFault) -> PutOutcome {
        try ObjectPath.check(path)
        guard !state.withLock({ $0.objects.isCrossed(path) }) else { throw .invalidPath }
        return try run(.put(path, bytes, condition)) { $0.put(bytes, at: path, condition) }
    }

    package func remove(_ path: String) async throws(ObjectFault) {
        try ObjectPath.check(path)
        try run(.remove(path)) { $0.remove(path) }
    }

    package func list(_ prefix: String) async throws(ObjectFault) -> [String] {
        guard ObjectPath.isValidPrefix(prefix) else { throw .invalidPath }
        return try run(.list(prefix)) { $0.list(prefix) }
    }

    private func run<Value: Sendable>(
        _ operation: Operation, _ body: (inout PaperObjects) -> Value
    ) throws(ObjectFault) -> Value {
        let fault = fault(operation)
        let result: Result<Value, ObjectFault> = state.withLock { state in
            state.log.append(operation)
            switch fault {
            case nil: return .success(body(&state.objects))
            case .before(let error): return .failure(error)
            case .after(let error):
                _ = body(&state.objects)
                return .failure(error)
            case .late(let error):
                state.late.append(operation)
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func perform(_ operation: Operation, on objects: inout PaperObjects) {
        switch operation {
        case .put(let path, let bytes, let condition): _ = objects.put(bytes, at: path, condition)
        case .remove(let path): objects.remove(path)
        case .get, .list: break
        }
    }
}
