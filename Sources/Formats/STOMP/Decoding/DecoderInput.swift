// SPDX-License-Identifier: Apache-2.0

/// Bytes that have arrived and are not yet part of an element. No byte is searched twice.
struct DecoderInput: Sendable {
    static let lineFeed = UInt8(ascii: "\n")
    static let carriageReturn = UInt8(ascii: "\r")

    private var bytes: [UInt8] = []
    /// Where what is not consumed begins.
    private var start = 0
    /// Up to where the current search has come.
    private var searched = 0

    /// A line without its end.
    struct Line {
        let text: ArraySlice<UInt8>
        /// With an LF.
        let byteCount: Int
    }

    /// The next byte, if it has arrived.
    var first: UInt8? { start < bytes.count ? bytes[start] : nil }

    mutating func append(_ more: some Collection<UInt8>) {
        if start > 0 && start >= bytes.count / 2 {
            bytes.removeSubrange(..<start)
            searched -= start
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// Consumes a line end that is expected next; returns false if more bytes are needed.
    mutating func lineEnd() throws(StompDecodingError) -> Bool {
        guard let byte = first else { return false }
        if byte == Self.lineFeed {
            consume(through: start)
            return true
        }
        guard start + 1 < bytes.count else { return false }
        guard byte == Self.carriageReturn && bytes[start + 1] == Self.lineFeed else { throw .strayCarriageReturn }
        consume(through: start + 1)
        return true
    }

    /// The next line; nil until it is complete.
    ///
    /// - Parameters:
    ///   - used: bytes of the head before it.
    ///   - maximum: bytes of a whole head, of which a CR before LF is none.
    mutating func line(after used: Int, maximum: Int) throws(StompDecodingError) -> Line? {
        guard let end = find(Self.lineFeed) else {
            guard used + searched - start <= maximum else { throw .headTooLong(maximum: maximum) }
            return nil
        }
        let hasCarriageReturn = end > start && bytes[end - 1] == Self.carriageReturn
        let text = bytes[start..<(hasCarriageReturn ? end - 1 : end)]
        // Length first: of a line that arrives in pieces nothing else is looked at before its end.
        guard used + text.count < maximum else { throw .headTooLong(maximum: maximum) }
        guard !text.contains(Self.carriageReturn) else { throw .strayCarriageReturn }
        consume(through: end)
        return Line(text: text, byteCount: text.count + 1)
    }

    /// The bytes before the next zero, which is consumed too; nil until it arrives.
    mutating func bytesBeforeZero(maximumByteCount: Int) throws(StompDecodingError) -> [UInt8]? {
        let end = find(0)
        guard (end ?? searched) - start <= maximumByteCount else { throw .bodyTooLong(maximum: maximumByteCount) }
        guard let end else { return nil }
        let found = Array(bytes[start..<end])
        consume(through: end)
        return found
    }

    /// The next `count` bytes, and a zero byte that is consumed too; nil until they have arrived.
    mutating func bytes(_ count: Int) throws(StompDecodingError) -> [UInt8]? {
        guard bytes.count - start > count else { return nil }
        guard bytes[start + count] == 0 else { throw .missingEnd }
        let found = Array(bytes[start..<start + count])
        consume(through: start + count)
        return found
    }

    private mutating func find(_ byte: UInt8) -> Int? {
        let found = bytes[searched...].firstIndex(of: byte)
        searched = found ?? bytes.count
        return found
    }

    private mutating func consume(through end: Int) {
        start = end + 1
        searched = start
    }
}
