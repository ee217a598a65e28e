// SPDX-License-Identifier: Apache-2.0

/// What the note format says about characters, on bytes: strict UTF-8, and nothing below U+0020 but LF.
///
/// Spec: C2SP signed-note, "Format"; Unicode 15, table 3-7 (well-formed byte sequences).
enum UnicodeText {
    /// Checks a text of lines.
    static func check(_ text: Span<UInt8>) throws(NoteError) {
        var offset = 0
        while offset < text.count {
            let byte = text[offset]
            guard byte >= 0x20 || byte == 0x0A else { throw .controlCharacter(offset: offset) }
            if byte < 0x80 {
                offset += 1
            } else {
                _ = try scalar(in: text, at: &offset)
            }
        }
    }

    /// The scalar at `offset`, which moves behind it.
    static func scalar(in text: Span<UInt8>, at offset: inout Int) throws(NoteError) -> UInt32 {
        let start = offset
        let lead = text[start]
        let (length, minimum) = shape(of: lead)
        guard length > 0 && text.count - start >= length else { throw .invalidUTF8(offset: start) }
        guard length > 1 else {
            offset += 1
            return UInt32(lead)
        }
        var value = UInt32(lead) & (0x7F >> UInt32(length))
        for position in 1..<length {
            let byte = text[start + position]
            guard byte & 0xC0 == 0x80 else { throw .invalidUTF8(offset: start) }
            value = value << 6 | UInt32(byte & 0x3F)
        }
        let isSurrogate = value >= 0xD800 && value <= 0xDFFF
        guard value >= minimum && value <= 0x10FFFF && !isSurrogate else { throw .invalidUTF8(offset: start) }
        offset += length
        return value
    }

    /// The White_Space property.
    static func isSpace(_ scalar: UInt32) -> Bool {
        switch scalar {
        case 0x09...0x0D, 0x20, 0x85, 0xA0, 0x1680, 0x2000...0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
            true
        default: false
        }
    }

    /// The sequence length that a lead byte announces, zero for none, and the least scalar of that length.
    private static func shape(of lead: UInt8) -> (length: Int, minimum: UInt32) {
        switch lead {
        case 0x00...0x7F: (1, 0)
        case 0xC2...0xDF: (2, 0x80)
        case 0xE0...0xEF: (3, 0x800)
        case 0xF0...0xF4: (4, 0x10000)
        default: (0, 0)
        }
    }
}
