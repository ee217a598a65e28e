import ServiceLifecycle

/// Ends the server when a request or the republisher finds that the log has failed for good.
struct LogWatch: Service {
    private let failures: AsyncStream<Void>
    private let report: AsyncStream<Void>.Continuation

    init() {
        (failures, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func logStopped() { report.yield() }

    func run() async throws {
        for await _ in failures.cancelOnGracefulShutdown() { throw ServerStop.logFailed }
    }
}
