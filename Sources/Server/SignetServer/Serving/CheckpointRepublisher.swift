// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import Logging
import ServiceLifecycle

/// Signs the checkpoint again at fixed intervals: its time says that the directory is alive and hides nothing since. It
/// also lets the parts of the server do what is due.
struct CheckpointRepublisher: Service {
    let directory: any DirectoryAnswering
    let parts: [any PartAnswering]
    /// nil: only the parts, once.
    let interval: Duration?
    let logWatch: LogWatch
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for part in parts { await part.keepUp() }
            guard let interval else {
                try? await gracefulShutdown()
                return
            }
            while !Task.isCancelled {
                try? await Task.sleep(for: interval)
                if Task.isCancelled { return }
                for part in parts { await part.keepUp() }
                await republish()
            }
        }
    }

    private func republish() async {
        do throws(DirectoryError) {
            try await traced(.epochRepublication) { _ throws(DirectoryError) in try await directory.republish() }
        } catch {
            switch error {
            case .stopped: logWatch.logStopped()
            case .refused, .database: logger.error("The checkpoint could not be signed again; trying later.")
            }
        }
    }
}
