// SPDX-License-Identifier: Apache-2.0

/// Lines for a terminal: those that are too long for it go on in the next, between words and indented as they began.
///
/// Commands in quotes stay whole, so that they can be copied; pictures made of blocks stay as they are.
enum LineWrap {
    /// What a line may begin with, besides spaces: what follows is indented as the text behind it.
    private static let marks = ["✓ ", "! ", "✗ ", "– ", "… ", "signet: ", "USAGE: ", "Usage: "]

    static func wrapped(_ text: String, to width: Int) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { wrap($0, width) }.joined(separator: "\n")
    }

    private static func wrap(_ line: Substring, _ width: Int) -> String {
        guard Self.width(of: line) > width, !line.unicodeScalars.contains(where: isBlock) else { return String(line) }
        let indent = indent(of: line, width)
        var (rows, row) = ([String](), String(line.prefix { $0 == " " }))
        var isBegun = false
        for piece in pieces(of: line.drop { $0 == " " }) {
            if isBegun, Self.width(of: row) + piece.gap.count + Self.width(of: piece.word) > width {
                rows.append(row)
                row = String(repeating: " ", count: indent) + piece.word
            } else {
                row += piece.gap + piece.word
            }
            isBegun = true
        }
        return (rows + [row]).joined(separator: "\n")
    }

    private static func indent(of line: Substring, _ width: Int) -> Int {
        let text = shown(line)
        let begin = text.prefix { $0 == " " }.count
        let mark = marks.first { text.dropFirst(begin).hasPrefix($0) }
        let indent = begin + (mark?.count ?? 0)
        return indent < width / 2 ? indent : 0
    }

    /// The words of a line, each with the spaces before it. Words in single quotes are one.
    private static func pieces(of line: Substring) -> [(gap: String, word: String)] {
        var (pieces, rest): ([(gap: String, word: String)], Substring) = ([], line)
        while !rest.isEmpty {
            let gap = rest.prefix { $0 == " " }
            rest = rest.dropFirst(gap.count)
            let end = quoteEnd(rest) ?? rest.firstIndex(of: " ") ?? rest.endIndex
            pieces.append((String(gap), String(rest[..<end])))
            rest = rest[end...]
        }
        return pieces
    }

    /// The end of what begins with a quoted command; nil if nothing is quoted here.
    private static func quoteEnd(_ text: Substring) -> Substring.Index? {
        guard text.first == "'", let end = text.dropFirst().firstIndex(of: "'") else { return nil }
        return text[end...].firstIndex(of: " ") ?? text.endIndex
    }

    /// How many columns a line takes; a character that takes two is counted as one.
    private static func width(of text: some StringProtocol) -> Int { shown(text).count }

    /// What is seen of a line: without the sequences that set colours and move the cursor (ECMA-48, section 5.4).
    private static func shown(_ text: some StringProtocol) -> String {
        String(text).replacing(/\u{1B}\[[0-9;]*[A-Za-z]|\r/, with: "")
    }

    private static func isBlock(_ scalar: Unicode.Scalar) -> Bool { (0x2580...0x259F).contains(scalar.value) }
}
