// SPDX-License-Identifier: Apache-2.0

/// Prints metrics.
///
/// Spec: Prometheus, "Text-based format", version 0.0.4.
enum PrometheusText {
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// - Parameter samples: values that were measured for this request, of families that the factory does not have.
    static func print(_ factory: PrometheusFactory, _ samples: [MetricSample] = []) -> [UInt8] {
        var families: [String: (type: String, lines: String)] = [:]
        for (key, series) in factory.all {
            append(series, key, to: &families[key.name, default: (typeName(series), "")].lines)
        }
        for sample in samples {
            let type = sample.family.isCounter ? "counter" : "gauge"
            families[sample.family.rawValue, default: (type, "")].lines += line(
                sample.family.rawValue, sample.labels, number(sample.value))
        }
        let text = families.sorted { $0.key < $1.key }.map { name, family in
            help(name) + "# TYPE \(name) \(family.type)\n" + family.lines
        }
        return Array(text.joined().utf8)
    }

    private static func help(_ name: String) -> String {
        MetricFamily(rawValue: name).map { "# HELP \(name) \($0.help)\n" } ?? ""
    }

    /// `a="b",c="d"`, without braces, in order of name.
    static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.sorted { $0.0 < $1.0 }.map { "\($0.0)=\"\(escaped($0.1))\"" }.joined(separator: ",")
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

    private static func line(_ name: String, _ labels: String, _ value: String) -> String {
        labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
    }

    private static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func typeName(_ series: PrometheusFactory.Series) -> String {
        switch series {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }

    private static func escaped(_ value: String) -> String {
        value.flatMap { character -> String in
            switch character {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            default: String(character)
            }
        }.reduce(into: "") { $0.append($1) }
    }
}
