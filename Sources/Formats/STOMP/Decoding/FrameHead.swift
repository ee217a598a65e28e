// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding

/// Command and headers while they are being read.
struct FrameHead {
    private(set) var byteCount = 0
    private(set) var contentLength: UInt64?
    private var command: StompCommand?
    private var headers: [StompHeader] = []

    var mayHaveBody: Bool { command?.mayHaveBody ?? false }

    /// What is wrong when a body follows a command without one.
    var bodyFault: StompDecodingError { command.map { .frame(.bodyNotAllowed($0)) } ?? .unknownCommand }

    /// Takes a line without its end; returns true for the empty one that ends the head.
    mutating func add(_ line: DecoderInput.Line, _ limits: StompLimits) throws(StompDecodingError) -> Bool {
        byteCount += line.byteCount
        guard let command else {
            guard let command = StompCommand(line.text) else { throw .unknownCommand }
            self.command = command
            return false
        }
        if line.text.isEmpty { return true }
        guard headers.count + (contentLength == nil ? 0 : 1) < limits.headerCount else {
            throw .tooManyHeaders(maximum: limits.headerCount)
        }
        let header = try Self.header(line.text, of: command)
        if header.name == .contentLength { try setContentLength(header.value) } else { headers.append(header) }
        return false
    }

    func frame(body: [UInt8]) throws(StompDecodingError) -> StompFrame {
        guard let command else { throw .unknownCommand }
        do { return try StompFrame(command, headers, body: body) } catch { throw .frame(error) }
    }

    private mutating func setContentLength(_ value: [UInt8]) throws(StompDecodingError) {
        guard contentLength == nil else { throw .repeatedContentLength }
        do { contentLength = try Decimal.decode(value) } catch { throw .invalidContentLength }
    }

    private static func header(
        _ line: ArraySlice<UInt8>, of command: StompCommand
    ) throws(StompDecodingError) -> StompHeader {
        let colon = UInt8(ascii: ":")
        guard let place = line.firstIndex(of: colon) else { throw .noColon }
        let (name, value) = (line[..<place], line[(place + 1)...])
        guard command.escapesHeaders else { return StompHeader(StompHeaderName(Array(name)), Array(value)) }
        guard !value.contains(colon) else { throw .unescapedColon }
        guard let plainName = HeaderEscape.unescape(name), let plainValue = HeaderEscape.unescape(value) else {
            throw .undefinedEscape
        }
        return StompHeader(StompHeaderName(plainName), plainValue)
    }
}
