// SPDX-License-Identifier: Apache-2.0

/// Walks the elements of DER by length, without a tree.
///
/// Spec: ITU-T X.690 section 10. Only what certificates need: low tags, definite lengths of at most three bytes, in
/// their shortest form.
struct DERReader {
    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var isAtEnd: Bool { position == bytes.endIndex }
    /// The next element's tag, or nil at the end.
    var nextTag: UInt8? { isAtEnd ? nil : bytes[position] }

    /// The contents of the next element, which must have this tag.
    mutating func contents(_ tag: UInt8) throws(DERFault) -> ArraySlice<UInt8> {
        guard let found = nextTag else { throw .truncated(offset: position) }
        guard found == tag else { throw .unexpectedTag(found, offset: position) }
        let (start, end) = try extent()
        position = end
        return bytes[start..<end]
    }

    /// The next element with its tag and length, which must have this tag.
    mutating func element(_ tag: UInt8) throws(DERFault) -> ArraySlice<UInt8> {
        let start = position
        _ = try contents(tag)
        return bytes[start..<position]
    }

    /// Skips the next element, of any type.
    mutating func skip() throws(DERFault) {
        guard !isAtEnd else { throw .truncated(offset: position) }
        position = try extent().end
    }

    func end() throws(DERFault) {
        guard isAtEnd else { throw .trailingBytes(offset: position) }
    }

    /// Where the next element's contents are.
    private func extent() throws(DERFault) -> (start: Int, end: Int) {
        guard position + 1 < bytes.endIndex else { throw .truncated(offset: position) }
        let first = bytes[position + 1]
        guard first >= 0x80 else { return try range(position + 2, Int(first)) }
        let count = Int(first & 0x7F)
        guard (1...3).contains(count) else { throw .invalidLength(offset: position + 1) }
        guard position + 2 + count <= bytes.endIndex else { throw .truncated(offset: position) }
        let length = bytes[position + 2..<position + 2 + count].reduce(0) { $0 << 8 | Int($1) }
        guard length >= 0x80, length >> ((count - 1) * 8) != 0 else { throw .invalidLength(offset: position + 1) }
        return try range(position + 2 + count, length)
    }

    private func range(_ start: Int, _ length: Int) throws(DERFault) -> (start: Int, end: Int) {
        guard length <= bytes.endIndex - start else { throw .truncated(offset: position) }
        return (start, start + length)
    }
}

/// Where and why DER cannot be read. The offset counts bytes from the start of the certificate.
public enum DERFault: Error, Hashable, Sendable {
    /// The bytes end before the element does.
    case truncated(offset: Int)
    /// Another kind of element than the format has here.
    case unexpectedTag(UInt8, offset: Int)
    /// A length that is not definite, not the shortest, or over 16 MiB.
    case invalidLength(offset: Int)
    /// Something follows where the format ends.
    case trailingBytes(offset: Int)
    /// A date that is none.
    case invalidTime(offset: Int)
}
