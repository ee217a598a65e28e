// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import LogEngine
import ServiceLifecycle
import Synchronization

/// Ends the server when the log has failed for good, which the log says by itself, or a request finds. It ends as if it
/// had been told to: requests in progress get their answer. As long as files of the log or the accounts are not in their places it does not
/// end: it has them open, and nobody else has all of what was acknowledged.
final class LogWatch: Service {
    private let found = Mutex<ServerStop?>(nil)
    private let directory: any DirectoryAnswering
    private let onStopping: @Sendable () -> Void
    private let failures: AsyncStream<Void>
    private let report: AsyncStream<Void>.Continuation

    init(_ directory: any DirectoryAnswering, onStopping: @escaping @Sendable () -> Void) {
        self.directory = directory
        self.onStopping = onStopping
        (failures, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Why the server has ended, unless it was told to.
    var failure: ServerStop? { found.withLock { $0 } }

    func logStopped() { report.yield() }

    private func failed() async throws -> Bool {
        while await !directory.condition().displaced.open.isEmpty { try await Task.sleep(for: .seconds(1)) }
        found.withLock { $0 = .logFailed }
        return true
    }

    func run() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { [self] in
                do throws(DirectoryError) { try await directory.awaitFailure() } catch { return try await failed() }
                return false
            }
            group.addTask { [self] in
                for await _ in failures { return try await failed() }
                return false
            }
            group.addTask { [self] in
                try await gracefulShutdown()
                onStopping()
                return true
            }
            defer { group.cancelAll() }
            for try await isTold in group where isTold { return }
        }
    }
}
