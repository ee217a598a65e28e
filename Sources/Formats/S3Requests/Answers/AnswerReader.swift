// SPDX-License-Identifier: Apache-2.0

/// Reads the part of XML 1.0 that stores answer with: a declaration, elements, attributes that nobody looks at, text, the five entities
/// and numbers of characters.
///
/// There are no comments, processing instructions, CDATA, document types, and so no entities of a document's own. What is not known is refused.
package struct AnswerReader: ~Copyable {
    package static let maximumByteCount = 8 << 20
    package static let maximumDepth = 8
    package static let maximumElementCount = 65_536
    private static let maximumNameByteCount = 64

    private let bytes: [UInt8]
    private var offset = 0
    private var elementCount = 0

    /// Reads one document.
    ///
    /// - Throws: ``S3AnswerError``.
    package static func read(_ bytes: [UInt8]) throws(S3AnswerError) -> AnswerElement {
        guard bytes.count <= maximumByteCount else { throw .tooLong }
        guard let text = String(validating: bytes, as: UTF8.self), text.unicodeScalars.allSatisfy(isCharacter) else {
            throw .notText
        }
        var reader = AnswerReader(bytes: bytes)
        try reader.declaration()
        reader.spaces()
        guard reader.take("<") else { throw reader.wrong }
        let root = try reader.element(depth: 1)
        reader.spaces()
        guard reader.offset == bytes.count else { throw reader.wrong }
        return root
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var wrong: S3AnswerError { .syntax(offset: offset) }
    private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    // MARK: Markup

    private mutating func declaration() throws(S3AnswerError) {
        guard take("<?xml") else { return }
        guard try attributes().first?.name == "version", take("?>") else { throw wrong }
    }

    /// An element, of which `<` has been read.
    private mutating func element(depth: Int) throws(S3AnswerError) -> AnswerElement {
        elementCount += 1
        guard depth <= Self.maximumDepth, elementCount <= Self.maximumElementCount else { throw .tooManyElements }
        let name = try name()
        _ = try attributes()
        if take("/>") { return AnswerElement(name: name, text: "", children: []) }
        guard take(">") else { throw wrong }
        return try content(of: name, depth)
    }

    private mutating func content(of name: String, _ depth: Int) throws(S3AnswerError) -> AnswerElement {
        var (text, children): ([UInt8], [AnswerElement]) = ([], [])
        while true {
            text += try self.text()
            if take("</") { break }
            guard take("<") else { throw wrong }
            children.append(try element(depth: depth + 1))
        }
        guard try self.name() == name else { throw wrong }
        spaces()
        guard take(">"), children.isEmpty || text.allSatisfy(Self.isSpace) else { throw wrong }
        return AnswerElement(
            name: name, text: children.isEmpty ? String(decoding: text, as: UTF8.self) : "", children: children)
    }

    private mutating func attributes() throws(S3AnswerError) -> [(name: String, value: [UInt8])] {
        var found: [(name: String, value: [UInt8])] = []
        while let byte = next, Self.isSpace(byte) {
            spaces()
            guard let first = next, Self.isNameByte(first) else { break }
            let name = try name()
            guard take("="), let quote = next, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw wrong
            }
            offset += 1
            let value = try value(until: quote)
            guard !found.contains(where: { $0.name == name }) else { throw wrong }
            found.append((name, value))
        }
        return found
    }

    private mutating func value(until quote: UInt8) throws(S3AnswerError) -> [UInt8] {
        let begin = offset
        while let byte = next, byte != quote {
            guard byte != UInt8(ascii: "<"), byte != UInt8(ascii: "&") else { throw wrong }
            offset += 1
        }
        guard next == quote else { throw wrong }
        defer { offset += 1 }
        return Array(bytes[begin..<offset])
    }

    private mutating func name() throws(S3AnswerError) -> String {
        let begin = offset
        while let byte = next, Self.isNameByte(byte) { offset += 1 }
        guard (1...Self.maximumNameByteCount).contains(offset - begin), !Self.isDigit(bytes[begin]) else { throw wrong }
        return String(decoding: bytes[begin..<offset], as: UTF8.self)
    }

    // MARK: Text

    /// Text up to the next `<`.
    private mutating func text() throws(S3AnswerError) -> [UInt8] {
        var text: [UInt8] = []
        while let byte = next, byte != UInt8(ascii: "<") {
            if byte == UInt8(ascii: "&") {
                text += try reference()
            } else {
                text.append(byte)
                offset += 1
            }
        }
        return text
    }

    private mutating func reference() throws(S3AnswerError) -> [UInt8] {
        for (entity, byte) in Self.entities where take(entity) { return [UInt8(ascii: byte)] }
        guard take("&#") else { throw wrong }
        let radix = take("x") ? 16 : 10
        let begin = offset
        while let byte = next, byte != UInt8(ascii: ";"), offset - begin < 8 { offset += 1 }
        let digits = bytes[begin..<offset]
        guard take(";"), digits.allSatisfy(Self.isHexadecimalDigit),
            let number = UInt32(String(decoding: digits, as: UTF8.self), radix: radix),
            let scalar = Unicode.Scalar(number), Self.isCharacter(scalar)
        else { throw wrong }
        return Array(String(Character(scalar)).utf8)
    }

    private mutating func take(_ expected: StaticString) -> Bool {
        let wanted = UnsafeBufferPointer(start: expected.utf8Start, count: expected.utf8CodeUnitCount)
        guard bytes[offset...].starts(with: wanted) else { return false }
        offset += wanted.count
        return true
    }

    private mutating func spaces() {
        while let byte = next, Self.isSpace(byte) { offset += 1 }
    }

    // MARK: Characters

    private static let entities: [(StaticString, Unicode.Scalar)] = [
        ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"),
    ]

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }
    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isHexadecimalDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || isDigit(byte) || byte == UInt8(ascii: ":")
    }

    /// Spec: XML 1.0, section 2.2, `Char`.
    private static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xa, 0xd, 0x20...0xd7ff, 0xe000...0xfffd, 0x10000...0x10ffff: true
        default: false
        }
    }
}
