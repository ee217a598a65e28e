// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import CoreMetrics
import Metrics

/// What the server counts. Labels come from closed sets: routes, the statuses we send, limits.
final class ServerMetrics: Sendable {
    /// A row of the request counters.
    private struct Requests: Sendable {
        let byStatus: [Int: Counter]
        let other: Counter
        let time: Timer
    }

    private static let statuses = [101, 200, 400, 401, 403, 404, 405, 409, 413, 426, 429, 500, 503]

    private let requests: [Destination.Name: Requests]
    private let refusals: [Limit: Counter]
    private let connections: Counter
    private let openConnections: Meter
    private let logSize: Meter
    private let publishedSize: Meter
    private let checkpointAge: Meter
    private let logAlive: Meter
    private let factory: PrometheusFactory

    init(_ factory: PrometheusFactory = PrometheusFactory()) {
        self.factory = factory
        requests = Dictionary(
            uniqueKeysWithValues: Destination.Name.allCases.map { ($0, Self.requests($0, factory)) })
        refusals = Dictionary(
            uniqueKeysWithValues: Limit.allCases.map { limit in
                let labels = [("limit", limit.rawValue)]
                return (limit, Counter(label: "signet_refusals_total", dimensions: labels, factory: factory))
            })
        connections = Counter(label: "signet_connections_total", factory: factory)
        openConnections = Meter(label: "signet_connections_open", factory: factory)
        logSize = Meter(label: "signet_log_entries", factory: factory)
        publishedSize = Meter(label: "signet_log_published_entries", factory: factory)
        checkpointAge = Meter(label: "signet_log_checkpoint_age_seconds", factory: factory)
        logAlive = Meter(label: "signet_log_alive", factory: factory)
    }

    /// The Prometheus text, with the log's numbers as they are now.
    func text(_ log: LogCondition, at now: UInt64) -> [UInt8] {
        logSize.set(Int64(clamping: log.size))
        publishedSize.set(Int64(clamping: log.publishedSize))
        checkpointAge.set(Int64(clamping: now > log.checkpointTime ? now - log.checkpointTime : 0))
        logAlive.set(log.isAlive ? 1 : 0)
        return PrometheusText.print(factory)
    }

    func answered(_ name: Destination.Name, _ status: Int, nanoseconds: Int64) {
        guard let row = requests[name] else { return }
        (row.byStatus[status] ?? row.other).increment()
        row.time.recordNanoseconds(nanoseconds)
    }

    func refused(_ limit: Limit) { refusals[limit]?.increment() }

    func connectionOpened() {
        connections.increment()
        openConnections.increment()
    }

    func connectionClosed() { openConnections.decrement() }

    private static func requests(_ name: Destination.Name, _ factory: PrometheusFactory) -> Requests {
        func counter(_ status: String) -> Counter {
            let labels = [("route", name.rawValue), ("status", status)]
            return Counter(label: "signet_requests_total", dimensions: labels, factory: factory)
        }
        return Requests(
            byStatus: Dictionary(uniqueKeysWithValues: statuses.map { ($0, counter("\($0)")) }),
            other: counter("other"),
            time: Timer(
                label: "signet_request_seconds", dimensions: [("route", name.rawValue)], factory: factory))
    }
}
