// SPDX-License-Identifier: Apache-2.0

extension SystemComparison {
    private static let colors = ["#b0413e", "#c98b2b", "#7a6c9d", "#4f7f9b", "#2f7d4f"]
    private static let (width, barHeight, left) = (900, 16, 300)
    /// The longest bar stands for a million.
    private static let decades = 6.0

    /// A bar chart as SVG: undecryptable frames in a million, on a logarithmic scale; no bar is none.
    public var svg: String {
        let rowHeight = (KeyChangePolicy.all.count + 1) * Self.barHeight + 14
        let height = 70 + rows.count * rowHeight
        var parts = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Self.width) \(height)\" font-family=\"sans-serif\" font-size=\"12\">",
            "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>",
            "<text x=\"10\" y=\"24\" font-size=\"16\">Frames that could not be opened, in a million (logarithmic)</text>",
        ]
        for (place, row) in rows.enumerated() { parts += Self.bars(row, y: 50 + place * rowHeight) }
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    private static func bars(_ row: Row, y: Int) -> [String] {
        var parts = ["<text x=\"10\" y=\"\(y + 12)\" font-weight=\"bold\">\(row.condition)</text>"]
        for (place, entry) in row.outcomes.enumerated() {
            let top = y + (place + 1) * barHeight
            let value = entry.outcome.undecryptablePerMillion
            let color = colors[place % colors.count]
            parts.append("<text x=\"\(left - 10)\" y=\"\(top + 12)\" text-anchor=\"end\">\(entry.policy.name)</text>")
            parts.append(
                "<rect x=\"\(left)\" y=\"\(top + 2)\" width=\"\(length(value))\" height=\"\(barHeight - 4)\" fill=\"\(color)\"/>"
            )
            parts.append("<text x=\"\(left + length(value) + 6)\" y=\"\(top + 12)\">\(rounded(value))</text>")
        }
        return parts
    }

    /// A tenth of a frame in a million is the shortest bar.
    private static func length(_ value: Double) -> Int {
        guard value > 0 else { return 0 }
        var (rest, decade) = (max(value, 0.1), -1.0)
        while rest >= 1 {
            rest /= 10
            decade += 1
        }
        let share = (decade + rest) / decades
        return max(2, Int(share * Double(width - left - 90)))
    }
}
