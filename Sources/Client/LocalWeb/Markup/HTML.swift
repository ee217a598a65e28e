// SPDX-License-Identifier: Apache-2.0

/// Markup in which data is always escaped.
///
/// Only literals of this source are markup: their type is `StaticString`, which a running program cannot make from data. Everything
/// that is interpolated is escaped for text and for attributes in double quotes, which all attributes here have. A template engine
/// would escape as well, but has a way to switch that off, and finds a misspelt name when the page is asked for; here the compiler does.
struct HTML: Sendable, ExpressibleByStringInterpolation {
    private(set) var text: String

    init(stringLiteral literal: StaticString) { text = Self.text(of: literal) }
    init(stringInterpolation interpolation: Interpolation) { text = interpolation.text }
    init(_ parts: [HTML]) { text = parts.map(\.text).joined() }

    /// Nothing.
    static let none: HTML = ""

    /// The markup, or nothing.
    static func when(_ condition: Bool, _ markup: @autoclosure () -> HTML) -> HTML { condition ? markup() : none }

    fileprivate static func text(of literal: StaticString) -> String {
        literal.withUTF8Buffer { String(decoding: $0, as: UTF8.self) }
    }

    struct Interpolation: StringInterpolationProtocol {
        typealias StringLiteralType = StaticString

        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        mutating func appendLiteral(_ literal: StaticString) { text += HTML.text(of: literal) }

        mutating func appendInterpolation(_ markup: HTML) { text += markup.text }
        mutating func appendInterpolation(_ markup: [HTML]) { for part in markup { text += part.text } }
        mutating func appendInterpolation(_ markup: HTML?) { text += markup?.text ?? "" }
        mutating func appendInterpolation(word: StaticString) { text += HTML.text(of: word) }
        mutating func appendInterpolation(_ number: Int) { text += String(number) }
        mutating func appendInterpolation(_ path: WebPath) { EscapedText.append(path.text, to: &text) }
        mutating func appendInterpolation(_ address: SiteAddress) { EscapedText.append(address.text, to: &text) }

        /// Text that a person reads: escaped, and without invisible characters and characters that change the direction of text.
        mutating func appendInterpolation(_ shown: String) { EscapedText.append(ShownText.of(shown), to: &text) }

        /// Text that a person typed and gets back into a field: escaped, and otherwise byte for byte.
        mutating func appendInterpolation(typed: String) { EscapedText.append(typed, to: &text) }
    }
}

/// Text in which nothing is markup.
enum EscapedText {
    static func append(_ text: String, to markup: inout String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": markup += "&amp;"
            case "<": markup += "&lt;"
            case ">": markup += "&gt;"
            case "\"": markup += "&quot;"
            case "'": markup += "&#39;"
            // A parser would make another character of it, or of it and the next one.
            case "\0": markup += "\u{FFFD}"
            case "\r": markup += "&#13;"
            default: markup.unicodeScalars.append(scalar)
            }
        }
    }
}

/// Text that another person wrote, without characters that hide a part of it or change its direction.
enum ShownText {
    static func of(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars { shown.unicodeScalars.append(isHarmless(scalar) ? scalar : "\u{FFFD}") }
        return shown
    }

    static func of(_ bytes: [UInt8]) -> String { of(String(decoding: bytes, as: UTF8.self)) }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        if scalar == "\n" || scalar == "\t" { return true }
        return switch scalar.properties.generalCategory {
        // Emoji are joined by a format character that changes nothing else.
        case .format: scalar.value == 0x200D
        case .control, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
