// SPDX-License-Identifier: Apache-2.0

/// The fields of a form, or of the part of a path after the question mark (`application/x-www-form-urlencoded`).
struct FormBody: Hashable, Sendable {
    /// How long the body of a request may be: the longest note, in which each byte is encoded as three.
    static let maximumByteCount = 3 << 20
    static let maximumFieldCount = 64

    private let fields: [(name: String, value: String)]

    static let empty = FormBody(fields: [])

    private init(fields: [(String, String)]) { self.fields = fields.map { ($0.0, $0.1) } }

    /// Reads the fields; nil if there are too many, or if one is not encoded UTF-8.
    init?(decoding bytes: [UInt8]) {
        var fields: [(String, String)] = []
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard fields.count < Self.maximumFieldCount,
                let name = PercentCoding.decode(parts[0], isForm: true),
                let value = PercentCoding.decode(parts.count > 1 ? parts[1] : [], isForm: true)
            else { return nil }
            // Browsers end the lines of a text with two characters, whatever the text had.
            fields.append((name, value.replacing("\r\n", with: "\n")))
        }
        self.init(fields: fields)
    }

    /// The first value of a name.
    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// All values of a name.
    func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The same without some fields, such as a passphrase.
    func without(_ names: String...) -> FormBody {
        FormBody(fields: fields.filter { !names.contains($0.name) }.map { ($0.name, $0.value) })
    }

    /// What may be kept until a page can be shown: neither the session's token nor a passphrase.
    var kept: FormBody { without(RequestGate.tokenField, "passphrase") }

    static func == (left: FormBody, right: FormBody) -> Bool {
        left.fields.elementsEqual(right.fields) { $0 == $1 }
    }

    func hash(into hasher: inout Hasher) { for field in fields { hasher.combine(field.name) } }
}
