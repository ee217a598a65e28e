// SPDX-License-Identifier: Apache-2.0

/// An element of an XML document, as property lists and Android's configuration use it: no entities but the five
/// predefined ones, no document type with definitions of its own.
struct XMLElement {
    let name: [UInt8]
    let attributes: [[UInt8]: [UInt8]]
    var children: [XMLElement] = []
    var text: [UInt8] = []

    func children(_ name: String) -> [XMLElement] { children.filter { $0.name == Array(name.utf8) } }
    func attribute(_ name: String) -> [UInt8]? { attributes[Array(name.utf8)] }
    func isNamed(_ name: String) -> Bool { self.name == Array(name.utf8) }
    /// The text without the space around it.
    var value: [UInt8] { Array(text.drop(while: isXMLSpace).reversed().drop(while: isXMLSpace).reversed()) }

    /// Every element below with a name, in the order of the document.
    func descendants(_ name: String) -> [XMLElement] {
        children.flatMap { ($0.isNamed(name) ? [$0] : []) + $0.descendants(name) }
    }
}

func isXMLSpace(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

/// Reads a document into elements.
struct XMLReader {
    private let bytes: [UInt8]
    private var position = 0
    private static let maximumDepth = 64

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() throws(PinListFault) -> XMLElement {
        try skipRemarks()
        let root = try element(depth: 0)
        try skipRemarks()
        guard position == bytes.count else { throw fault }
        return root
    }

    private var line: Int { 1 + bytes[..<min(position, bytes.count)].count { $0 == 0x0A } }
    private var fault: PinListFault { .malformed(line: line) }

    private func next(_ text: String) -> Bool { bytes[position...].starts(with: Array(text.utf8)) }

    private mutating func skip(past text: String) throws(PinListFault) {
        let mark = Array(text.utf8)
        while position < bytes.count {
            if bytes[position...].starts(with: mark) {
                position += mark.count
                return
            }
            position += 1
        }
        throw fault
    }

    private mutating func skipSpace() { while position < bytes.count, isXMLSpace(bytes[position]) { position += 1 } }

    /// Declarations, remarks and a document type without definitions.
    private mutating func skipRemarks() throws(PinListFault) {
        while true {
            skipSpace()
            if next("<?") {
                try skip(past: "?>")
            } else if next("<!--") {
                try skip(past: "-->")
            } else if next("<!DOCTYPE") {
                let start = position
                try skip(past: ">")
                guard !bytes[start..<position].contains(UInt8(ascii: "[")) else { throw fault }
            } else {
                return
            }
        }
    }

    private mutating func element(depth: Int) throws(PinListFault) -> XMLElement {
        guard depth < Self.maximumDepth, next("<") else { throw fault }
        position += 1
        let name = try word()
        let attributes = try attributes()
        var element = XMLElement(name: name, attributes: attributes)
        if next("/>") {
            position += 2
            return element
        }
        guard next(">") else { throw fault }
        position += 1
        while !next("</") {
            guard position < bytes.count else { throw fault }
            if next("<!--") {
                try skip(past: "-->")
            } else if next("<") {
                element.children.append(try self.element(depth: depth + 1))
            } else {
                element.text += try text(until: UInt8(ascii: "<"))
            }
        }
        position += 2
        guard try word() == name else { throw fault }
        skipSpace()
        guard next(">") else { throw fault }
        position += 1
        return element
    }

    private mutating func attributes() throws(PinListFault) -> [[UInt8]: [UInt8]] {
        var found: [[UInt8]: [UInt8]] = [:]
        while true {
            skipSpace()
            guard position < bytes.count else { throw fault }
            if next(">") || next("/>") { return found }
            let name = try word()
            skipSpace()
            guard next("=") else { throw fault }
            position += 1
            skipSpace()
            guard next("\"") || next("'") else { throw fault }
            let quote = bytes[position]
            position += 1
            guard found.updateValue(try text(until: quote), forKey: name) == nil else { throw fault }
            position += 1
        }
    }

    private mutating func word() throws(PinListFault) -> [UInt8] {
        let start = position
        while position < bytes.count, !isXMLSpace(bytes[position]), !Array("<>/='\"".utf8).contains(bytes[position]) {
            position += 1
        }
        guard position > start else { throw fault }
        return Array(bytes[start..<position])
    }

    private mutating func text(until end: UInt8) throws(PinListFault) -> [UInt8] {
        var text: [UInt8] = []
        while position < bytes.count, bytes[position] != end {
            guard bytes[position] == UInt8(ascii: "&") else {
                text.append(bytes[position])
                position += 1
                continue
            }
            guard let entity = Self.entities.first(where: { next($0.0) }) else { throw fault }
            text.append(entity.1)
            position += entity.0.utf8.count
        }
        guard position < bytes.count else { throw fault }
        return text
    }

    private static let entities: [(String, UInt8)] = [
        ("&amp;", 0x26), ("&lt;", 0x3C), ("&gt;", 0x3E), ("&quot;", 0x22), ("&apos;", 0x27),
    ]
}
