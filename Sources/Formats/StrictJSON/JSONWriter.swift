// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// The shortest text of the value: names in the order of their bytes, no white space, and no escapes but of `"`, `\` and
    /// the control characters.
    ///
    /// Spec: RFC 8259. The order is that of RFC 8785, section 3.2.3, for names of ASCII characters.
    public var encoded: [UInt8] {
        var text: [UInt8] = []
        write(to: &text)
        return text
    }

    private func write(to text: inout [UInt8]) {
        switch self {
        case .null: text += "null".utf8
        case .bool(let value): text += (value ? "true" : "false").utf8
        case .number(let number): text += number.text
        case .string(let string): string.write(to: &text)
        case .array(let elements):
            text.append(UInt8(ascii: "["))
            for (place, element) in elements.enumerated() {
                if place > 0 { text.append(UInt8(ascii: ",")) }
                element.write(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let object):
            text.append(UInt8(ascii: "{"))
            for (place, name) in object.names.enumerated() {
                if place > 0 { text.append(UInt8(ascii: ",")) }
                name.write(to: &text)
                text.append(UInt8(ascii: ":"))
                object[name]?.write(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }
}

extension JSONObject {
    /// The shortest text of the object; see ``JSONValue/encoded``.
    public var encoded: [UInt8] { JSONValue.object(self).encoded }
}

extension JSONText {
    fileprivate func write(to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): text += [UInt8(ascii: "\\"), byte]
            case 0..<0x20: text += "\\u00".utf8 + [Self.digit(byte >> 4), Self.digit(byte & 15)]
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
