// SPDX-License-Identifier: Apache-2.0

/// The fields of a form, or of the part of a path after the question mark (`application/x-www-form-urlencoded`), and the files of a form
/// (`multipart/form-data`).
struct FormBody: Hashable, Sendable {
    /// A file that the person chose.
    struct File: Hashable, Sendable {
        let field: String
        /// As the browser states it.
        let name: String
        let content: ArraySlice<UInt8>
    }

    /// How long the body of a request may be: the longest note, in which each byte is encoded as three.
    static let maximumByteCount = 3 << 20
    /// The same for a form that attaches a file.
    static let maximumFileByteCount = Int(AttachedFile.maximumByteCount) + 65_536
    static let maximumFieldCount = 64

    private let fields: [(name: String, value: String)]
    /// The files; a field in which none was chosen has none.
    let files: [File]

    static let empty = FormBody(fields: [])

    private init(fields: [(String, String)], files: [File] = []) {
        self.fields = fields.map { ($0.0, $0.1) }
        self.files = files
    }

    /// Reads the body of a form.
    ///
    /// - Parameter mediaType: the value of `Content-Type`; nil if there is none.
    /// - Returns: nil if it cannot be read.
    init?(_ bytes: [UInt8], as mediaType: String?) {
        guard let mediaType, mediaType.hasPrefix("multipart/") else {
            self.init(decoding: bytes)
            return
        }
        guard let boundary = MultipartForm.boundary(in: mediaType),
            let form = MultipartForm(bytes, boundary: boundary)
        else { return nil }
        var (fields, files): ([(String, String)], [File]) = ([], [])
        for part in form.parts {
            if let name = part.fileName {
                if !name.isEmpty || !part.content.isEmpty {
                    files.append(File(field: part.name, name: name, content: part.content))
                }
            } else {
                guard let value = String(validating: part.content, as: UTF8.self) else { return nil }
                fields.append((part.name, value.replacing("\r\n", with: "\n")))
            }
        }
        self.init(fields: fields, files: files)
    }

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

    /// The file that was chosen in a field; nil if none was.
    func file(_ field: String) -> File? { files.first { $0.field == field } }

    /// The same without some fields, such as a passphrase, and without files.
    func without(_ names: String...) -> FormBody {
        FormBody(fields: fields.filter { !names.contains($0.name) }.map { ($0.name, $0.value) })
    }

    /// What may be kept until a page can be shown: neither the session's token nor a passphrase.
    var kept: FormBody { without(RequestGate.tokenField, "passphrase", "again") }

    static func == (left: FormBody, right: FormBody) -> Bool {
        left.fields.elementsEqual(right.fields) { $0 == $1 } && left.files == right.files
    }

    func hash(into hasher: inout Hasher) { for field in fields { hasher.combine(field.name) } }
}
