// SPDX-License-Identifier: Apache-2.0

/// The parts of a form with files (`multipart/form-data`), as browsers write them.
///
/// Strict: no text before the first part or behind the last one, no field of a part but those that browsers send, and no encoding of its own.
///
/// Spec: RFC 7578; RFC 2046, section 5.1.1.
struct MultipartForm: Hashable, Sendable {
    /// One part.
    struct Part: Hashable, Sendable {
        let name: String
        /// The file's name, as the browser states it; nil for a field without a file.
        let fileName: String?
        let content: ArraySlice<UInt8>
    }

    /// How long the head of a part may be, in bytes.
    static let maximumHeadByteCount = 4096

    let parts: [Part]

    /// The boundary in the value of `Content-Type`; nil if it is another type, or not written as browsers write it.
    static func boundary(in mediaType: String) -> [UInt8]? {
        let start = "multipart/form-data; boundary="
        guard mediaType.hasPrefix(start) else { return nil }
        let boundary = Array(mediaType.utf8.dropFirst(start.utf8.count))
        guard (1...70).contains(boundary.count), boundary.allSatisfy(isBoundary) else { return nil }
        return boundary
    }

    private static func isBoundary(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Reads the parts; nil if it is not such a form.
    init?(_ body: [UInt8], boundary: [UInt8]) {
        let line = Array("--".utf8) + boundary
        guard body.starts(with: line) else { return nil }
        let delimiter = Array("\r\n".utf8) + line
        var (parts, at): ([Part], Int) = ([], line.count)
        while !Self.isEnd(body[at...]) {
            guard parts.count < FormBody.maximumFieldCount, body[at...].starts(with: Self.lineEnd),
                let headEnd = Self.first(
                    Self.lineEnd + Self.lineEnd, in: body, from: at + 2, within: Self.maximumHeadByteCount),
                let end = Self.first(delimiter, in: body, from: headEnd + 4, within: body.count),
                let part = Self.part(body[(at + 2)..<headEnd], body[(headEnd + 4)..<end])
            else { return nil }
            parts.append(part)
            at = end + delimiter.count
        }
        self.parts = parts
    }

    private static let lineEnd = Array("\r\n".utf8)

    private static func isEnd(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.elementsEqual("--".utf8) || rest.elementsEqual("--\r\n".utf8)
    }

    /// Where these bytes begin first.
    private static func first(_ wanted: [UInt8], in body: [UInt8], from start: Int, within limit: Int) -> Int? {
        body.withUnsafeBufferPointer { bytes in
            wanted.withUnsafeBufferPointer { wanted in
                let last = min(bytes.count - wanted.count, start + limit)
                var at = start
                while at <= last {
                    if bytes[at] == wanted[0] {
                        var count = 1
                        while count < wanted.count, bytes[at + count] == wanted[count] { count += 1 }
                        if count == wanted.count { return at }
                    }
                    at += 1
                }
                return nil
            }
        }
    }

    private static func part(_ head: ArraySlice<UInt8>, _ content: ArraySlice<UInt8>) -> Part? {
        guard let text = String(validating: head, as: UTF8.self) else { return nil }
        var disposition: (name: String, fileName: String?)?
        var hasType = false
        for line in text.split(separator: "\r\n", omittingEmptySubsequences: false) {
            let halves = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2 else { return nil }
            switch halves[0].lowercased() {
            case "content-disposition" where disposition == nil:
                disposition = Self.disposition(halves[1])
                guard disposition != nil else { return nil }
            case "content-type" where !hasType: hasType = true
            default: return nil
            }
        }
        guard let disposition, hasType == (disposition.fileName != nil) else { return nil }
        return Part(name: disposition.name, fileName: disposition.fileName, content: content)
    }

    /// `form-data; name="…"` or `form-data; name="…"; filename="…"`.
    private static func disposition(_ value: Substring) -> (name: String, fileName: String?)? {
        guard let (name, rest) = quoted(value, behind: "form-data; name=\"") else { return nil }
        if rest.isEmpty { return (name, nil) }
        guard let (fileName, end) = quoted(rest, behind: "; filename=\""), end.isEmpty else { return nil }
        return (name, fileName)
    }

    /// The text up to the next quote. Browsers write a quote and the ends of lines in percent encoding, and nothing else (HTML, section 4.10.21.8).
    private static func quoted(_ text: Substring, behind start: String) -> (text: String, rest: Substring)? {
        guard text.hasPrefix(start) else { return nil }
        let behind = text.dropFirst(start.count)
        guard let quote = behind.firstIndex(of: "\"") else { return nil }
        let decoded = behind[..<quote].replacing("%22", with: "\"").replacing("%0D", with: "\r")
            .replacing("%0A", with: "\n")
        return (String(decoded), behind[behind.index(after: quote)...])
    }
}
