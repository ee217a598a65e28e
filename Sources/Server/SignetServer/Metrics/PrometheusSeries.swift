// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Synchronization

/// A number that only grows.
final class PrometheusCounter: CounterHandler {
    private let count = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }

    func increment(by amount: Int64) { count.wrappingAdd(amount, ordering: .relaxed) }
    func reset() { count.store(0, ordering: .relaxed) }
}

/// A number that goes up and down.
final class PrometheusGauge: MeterHandler, RecorderHandler {
    private let current = Mutex<Double>(0)

    var value: Double { current.withLock { $0 } }

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { current.withLock { $0 = value } }
    func increment(by amount: Double) { current.withLock { $0 += amount } }
    func decrement(by amount: Double) { current.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
}

/// How values are spread: the number of values up to each bound, their sum and their count. Durations are
/// kept in seconds.
final class PrometheusHistogram: TimerHandler, RecorderHandler {
    /// The upper bounds of the buckets; the last one, infinity, is not listed.
    static let bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    struct Contents: Sendable {
        /// Not cumulative; one more than ``bounds``.
        var buckets = [UInt64](repeating: 0, count: bounds.count + 1)
        var sum = 0.0
    }

    private let state = Mutex(Contents())

    var contents: Contents { state.withLock { $0 } }

    func record(_ value: Double) {
        let place = Self.bounds.firstIndex { value <= $0 } ?? Self.bounds.count
        state.withLock {
            $0.buckets[place] += 1
            $0.sum += value
        }
    }

    func record(_ value: Int64) { record(Double(value)) }
    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
}
