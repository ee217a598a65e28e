// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// JSON with one spelling per value: members in order of name, no spaces that mean nothing.
indirect enum PrintedValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(UInt64)
    case string(String)
    /// A key, a hash or a signed text: shown with `--advanced` alone.
    case key(String)
    case array([PrintedValue])
    case object([String: PrintedValue])

    /// A key or a hash as base64.
    static func base64(_ bytes: [UInt8]) -> PrintedValue { .key(String(decoding: Base64.encode(bytes), as: UTF8.self)) }

    /// The value without keys, for a user who does not want to see them; nil for a key.
    var withoutKeys: PrintedValue? {
        switch self {
        case .key: nil
        case .array(let values): .array(values.compactMap(\.withoutKeys))
        case .object(let members): .object(members.compactMapValues(\.withoutKeys))
        case .null, .bool, .number, .string: self
        }
    }

    /// An object with more members; its own count where both have one.
    func adding(_ members: [String: PrintedValue]) -> PrintedValue {
        guard case .object(let own) = self else { return self }
        return .object(own.merging(members) { first, _ in first })
    }

    /// Bytes that are printable text.
    static func text(_ bytes: [UInt8]) -> PrintedValue { .string(String(decoding: bytes, as: UTF8.self)) }

    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): value ? "true" : "false"
        case .number(let value): String(value)
        case .string(let value), .key(let value): Self.quote(value)
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.sorted { $0.key < $1.key }.map { "\(Self.quote($0.key)):\($0.value.text)" }
                .joined(separator: ",") + "}"
        }
    }

    private static func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case _ where isUnseen(scalar): for unit in String(scalar).utf16 { quoted += escape(unit) }
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// Whether a scalar could steer a terminal, or turn the direction of the text around it, which JSON allows.
    private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func escape(_ unit: UInt16) -> String {
        let digits = String(unit, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension PrintedValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(booleanLiteral value: Bool) { self = .bool(value) }
    init(integerLiteral value: UInt64) { self = .number(value) }
    init(dictionaryLiteral members: (String, PrintedValue)...) {
        self = .object(Dictionary(members) { _, last in last })
    }
    init(arrayLiteral values: PrintedValue...) { self = .array(values) }
}
