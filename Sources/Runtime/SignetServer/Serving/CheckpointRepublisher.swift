import KeyDirectory
import Logging
import ServiceLifecycle

/// Signs the checkpoint anew at fixed intervals: its time says that the directory is alive and hides nothing
/// since.
struct CheckpointRepublisher: Service {
    let directory: any DirectoryAnswering
    let interval: Duration
    let logWatch: LogWatch
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: interval)
                if Task.isCancelled { return }
                await republish()
            }
        }
    }

    private func republish() async {
        do { try await directory.republish() } catch {
            switch error {
            case .stopped: logWatch.logStopped()
            case .refused, .database: logger.error("The checkpoint was not signed anew; trying again later.")
            }
        }
    }
}
