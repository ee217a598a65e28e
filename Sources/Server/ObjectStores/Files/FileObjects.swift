// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// Objects as files of a folder, for one machine: each under its own path, so that they can be served as they are.
///
/// An acknowledged write is on the disk, with its name. Several processes may use the folder. The tag of a version is the SHA-256 of
/// its bytes.
package final class FileObjects: ObjectStore {
    private let folder: ObjectFolder
    private let maximumByteCount: Int
    /// Calls that block, outside the threads of Swift concurrency.
    private let reading = DispatchQueue(label: "signet.objects.read", attributes: .concurrent)
    private let writing = DispatchQueue(label: "signet.objects.write", attributes: .concurrent)
    /// Writes that look first, one after the other: they would wait for each other's lock.
    private let swapping = DispatchQueue(label: "signet.objects.swap")

    /// Opens a folder, which is made if it is not there.
    ///
    /// - Parameter maximumByteCount: how large an object may be.
    /// - Throws: ``ObjectFault``.
    package convenience init(at root: String, maximumByteCount: Int = 64 << 20) throws(ObjectFault) {
        try self.init(at: root, maximumByteCount: maximumByteCount, flush: flushed)
    }

    /// - Parameter flush: makes what is in an open file or folder durable; for tests.
    init(
        at root: String, maximumByteCount: Int, flush: @escaping @Sendable (Int32) -> Int32
    ) throws(ObjectFault) {
        folder = ObjectFolder(root: root, flush: flush)
        self.maximumByteCount = maximumByteCount
        try folder.prepare()
    }

    package func get(_ path: String) async throws(ObjectFault) -> StoredObject? {
        try ObjectPath.check(path)
        return try await on(reading) { [folder, maximumByteCount] () throws(ObjectFault) in
            try folder.read(path, limit: maximumByteCount).map { StoredObject(bytes: $0, tag: .sha256(of: $0)) }
        }
    }

    package func put(
        _ bytes: [UInt8], at path: String, _ condition: PutCondition
    ) async throws(ObjectFault) -> PutOutcome {
        try ObjectPath.check(path)
        guard bytes.count <= maximumByteCount else { throw .tooLarge(limit: maximumByteCount) }
        let isPut =
            switch condition {
            case .ifAbsent:
                try await on(writing) { [folder] () throws(ObjectFault) in try folder.create(path, bytes) }
            case .ifVersion(let tag):
                try await on(swapping) { [folder, maximumByteCount] () throws(ObjectFault) in
                    try folder.replace(path, bytes, limit: maximumByteCount) { .sha256(of: $0) == tag }
                }
            }
        return isPut ? .written(.sha256(of: bytes)) : .changed
    }

    package func remove(_ path: String) async throws(ObjectFault) {
        try ObjectPath.check(path)
        try await on(swapping) { [folder] () throws(ObjectFault) in try folder.remove(path) }
    }

    package func list(_ prefix: String) async throws(ObjectFault) -> [String] {
        guard ObjectPath.isValidPrefix(prefix) else { throw .invalidPath }
        return try await on(reading) { [folder] () throws(ObjectFault) in try folder.list(prefix) }
    }

    private func on<Value: Sendable>(
        _ queue: DispatchQueue, _ work: @escaping @Sendable () throws(ObjectFault) -> Value
    ) async throws(ObjectFault) -> Value {
        typealias Waiting = CheckedContinuation<Result<Value, ObjectFault>, Never>
        let result = await withCheckedContinuation { (continuation: Waiting) in
            queue.async {
                continuation.resume(returning: Result { () throws(ObjectFault) in try work() })
            }
        }
        return try result.get()
    }
}
