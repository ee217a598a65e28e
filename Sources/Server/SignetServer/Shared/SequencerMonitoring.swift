// SPDX-License-Identifier: Apache-2.0

package import Logging
package import ServiceLifecycle
import SignetAPI
import Telemetry

/// `/health`, `/ready` and `/metrics` of a process that only sequences.
package struct SequencerMonitoring: Sendable {
    private let watch: SharedLogWatch
    private let address: MonitoringAddress
    private let readiness: Readiness
    private let clock: ServerClock
    private let logger: Logger

    /// - Parameters:
    ///   - address: where they are.
    ///   - folder: the data directory, whose disk `/ready` looks at.
    ///   - interval: how often the checkpoint is signed again; nil for never.
    package init(
        _ watch: SharedLogWatch, at address: MonitoringAddress, folder: String, interval: Duration?,
        clock: ServerClock = .system, logger: Logger
    ) {
        self.watch = watch
        self.address = address
        self.clock = clock
        self.logger = logger
        var readiness = Readiness(watching: folder, nil)
        readiness.interval = interval.map { UInt64(max(1, $0.components.seconds)) }
        readiness.lag = { watch.lag }
        readiness.remarks = { watch.remarks }
        readiness.missingParts = { watch.missingParts }
        self.readiness = readiness
        self.folder = folder
    }

    private let folder: String

    /// The listener, and the watch, which runs beside it.
    package var services: [any Service] {
        [WatchService(watch: watch), address.service(pages, logger: logger)]
    }

    private var pages: OperatorPages {
        let metrics = ServerMetrics(
            names: [], sources: [ProcessSource(version: Release.version), StorageSource(roomFor: folder), watch])
        return OperatorPages(clock: clock) { [self] route, _ in
            let (condition, now) = (watch.condition, clock.time())
            switch route {
            case .ready: return readiness.answer(of: condition, at: now)
            case .metrics:
                return Answer(
                    mediaType: PrometheusText.mediaType,
                    body: condition.map { metrics.text($0, readiness, at: now) }
                        ?? metrics.text(readiness.samples(of: nil, at: now)))
            default: return .text("ok\n")
            }
        }
    }
}

/// Runs a watch until the process is told to stop.
private struct WatchService: Service {
    let watch: SharedLogWatch

    func run() async throws { await cancelWhenGracefulShutdown { await watch.run() } }
}
