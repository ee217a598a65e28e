// SPDX-License-Identifier: Apache-2.0

extension JSONValue {
    /// Reads one JSON text, with nothing before or after it but white space.
    ///
    /// A name that stands twice, a byte order mark, bytes that are not UTF-8, half a surrogate pair, and everything that
    /// the grammar does not have (comments, `NaN`, commas at the end) are refused.
    ///
    /// Spec: RFC 8259; RFC 7493 (I-JSON), sections 2.1 and 2.3.
    ///
    /// - Throws: ``JSONFault``. A retry cannot help.
    public init(decoding bytes: [UInt8], limits: JSONLimits = .token) throws(JSONFault) {
        guard bytes.count <= limits.byteCount else { throw .tooLong(bytes.count) }
        guard (try? UTF8Span(validating: bytes.span)) != nil, !bytes.starts(with: [0xEF, 0xBB, 0xBF]) else {
            throw .notUTF8
        }
        var reader = JSONReader(bytes: bytes, depthLeft: limits.depth)
        self = try reader.wholeText()
    }
}

extension JSONObject {
    /// Reads a JSON text that is an object, as ``JSONValue/init(decoding:limits:)`` does.
    ///
    /// - Throws: ``JSONFault``; another kind of value is ``JSONFault/syntax(offset:)`` at 0.
    public init(decoding bytes: [UInt8], limits: JSONLimits = .token) throws(JSONFault) {
        guard case .object(let object) = try JSONValue(decoding: bytes, limits: limits) else {
            throw .syntax(offset: 0)
        }
        self = object
    }
}

/// Goes through valid UTF-8 once, from front to back.
struct JSONReader {
    let bytes: [UInt8]
    /// How many more arrays and objects may open; bounds the recursion.
    var depthLeft: Int
    private var place = 0

    init(bytes: [UInt8], depthLeft: Int) {
        self.bytes = bytes
        self.depthLeft = depthLeft
    }

    mutating func wholeText() throws(JSONFault) -> JSONValue {
        skipWhiteSpace()
        let value = try value()
        skipWhiteSpace()
        guard place == bytes.count else { throw .syntax(offset: place) }
        return value
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipWhiteSpace() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { place += 1 }
    }

    private mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard let next, next == UInt8(ascii: byte) else { return false }
        place += 1
        return true
    }

    private mutating func demand(_ byte: Unicode.Scalar) throws(JSONFault) {
        guard take(byte) else { throw .syntax(offset: place) }
    }

    private mutating func value() throws(JSONFault) -> JSONValue {
        switch next {
        case UInt8(ascii: "{"): return try nested { reader throws(JSONFault) in .object(try reader.object()) }
        case UInt8(ascii: "["): return try nested { reader throws(JSONFault) in .array(try reader.array()) }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func nested(
        _ read: (inout JSONReader) throws(JSONFault) -> JSONValue
    ) throws(JSONFault) -> JSONValue {
        guard depthLeft > 0 else { throw .tooDeep }
        depthLeft -= 1
        let value = try read(&self)
        depthLeft += 1
        return value
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(JSONFault) -> JSONValue {
        let expected = text.withUTF8Buffer { Array($0) }
        guard bytes[place...].starts(with: expected) else { throw .syntax(offset: place) }
        place += expected.count
        return value
    }

    private mutating func object() throws(JSONFault) -> JSONObject {
        try demand("{")
        skipWhiteSpace()
        var object = JSONObject()
        if take("}") { return object }
        repeat {
            skipWhiteSpace()
            let name = try string()
            guard object[name] == nil else { throw .duplicateMember }
            skipWhiteSpace()
            try demand(":")
            skipWhiteSpace()
            object[name] = try value()
            skipWhiteSpace()
        } while take(",")
        try demand("}")
        return object
    }

    private mutating func array() throws(JSONFault) -> [JSONValue] {
        try demand("[")
        skipWhiteSpace()
        var elements: [JSONValue] = []
        if take("]") { return elements }
        repeat {
            skipWhiteSpace()
            elements.append(try value())
            skipWhiteSpace()
        } while take(",")
        try demand("]")
        return elements
    }

    private mutating func number() throws(JSONFault) -> JSONNumber {
        let start = place
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            try digits()
        }
        return JSONNumber(checked: Array(bytes[start..<place]))
    }

    private mutating func digits() throws(JSONFault) {
        let start = place
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        guard place > start else { throw .syntax(offset: place) }
    }

    private mutating func string() throws(JSONFault) -> JSONText {
        try demand("\"")
        var text: [UInt8] = []
        while let byte = next {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return JSONText(checked: text)
            case UInt8(ascii: "\\"): text += try escape()
            case 0..<0x20: throw .syntax(offset: place - 1)
            default: text.append(byte)
            }
        }
        throw .syntax(offset: place)
    }

    private mutating func escape() throws(JSONFault) -> [UInt8] {
        guard let byte = next else { throw .syntax(offset: place) }
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return try character()
        default: throw .syntax(offset: place - 1)
        }
    }

    /// The character of `\uXXXX`, or of two such escapes that are a surrogate pair.
    private mutating func character() throws(JSONFault) -> [UInt8] {
        let start = place - 2
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(UInt32(first)) { return Self.utf8(scalar) }
        guard (0xD800..<0xDC00).contains(first), take("\\"), take("u") else { throw .loneSurrogate(offset: start) }
        let second = try codeUnit()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw .loneSurrogate(offset: start) }
        return Self.utf8(scalar)
    }

    private static func utf8(_ scalar: Unicode.Scalar) -> [UInt8] { UTF8.encode(scalar).map { Array($0) } ?? [] }

    private mutating func codeUnit() throws(JSONFault) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap(Self.digit) else { throw .syntax(offset: place) }
            value = value << 4 | digit
            place += 1
        }
        return value
    }

    private static func digit(_ byte: UInt8) -> UInt16? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(byte - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(byte - UInt8(ascii: "A") + 10)
        default: nil
        }
    }
}
