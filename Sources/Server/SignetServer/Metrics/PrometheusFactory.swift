// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Synchronization
import Telemetry

/// Keeps metrics in memory and prints them in the Prometheus text format.
///
/// Labels must come from small closed sets; as a guard, no more than ``maximumSeriesCount`` series exist, and
/// what would be one more is counted nowhere.
final class PrometheusFactory: MetricsFactory {
    /// The most series, over all metrics.
    static let maximumSeriesCount = 1024

    /// A metric with one set of labels.
    struct SeriesKey: Hashable, Comparable, Sendable {
        let name: String
        let labels: String

        static func < (a: Self, b: Self) -> Bool { (a.name, a.labels) < (b.name, b.labels) }
    }

    enum Series: Sendable {
        case counter(PrometheusCounter)
        case gauge(PrometheusGauge)
        case histogram(PrometheusHistogram)
    }

    private let series = Mutex<[SeriesKey: Series]>([:])

    /// Everything measured so far, in order of name and labels.
    var all: [(key: SeriesKey, series: Series)] {
        series.withLock { $0.sorted { $0.key < $1.key }.map { (key: $0.key, series: $0.value) } }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        guard case .counter(let counter) = series(label, dimensions, { .counter(PrometheusCounter()) }) else {
            return PrometheusCounter()
        }
        return counter
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        gauge(label, dimensions)
    }

    func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        aggregate ? histogram(label, dimensions) : gauge(label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) { remove { $0 === handler } }
    func destroyMeter(_ handler: any MeterHandler) { remove { $0 === handler } }
    func destroyRecorder(_ handler: any RecorderHandler) { remove { $0 === handler } }
    func destroyTimer(_ handler: any TimerHandler) { remove { $0 === handler } }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> PrometheusGauge {
        guard case .gauge(let gauge) = series(label, dimensions, { .gauge(PrometheusGauge()) }) else {
            return PrometheusGauge()
        }
        return gauge
    }

    private func histogram(_ label: String, _ dimensions: [(String, String)]) -> PrometheusHistogram {
        guard
            case .histogram(let histogram) = series(label, dimensions, { .histogram(PrometheusHistogram()) })
        else { return PrometheusHistogram() }
        return histogram
    }

    private func series(
        _ label: String, _ dimensions: [(String, String)], _ make: () -> Series
    ) -> Series? {
        let key = SeriesKey(name: label, labels: PrometheusText.labels(dimensions))
        return series.withLock { all in
            if let known = all[key] { return known }
            guard all.count < Self.maximumSeriesCount else { return nil }
            let new = make()
            all[key] = new
            return new
        }
    }

    private func remove(_ matches: (AnyObject) -> Bool) {
        series.withLock { all in all = all.filter { !matches($0.value.object) } }
    }
}

extension PrometheusFactory.Series {
    fileprivate var object: AnyObject {
        switch self {
        case .counter(let counter): counter
        case .gauge(let gauge): gauge
        case .histogram(let histogram): histogram
        }
    }
}
