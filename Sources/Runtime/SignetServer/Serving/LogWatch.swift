import KeyDirectory
import ServiceLifecycle

/// Ends the server when the log has failed for good, which the log says by itself, or a request finds.
struct LogWatch: Service {
    private let directory: any DirectoryAnswering
    private let onStopping: @Sendable () -> Void
    private let failures: AsyncStream<Void>
    private let report: AsyncStream<Void>.Continuation

    init(_ directory: any DirectoryAnswering, onStopping: @escaping @Sendable () -> Void) {
        self.directory = directory
        self.onStopping = onStopping
        (failures, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func logStopped() { report.yield() }

    func run() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                do throws(DirectoryError) { try await directory.awaitFailure() } catch { throw ServerStop.logFailed }
                return false
            }
            group.addTask {
                for await _ in failures { throw ServerStop.logFailed }
                return false
            }
            group.addTask {
                try await gracefulShutdown()
                onStopping()
                return true
            }
            defer { group.cancelAll() }
            for try await isTold in group where isTold { return }
        }
    }
}
