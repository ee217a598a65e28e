// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import CoreMetrics
import Metrics
import Telemetry

/// The counters of the server, and its log lines about them. Labels come from closed sets: routes, the statuses that
/// the server sends, and limits.
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
    private let registrations: Counter?
    private let factory: PrometheusFactory
    private let sources: [any MetricSource]
    private let events: EventLines?

    /// - Parameters:
    ///   - names: under which requests are counted.
    ///   - sources: the sources of the values that are measured for each request.
    ///   - events: writes the lines for the operator; nil to write none.
    init(
        _ factory: PrometheusFactory = PrometheusFactory(), names: [Destination.Name] = Destination.Name.ofDirectory,
        sources: [any MetricSource] = [],
        events: EventLines? = nil
    ) {
        self.factory = factory
        self.sources = sources
        self.events = events
        requests = Dictionary(
            uniqueKeysWithValues: names.map { ($0, Self.requests($0, factory)) })
        refusals = Dictionary(
            uniqueKeysWithValues: Limit.allCases.map { limit in
                (limit, Self.counter(.refusals, [("limit", limit.rawValue)], factory))
            })
        connections = Self.counter(.connections, [], factory)
        registrations = names.contains(.register) ? Self.counter(.registrations, [], factory) : nil
        openConnections = Meter(label: MetricFamily.openConnections.rawValue, factory: factory)
    }

    /// The Prometheus text of a directory. All values are measured at this time, in seconds since 1970.
    func text(_ log: LogCondition, _ readiness: Readiness = Readiness(), at now: UInt64) -> [UInt8] {
        let age = now > log.checkpointTime ? now - log.checkpointTime : 0
        let state = [
            MetricSample(.logEntries, log.size), MetricSample(.publishedEntries, log.publishedSize),
            MetricSample(.checkpointAge, age), MetricSample(.logAlive, log.isAlive ? 1.0 : 0.0),
        ]
        return text(state + readiness.samples(of: log, at: now))
    }

    /// The Prometheus text, with values that were measured for it.
    func text(_ samples: [MetricSample]) -> [UInt8] {
        PrometheusText.print(factory, samples + sources.flatMap { $0.samples() })
    }

    func answered(_ name: Destination.Name, _ status: Int, nanoseconds: Int64) {
        guard let row = requests[name] else { return }
        (row.byStatus[status] ?? row.other).increment()
        row.time.recordNanoseconds(nanoseconds)
        if status >= 400 { events?.note(.refused(name, status: status)) }
    }

    func refused(_ limit: Limit) {
        refusals[limit]?.increment()
        events?.note(.limit(limit))
    }

    /// A new account is in the log.
    func registered() {
        registrations?.increment()
        events?.note(.registered)
    }

    func connectionOpened() {
        connections.increment()
        openConnections.increment()
    }

    func connectionClosed() { openConnections.decrement() }

    private static func requests(_ name: Destination.Name, _ factory: PrometheusFactory) -> Requests {
        func counter(_ status: String) -> Counter {
            Self.counter(.requests, [("route", name.rawValue), ("status", status)], factory)
        }
        return Requests(
            byStatus: Dictionary(uniqueKeysWithValues: statuses.map { ($0, counter("\($0)")) }),
            other: counter("other"),
            time: Timer(
                label: MetricFamily.requestTime.rawValue, dimensions: [("route", name.rawValue)], factory: factory))
    }

    private static func counter(
        _ family: MetricFamily, _ labels: [(String, String)], _ factory: PrometheusFactory
    ) -> Counter {
        Counter(label: family.rawValue, dimensions: labels, factory: factory)
    }
}
