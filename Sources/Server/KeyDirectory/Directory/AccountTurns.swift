// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Synchronization

/// Lets one change at a time through for each handle, in order of arrival.
///
/// So an account's next state is looked at only when the one before is published, and records of one label stand in the
/// log in order of version. Changes of different accounts do not wait for each other.
final class AccountTurns: Sendable {
    private let waiting = Mutex<[Handle: [CheckedContinuation<Void, Never>]]>([:])

    /// Runs a change alone for its handle, to its end even if the caller is cancelled: a state that is on the disk
    /// has to go on into the log.
    func run<Value: Sendable>(
        _ handle: Handle, _ change: @escaping @Sendable () async throws(DirectoryError) -> Value
    ) async throws(DirectoryError) -> Value {
        let task = Task { () -> Result<Value, DirectoryError> in
            await enter(handle)
            defer { leave(handle) }
            do throws(DirectoryError) { return .success(try await change()) } catch { return .failure(error) }
        }
        return try await task.value.get()
    }

    private func enter(_ handle: Handle) async {
        await withCheckedContinuation { continuation in
            let isFirst = waiting.withLock { waiting in
                guard waiting[handle] != nil else {
                    waiting[handle] = []
                    return true
                }
                waiting[handle, default: []].append(continuation)
                return false
            }
            if isFirst { continuation.resume() }
        }
    }

    private func leave(_ handle: Handle) {
        let next: CheckedContinuation<Void, Never>? = waiting.withLock { waiting in
            guard let queue = waiting[handle], !queue.isEmpty else {
                waiting[handle] = nil
                return nil
            }
            return waiting[handle]?.removeFirst()
        }
        next?.resume()
    }
}
