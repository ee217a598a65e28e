// SPDX-License-Identifier: Apache-2.0

/// Prints metrics.
///
/// Spec: Prometheus, "Text-based format", version 0.0.4.
package enum PrometheusText {
    /// The media type of the text.
    package static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    /// The lines of a family, with the type that they are of.
    package struct Lines: Sendable {
        /// `counter`, `gauge` or `histogram`.
        package let type: String
        /// One line a value.
        package var text: String

        /// Lines of a type.
        package init(type: String, text: String = "") {
            self.type = type
            self.text = text
        }
    }

    /// The page of values that were measured for a request, in order of the families' names.
    ///
    /// - Parameter families: the lines of other families, by name.
    package static func print(_ samples: [MetricSample], beside families: [String: Lines] = [:]) -> [UInt8] {
        var families = families
        for sample in samples {
            let type = sample.family.isCounter ? "counter" : "gauge"
            families[sample.family.rawValue, default: Lines(type: type)].text += line(
                sample.family.rawValue, sample.labels, number(sample.value))
        }
        let text = families.sorted { $0.key < $1.key }.map { name, family in
            help(name) + "# TYPE \(name) \(family.type)\n" + family.text
        }
        return Array(text.joined().utf8)
    }

    private static func help(_ name: String) -> String {
        MetricFamily(rawValue: name).map { "# HELP \(name) \($0.help)\n" } ?? ""
    }

    /// `a="b",c="d"`, without braces, in order of name.
    package static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.sorted { $0.0 < $1.0 }.map { "\($0.0)=\"\(escaped($0.1))\"" }.joined(separator: ",")
    }

    /// One value as a line.
    ///
    /// - Parameter labels: as ``labels(_:)`` prints them.
    package static func line(_ name: String, _ labels: String, _ value: String) -> String {
        labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
    }

    /// A value, without a fraction if it has none.
    package static func number(_ value: Double) -> String {
        value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
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
