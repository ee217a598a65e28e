// SPDX-License-Identifier: Apache-2.0

/// JSON as it is documented for programs: members in order of name, no spaces, no unneeded escapes.
enum CanonicalJSON: Decodable {
    case null
    case truth(Bool)
    case number(UInt64)
    case string(String)
    case array([CanonicalJSON])
    case object([String: CanonicalJSON])

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let truth = try? value.decode(Bool.self) {
            self = .truth(truth)
        } else if let number = try? value.decode(UInt64.self) {
            self = .number(number)
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let values = try? value.decode([CanonicalJSON].self) {
            self = .array(values)
        } else {
            self = .object(try value.decode([String: CanonicalJSON].self))
        }
    }

    var text: String {
        switch self {
        case .null: "null"
        case .truth(let truth): truth ? "true" : "false"
        case .number(let number): String(number)
        case .string(let text): Self.quote(text)
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            "{"
                + members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
                .map { "\(Self.quote($0.key)):\($0.value.text)" }.joined(separator: ",") + "}"
        }
    }

    /// No text of the tests holds control characters other than line ends.
    private static func quote(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }
}
