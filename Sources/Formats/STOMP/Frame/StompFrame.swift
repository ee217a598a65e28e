// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// A frame that is complete and that the specification allows.
///
/// Wire form: the command, a line `name:value` for each header, an empty line, the body, a zero byte. Lines end with LF.
///
/// Spec: STOMP 1.2.
public struct StompFrame: Hashable, Sendable {
    /// What the frame is for.
    public let command: StompCommand
    /// The headers in order, without `content-length`. If a name is there twice, the first counts.
    public let headers: [StompHeader]
    /// The body; empty in frames that have none.
    public let body: [UInt8]

    /// A frame.
    ///
    /// - Throws: ``StompFrameError``: what the specification does not allow, or what cannot be written.
    public init(
        _ command: StompCommand, _ headers: [StompHeader] = [], body: [UInt8] = []
    ) throws(StompFrameError) {
        guard body.isEmpty || command.mayHaveBody else { throw .bodyNotAllowed(command) }
        for header in headers { try Self.check(header, of: command) }
        for name in command.requiredHeaders where !headers.contains(where: { $0.name == name }) {
            throw .missingHeader(command, name)
        }
        self.command = command
        self.headers = headers
        self.body = body
    }

    /// The value of the first header with this name.
    public func value(of name: StompHeaderName) -> [UInt8]? { headers.first { $0.name == name }?.value }

    /// The wire form, with a `content-length` if there is a body.
    public var encoded: [UInt8] { encodedHead + body + [0] }

    /// The wire form up to the body; the body and a zero byte follow. For frames that share a long body.
    public var encodedHead: [UInt8] {
        var frame = ByteWriter()
        frame.write(command.bytes)
        frame.write(Self.lineFeed)
        for header in headers { Self.write(header.name.bytes, header.value, command, to: &frame) }
        if !body.isEmpty {
            Self.write(StompHeaderName.contentLength.bytes, Decimal.encode(UInt64(body.count)), command, to: &frame)
        }
        frame.write(Self.lineFeed)
        return frame.bytes
    }

    private static let lineFeed = UInt8(ascii: "\n")

    private static func write(
        _ name: [UInt8], _ value: [UInt8], _ command: StompCommand, to frame: inout ByteWriter
    ) {
        frame.write(command.escapesHeaders ? HeaderEscape.escape(name) : name)
        frame.write(UInt8(ascii: ":"))
        frame.write(command.escapesHeaders ? HeaderEscape.escape(value) : value)
        frame.write(lineFeed)
    }

    private static func check(_ header: StompHeader, of command: StompCommand) throws(StompFrameError) {
        guard !header.name.bytes.isEmpty else { throw .emptyHeaderName }
        guard header.name != .contentLength else { throw .reservedHeader(header.name) }
        guard isText(header.name.bytes) && isText(header.value) else { throw .notText }
        guard command.escapesHeaders || isPlain(header) else { throw .cannotBeEscaped(command, header.name) }
    }

    /// Valid UTF-8 without a zero byte.
    ///
    /// The specification would let a zero byte pass; it ends a frame for every reader that looks for the end first.
    private static func isText(_ bytes: [UInt8]) -> Bool {
        !bytes.contains(0) && String(validating: bytes, as: UTF8.self) != nil
    }

    private static func isPlain(_ header: StompHeader) -> Bool {
        let lineBreaks = [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
        return !header.name.bytes.contains(UInt8(ascii: ":"))
            && !(header.name.bytes + header.value).contains(where: lineBreaks.contains)
    }
}

/// Why something is not a frame.
public enum StompFrameError: Error, Hashable, Sendable {
    /// A body in a frame other than SEND, MESSAGE and ERROR.
    case bodyNotAllowed(StompCommand)
    /// A header that the command demands is not there.
    case missingHeader(StompCommand, StompHeaderName)
    /// A header without a name.
    case emptyHeaderName
    /// A header that only the codec writes.
    case reservedHeader(StompHeaderName)
    /// A header that is not UTF-8, or has a zero byte.
    case notText
    /// A line break, or a colon in a name, in CONNECT or CONNECTED, where nothing is escaped.
    case cannotBeEscaped(StompCommand, StompHeaderName)
}
