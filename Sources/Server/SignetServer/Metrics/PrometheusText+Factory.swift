// SPDX-License-Identifier: Apache-2.0

import Telemetry

extension PrometheusText {
    /// Prints what a factory counted.
    ///
    /// - Parameter samples: values that were measured for this request, of families that the factory does not have.
    static func print(_ factory: PrometheusFactory, _ samples: [MetricSample] = []) -> [UInt8] {
        var families: [String: Lines] = [:]
        for (key, series) in factory.all {
            append(series, key, to: &families[key.name, default: Lines(type: typeName(series))].text)
        }
        return print(samples, beside: families)
    }

    private static func append(
        _ series: PrometheusFactory.Series, _ key: PrometheusFactory.SeriesKey, to text: inout String
    ) {
        switch series {
        case .counter(let counter): text += line(key.name, key.labels, "\(counter.value)")
        case .gauge(let gauge): text += line(key.name, key.labels, number(gauge.value))
        case .histogram(let histogram): append(histogram.contents, key, to: &text)
        }
    }

    private static func append(
        _ contents: PrometheusHistogram.Contents, _ key: PrometheusFactory.SeriesKey, to text: inout String
    ) {
        var count: UInt64 = 0
        let bounds = PrometheusHistogram.bounds.map(number) + ["+Inf"]
        for (bound, bucket) in zip(bounds, contents.buckets) {
            count += bucket
            let labels = key.labels.isEmpty ? "le=\"\(bound)\"" : key.labels + ",le=\"\(bound)\""
            text += line(key.name + "_bucket", labels, "\(count)")
        }
        text += line(key.name + "_sum", key.labels, number(contents.sum))
        text += line(key.name + "_count", key.labels, "\(count)")
    }

    private static func typeName(_ series: PrometheusFactory.Series) -> String {
        switch series {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }
}
