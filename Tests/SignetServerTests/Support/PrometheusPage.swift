// SPDX-License-Identifier: Apache-2.0

/// A page of metrics, read as strictly as its format allows.
///
/// Spec: Prometheus, "Text-based format", version 0.0.4; "Data model" for names.
struct PrometheusPage {
    /// What is wrong with a page, and in which line, from 1.
    struct Fault: Error, Hashable {
        let line: Int
        let what: String
    }

    /// The values by name and labels, as they are printed: `a{b="c"}`.
    private(set) var values: [String: Double] = [:]
    /// Every family's type.
    private(set) var types: [String: String] = [:]
    private(set) var helps: Set<String> = []
    private var family = ""
    private var line = 0

    init(_ bytes: some Sequence<UInt8>) throws(Fault) {
        let text = String(decoding: Array(bytes), as: UTF8.self)
        guard text.isEmpty || text.hasSuffix("\n") else { throw Fault(line: 0, what: "the last line has no end") }
        for content in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            line += 1
            try content.hasPrefix("#") ? readRemark(content) : readSample(content)
        }
        try checkHistograms()
    }

    private func fault(_ what: String) -> Fault { Fault(line: line, what: what) }

    private mutating func readRemark(_ content: Substring) throws(Fault) {
        let words = content.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard words.count == 4, Self.isName(words[2]) else { throw fault("not HELP and not TYPE") }
        switch words[1] {
        case "HELP":
            guard types[words[2]] == nil, helps.insert(words[2]).inserted else { throw fault("HELP comes once, first") }
            guard !words[3].isEmpty, !words[3].contains("\\") else { throw fault("HELP that says nothing") }
        case "TYPE":
            guard helps.contains(words[2]), types[words[2]] == nil else { throw fault("TYPE comes once, after HELP") }
            guard ["counter", "gauge", "histogram"].contains(words[3]) else { throw fault("no such type") }
            types[words[2]] = words[3]
            family = words[2]
        default: throw fault("not HELP and not TYPE")
        }
    }

    private mutating func readSample(_ content: Substring) throws(Fault) {
        guard let space = content.lastIndex(of: " "), let value = Double(content[content.index(after: space)...]) else {
            throw fault("no value")
        }
        let series = String(content[..<space])
        let name = String(series.prefix { $0 != "{" })
        guard Self.isName(name), name == family || isOfHistogram(name) else { throw fault("not of the family above") }
        try checkLabels(series.dropFirst(name.count))
        if types[family] == "counter" {
            guard family.hasSuffix("_total"), value >= 0 else {
                throw fault("a counter ends in _total and is not negative")
            }
        }
        guard values.updateValue(value, forKey: series) == nil else { throw fault("a series comes once") }
    }

    private func isOfHistogram(_ name: String) -> Bool {
        types[family] == "histogram" && ["_bucket", "_sum", "_count"].contains { name == family + $0 }
    }

    private func checkLabels(_ text: Substring) throws(Fault) {
        guard !text.isEmpty else { return }
        guard text.hasPrefix("{"), text.hasSuffix("\"}") else { throw fault("labels in braces") }
        var (rest, names) = (text.dropFirst().dropLast(), Set<Substring>())
        while !rest.isEmpty {
            guard let equals = rest.firstIndex(of: "="), Self.isName(String(rest[..<equals])),
                !rest[..<equals].contains(":"),
                names.insert(rest[..<equals]).inserted
            else { throw fault("a label's name") }
            rest = try afterValue(rest[rest.index(after: equals)...])
        }
    }

    /// What comes after a quoted value and its comma.
    private func afterValue(_ text: Substring) throws(Fault) -> Substring {
        guard text.hasPrefix("\"") else { throw fault("a label's value in quotes") }
        var (rest, isEscaped) = (text.dropFirst(), false)
        while let character = rest.popFirst() {
            if isEscaped {
                guard "\\\"n".contains(character) else { throw fault("no such escape") }
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                guard rest.isEmpty || rest.hasPrefix(",") && rest.count > 1 else {
                    throw fault("a comma between labels")
                }
                return rest.dropFirst()
            }
        }
        throw fault("a value that does not end")
    }

    /// Buckets grow to the count.
    private func checkHistograms() throws(Fault) {
        for (series, count) in values where series.contains("_count") {
            let name = series.prefix { $0 != "{" }
            guard name.hasSuffix("_count"), types[String(name.dropLast(6))] == "histogram" else { continue }
            let labels = series.dropFirst(name.count).dropFirst().dropLast()
            let start = "\(name.dropLast(6))_bucket{" + (labels.isEmpty ? "" : labels + ",") + "le=\""
            let buckets = values.filter { $0.key.hasPrefix(start) }
                .map { (Double($0.key.dropFirst(start.count).dropLast(2)) ?? .infinity, $0.value) }.sorted {
                    $0.0 < $1.0
                }
            guard buckets.last?.0 == .infinity, buckets.last?.1 == count,
                zip(buckets, buckets.dropFirst()).allSatisfy({ $0.1 <= $1.1 })
            else { throw Fault(line: 0, what: "the buckets of \(series) do not grow to its count") }
        }
    }

    private static func isName(_ text: String) -> Bool {
        let letters = text.utf8.allSatisfy { byte in
            byte == 0x5F || byte == 0x3A || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
        }
        return letters && text.utf8.first.map { !(0x30...0x39).contains($0) } ?? false
    }
}
