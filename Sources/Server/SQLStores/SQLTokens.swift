// SPDX-License-Identifier: Apache-2.0

/// A piece of a text of SQL. All pieces together are the text.
struct SQLToken: Hashable {
    enum Kind: Hashable {
        /// A keyword or a name without quotation marks.
        case word
        /// A string, or a name in quotation marks.
        case quoted
        /// A blob: `x'00ff'`.
        case blob
        /// A comment, or white space.
        case gap
        /// `?` or `?3`.
        case parameter
        /// One character of another kind, or a digit.
        case other
    }

    let kind: Kind
    let text: Substring

    /// The text of a word in capitals; of anything else, the text.
    var word: String { kind == .word ? text.uppercased() : String(text) }
}

extension SQLToken {
    /// Divides a text. What is not closed reaches to its end.
    static func all(of sql: String) -> [SQLToken] {
        var tokens: [SQLToken] = []
        var rest = sql[...]
        while !rest.isEmpty {
            let token = first(of: rest)
            tokens.append(token)
            rest = rest[token.text.endIndex...]
        }
        return tokens
    }

    private static func first(of rest: Substring) -> SQLToken {
        if rest.hasPrefix("--") { return SQLToken(kind: .gap, text: rest.prefix { !$0.isNewline }) }
        if rest.hasPrefix("/*") { return SQLToken(kind: .gap, text: blockComment(rest)) }
        let second = rest.dropFirst().first
        return switch rest.first {
        case "'": SQLToken(kind: .quoted, text: quoted(rest, by: "'"))
        case "\"": SQLToken(kind: .quoted, text: quoted(rest, by: "\""))
        case "x" where second == "'", "X" where second == "'":
            SQLToken(kind: .blob, text: rest[..<quoted(rest.dropFirst(), by: "'").endIndex])
        case "?":
            SQLToken(
                kind: .parameter, text: rest[..<rest.dropFirst().prefix { $0.isASCII && $0.isNumber }.endIndex])
        case let character? where character.isWhitespace:
            SQLToken(kind: .gap, text: rest.prefix { $0.isWhitespace })
        case let character? where character.isLetter || character == "_":
            SQLToken(kind: .word, text: rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
        default: SQLToken(kind: .other, text: rest.prefix(1))
        }
    }

    /// A quotation mark inside stands there twice.
    private static func quoted(_ rest: Substring, by mark: Character) -> Substring {
        var end = rest.index(after: rest.startIndex)
        while end < rest.endIndex {
            let isMark = rest[end] == mark
            end = rest.index(after: end)
            guard isMark else { continue }
            guard end < rest.endIndex, rest[end] == mark else { break }
            end = rest.index(after: end)
        }
        return rest[..<end]
    }

    private static func blockComment(_ rest: Substring) -> Substring {
        var end = rest.index(rest.startIndex, offsetBy: 2)
        while end < rest.endIndex, !rest[end...].hasPrefix("*/") { end = rest.index(after: end) }
        return rest[..<(rest.index(end, offsetBy: 2, limitedBy: rest.endIndex) ?? rest.endIndex)]
    }
}
