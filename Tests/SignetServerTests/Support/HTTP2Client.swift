// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A client of HTTP/2 that sends any frames in any order.
///
/// Spec: RFC 9113, section 4.1.
final class HTTP2Client: Sendable {
    struct Frame: Equatable {
        enum Kind: UInt8 {
            case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation
        }

        let kind: Kind
        var flags: UInt8 = 0
        var stream: UInt32 = 0
        var payload: [UInt8] = []

        static let endStream: UInt8 = 1
        static let acknowledgement: UInt8 = 1
        static let endHeaders: UInt8 = 4

        var bytes: [UInt8] {
            let count = UInt32(payload.count)
            return [
                UInt8(truncatingIfNeeded: count >> 16), UInt8(truncatingIfNeeded: count >> 8),
                UInt8(truncatingIfNeeded: count),
            ]
                + [kind.rawValue, flags] + bigEndian(stream) + payload
        }
    }

    private let connection: Connection
    private let received = Mutex<[UInt8]>([])

    /// Connects and sends the preface with these settings.
    ///
    /// - Parameter settings: identifier and value of each (section 6.5.2).
    init(_ client: TestClient, settings: [(UInt16, UInt32)] = []) async throws {
        let payload = settings.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] + bigEndian($1) }
        connection = try await .open(
            port: client.port, root: client.root,
            greeting: Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Frame(kind: .settings, payload: payload).bytes,
            offering: ["h2"])
    }

    func send(_ frames: Frame...) async throws { try await send(frames) }

    func send(_ frames: [Frame]) async throws { try await connection.send(frames.flatMap(\.bytes)) }

    /// Asks on a stream.
    ///
    /// - Parameter body: with what is sent of it, whether there is more to come.
    func ask(
        _ method: String, _ path: String, on stream: UInt32, fields: [(String, String)] = [],
        body: [UInt8]? = nil, isWhole: Bool = true
    ) async throws {
        let isLast = body == nil && isWhole
        let head = Frame(
            kind: .headers, flags: Frame.endHeaders | (isLast ? Frame.endStream : 0), stream: stream,
            payload: Self.fields(
                [(":method", method), (":scheme", "https"), (":path", path), (":authority", "localhost")] + fields))
        try await connection.send(head.bytes)
        guard let body else { return }
        var rest = body[...]
        repeat {
            let part = rest.prefix(16_384)
            rest = rest.dropFirst(part.count)
            try await send(
                Frame(
                    kind: .data, flags: isWhole && rest.isEmpty ? Frame.endStream : 0, stream: stream,
                    payload: Array(part)))
        } while !rest.isEmpty
    }

    /// Fields without any compression: literals that are not indexed, with new names.
    ///
    /// Spec: RFC 7541, section 6.2.2.
    static func fields(_ fields: [(String, String)]) -> [UInt8] {
        fields.flatMap { [0] + text($0) + text($1) }
    }

    private static func text(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var (length, rest) = ([UInt8(127)], bytes.count - 127)
        while rest >= 128 {
            length.append(UInt8(rest % 128) | 128)
            rest /= 128
        }
        return length + [UInt8(rest)] + bytes
    }

    /// The next frame; nil once the server has closed the connection.
    func read() async -> Frame? {
        while true {
            if let frame = received.withLock({ Self.frame(&$0) }) { return frame }
            guard let more = await connection.read() else { return nil }
            received.withLock { $0 += more }
        }
    }

    /// Takes a frame from the bytes that were received; nil if it is not whole yet.
    private static func frame(_ bytes: inout [UInt8]) -> Frame? {
        guard bytes.count >= 9, let kind = Frame.Kind(rawValue: bytes[3]) else { return nil }
        let end = 9 + (Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2]))
        guard bytes.count >= end else { return nil }
        let stream = bytes[5..<9].reduce(0) { $0 << 8 | UInt32($1) } & 0x7fff_ffff
        defer { bytes.removeFirst(end) }
        return Frame(kind: kind, flags: bytes[4], stream: stream, payload: Array(bytes[9..<end]))
    }

    /// The next frame of this kind, on a stream if one is named; nil if the connection is closed before.
    func read(_ kind: Frame.Kind, on stream: UInt32? = nil) async -> Frame? {
        while let frame = await read() {
            if frame.kind == kind, stream == nil || frame.stream == stream { return frame }
        }
        return nil
    }

    /// The body of the answer on a stream, as text; nil if the stream or the connection ends before it has ended.
    func answer(on stream: UInt32) async -> String? {
        var body: [UInt8] = []
        while let frame = await read() {
            guard frame.stream == stream else { continue }
            switch frame.kind {
            case .data: body += frame.payload
            case .headers: break
            case .reset: return nil
            default: continue
            }
            if frame.flags & Frame.endStream != 0 { return String(decoding: body, as: UTF8.self) }
        }
        return nil
    }

    /// The server's settings hold once the client has acknowledged them.
    func acknowledgeSettings() async throws {
        _ = await read(.settings)
        try await send(Frame(kind: .settings, flags: Frame.acknowledgement))
    }

    /// Closes its side; the server's stays open until the server closes it.
    func finishSending() async throws { try await connection.finishSending() }

    func close() async { await connection.close() }
}

private func bigEndian(_ number: UInt32) -> [UInt8] {
    [
        UInt8(number >> 24), UInt8(truncatingIfNeeded: number >> 16), UInt8(truncatingIfNeeded: number >> 8),
        UInt8(truncatingIfNeeded: number),
    ]
}
