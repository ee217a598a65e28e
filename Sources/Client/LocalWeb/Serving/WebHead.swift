// SPDX-License-Identifier: Apache-2.0

/// The head of a request, as the gate and the pages read it.
struct WebHead: Sendable {
    let isPost: Bool
    let host: String?
    /// The parts of the path, decoded.
    let parts: [String]
    let query: FormBody
    private let fields: [(name: String, value: String)]

    /// - Parameters:
    ///   - path: as it came.
    ///   - fields: names in lower case.
    /// - Returns: nil for a method that no page has, or a path that is not one.
    init?(method: String, host: String?, path: String, fields: [(name: String, value: String)]) {
        guard method == "GET" || method == "POST", path.hasPrefix("/") else { return nil }
        let halves = path.utf8.dropFirst().split(
            separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var parts: [String] = []
        for part in halves[0].split(separator: UInt8(ascii: "/")) {
            guard let part = PercentCoding.decode(part) else { return nil }
            parts.append(part)
        }
        guard let query = FormBody(decoding: halves.count > 1 ? Array(halves[1]) : []) else { return nil }
        (isPost, self.host, self.parts, self.query, self.fields) = (method == "POST", host, parts, query, fields)
    }

    /// The values of a field.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The only value of a field; nil if there is none, and if there are several.
    func value(_ name: String) -> String? {
        let values = values(name)
        return values.count == 1 ? values[0] : nil
    }

    /// A cookie's value; nil if there is none, and if there are several of that name.
    func cookie(_ name: String) -> String? {
        let pairs = fields.filter { $0.name == "cookie" }.flatMap { $0.value.split(separator: ";") }
        let values = pairs.compactMap { pair -> Substring? in
            let parts = pair.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            return parts.count == 2 && parts[0] == name ? parts[1] : nil
        }
        return values.count == 1 ? String(values[0]) : nil
    }
}
