// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import ObjectStores
import ObjectTesting
import S3Requests
import Synchronization

/// A gateway on loopback that speaks enough of S3 over a store on paper, checks signatures and times as a real one does, and can be told
/// to fail in the ways in which gateways and networks fail.
final class PaperGateway: Sendable {
    /// What happens to one request.
    enum Act: Sendable {
        /// It is answered, and nothing is done.
        case answer(Int, code: String)
        /// It is done, and something else is answered.
        case doneAndAnswered(Int, code: String)
        /// It is done, and the connection ends.
        case doneAndCut
        /// It is done, and half of the answer arrives.
        case doneAndHalf
        /// It is done, and the answer has no length and ends with its connection.
        case doneWithoutLength
        /// It is done, and the answer has no tag.
        case doneWithoutTag
        /// Nothing is answered, and nothing done.
        case stall
        /// Nothing is answered; it is done by ``deliver()``.
        case late
        /// Sends the client elsewhere.
        case redirect(String)
        /// A document, or an object, of so many bytes.
        case long(Int)
        /// An answer of 200 with this body.
        case body(String)
    }

    /// How this gateway differs from an honest one.
    struct Habits: Sendable {
        var ignoresAbsence = false
        var ignoresVersions = false
        /// As Ceph's: `If-Match` is compared with the digits alone.
        var wantsBareTags = false
        var losesBytes = false
        var pageLength = 1000
        /// Its time; nil if it looks at no times.
        var seconds: UInt64? = 1_800_000_000
    }

    struct Seen: Hashable, Sendable {
        let method: String
        let uri: String
        let headers: [String: String]
    }

    private struct State {
        var objects = PaperObjects()
        var acts: [Act] = []
        var late: [(S3Request, PutCondition?)] = []
        var seen: [Seen] = []
    }

    let credentials: S3Credentials
    private let habits: Habits
    private let state = Mutex(State())
    private let channel: any Channel
    private let holder: Holder

    /// - Parameter tls: what the gateway shows; nil for plain HTTP.
    init(_ credentials: S3Credentials, _ habits: Habits = Habits(), tls: NIOSSLContext? = nil) async throws {
        (self.credentials, self.habits) = (credentials, habits)
        let holder = Holder()
        self.holder = holder
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 64)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(GatewayHandler(holder))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        holder.gateway.withLock { $0 = self }
    }

    final class Holder: Sendable {
        let gateway = Mutex<PaperGateway?>(nil)
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    var seen: [Seen] { state.withLock { $0.seen } }

    /// What is in the bucket.
    func object(_ key: String) -> [UInt8]? { state.withLock { $0.objects.get(key)?.bytes } }

    /// What happens to the next requests; those after them are served.
    func next(_ acts: Act...) { state.withLock { $0.acts = acts } }

    /// Requests that were late arrive.
    func deliver() {
        state.withLock { state in
            for (request, condition) in state.late { _ = perform(request, condition, &state.objects) }
            state.late = []
        }
    }

    func close() async {
        try? await channel.close().get()
        holder.gateway.withLock { $0 = nil }
    }

    // MARK: Answering

    enum Reply: Sendable {
        case whole(Int, [S3Header], [UInt8])
        case half([S3Header], [UInt8])
        case unmeasured([S3Header], [UInt8])
        case cut
        case silence
    }

    func reply(to head: HTTPRequestHead, _ body: [UInt8]) -> Reply {
        var headers: [String: String] = [:]
        for (name, value) in head.headers { headers[name.lowercased()] = value }
        let request = parsed(head, headers, body)
        return state.withLock { state in
            state.seen.append(Seen(method: head.method.rawValue, uri: head.uri, headers: headers))
            if let code = refusal(request, head, headers) { return error(403, code) }
            let condition = condition(headers)
            guard !state.acts.isEmpty else { return perform(request, condition, &state.objects) }
            return act(state.acts.removeFirst(), request, condition, &state)
        }
    }

    private func act(_ act: Act, _ request: S3Request, _ condition: PutCondition?, _ state: inout State) -> Reply {
        func done() -> (status: Int, headers: [S3Header], body: [UInt8]) {
            guard case .whole(let status, let headers, let body) = perform(request, condition, &state.objects) else {
                return (500, [], [])
            }
            return (status, headers, body)
        }
        switch act {
        case .answer(let status, let code): return error(status, code)
        case .doneAndAnswered(let status, let code):
            _ = done()
            return error(status, code)
        case .doneAndCut:
            _ = done()
            return .cut
        case .doneAndHalf:
            let done = done()
            return .half(done.headers, done.body)
        case .doneWithoutLength:
            let done = done()
            return .unmeasured(done.headers, done.body)
        case .doneWithoutTag:
            let done = done()
            return .whole(done.status, [], done.body)
        case .stall: return .silence
        case .late:
            state.late.append((request, condition))
            return .silence
        case .redirect(let place): return .whole(307, [S3Header("location", place)], [])
        case .long(let count): return .whole(200, [S3Header("etag", "\"1\"")], [UInt8](repeating: 0x20, count: count))
        case .body(let text): return .whole(200, [S3Header("etag", "\"1\"")], Array(text.utf8))
        }
    }

    private func perform(_ request: S3Request, _ condition: PutCondition?, _ objects: inout PaperObjects) -> Reply {
        let path = Self.decoded(request.path)
        guard path.hasPrefix("/bucket") else { return error(404, "NoSuchBucket") }
        let key = String(path.dropFirst("/bucket/".count))
        switch request.method {
        case .put: return put(request.payload, key, condition, &objects)
        case .get where key.isEmpty: return list(request.query, objects)
        case .get:
            guard let object = objects.get(key) else { return error(404, "NoSuchKey") }
            return .whole(200, [S3Header("etag", object.tag.text)], habits.losesBytes ? [] : object.bytes)
        case .delete:
            objects.remove(key)
            return .whole(204, [], [])
        case .head: return error(400, "NotImplemented")
        }
    }

    private func put(
        _ bytes: [UInt8], _ key: String, _ condition: PutCondition?, _ objects: inout PaperObjects
    ) -> Reply {
        var condition = condition
        let there = objects.get(key)
        if habits.ignoresAbsence && condition == .ifAbsent { condition = there.map { .ifVersion($0.tag) } ?? .ifAbsent }
        if habits.ignoresVersions, case .ifVersion? = condition {
            condition = there.map { .ifVersion($0.tag) } ?? .ifAbsent
        }
        guard let condition else { return error(400, "NoCondition") }
        if case .ifVersion = condition, there == nil { return error(404, "NoSuchKey") }
        switch objects.put(bytes, at: key, condition) {
        case .written(let tag): return .whole(200, [S3Header("etag", tag.text)], [])
        case .changed: return error(412, "PreconditionFailed")
        }
    }

    private func list(_ query: String, _ objects: PaperObjects) -> Reply {
        var values: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            values[Self.decoded(parts[0])] = Self.decoded(parts.count > 1 ? parts[1] : "")
        }
        guard values["list-type"] == "2" else { return error(400, "NotImplemented") }
        let after = values["continuation-token"] ?? ""
        let rest = objects.list(values["prefix"] ?? "").filter { after.utf8.lexicographicallyPrecedes($0.utf8) }
        let page = rest.prefix(habits.pageLength)
        let isCut = page.count < rest.count
        let contents = page.map { "<Contents><Key>\(Self.escaped($0))</Key><Size>1</Size></Contents>" }.joined()
        let token = isCut ? "<NextContinuationToken>\(Self.escaped(page.last ?? ""))</NextContinuationToken>" : ""
        let text = "<ListBucketResult><IsTruncated>\(isCut)</IsTruncated>\(token)\(contents)</ListBucketResult>"
        return .whole(200, [], Array(text.utf8))
    }

    private func error(_ status: Int, _ code: String) -> Reply {
        let text = code.isEmpty ? "" : "<Error><Code>\(code)</Code><Message>words</Message></Error>"
        return .whole(status, [], Array(text.utf8))
    }

    // MARK: Reading

    private func parsed(_ head: HTTPRequestHead, _ headers: [String: String], _ body: [UInt8]) -> S3Request {
        let parts = head.uri.split(separator: "?", maxSplits: 1).map(String.init)
        let pairs = (parts.count > 1 ? parts[1] : "").split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (Self.decoded(parts[0]), Self.decoded(parts.count > 1 ? parts[1] : ""))
        }
        let signed = ["if-match", "if-none-match"].compactMap { name in headers[name].map { S3Header(name, $0) } }
        return S3Request(
            S3Request.Method(rawValue: head.method.rawValue) ?? .head, path: Self.decoded(parts[0]), query: pairs,
            headers: signed, payload: body)
    }

    private func refusal(_ request: S3Request, _ head: HTTPRequestHead, _ headers: [String: String]) -> String? {
        guard let seconds = Self.seconds(headers["x-amz-date"] ?? "") else { return "AccessDenied" }
        if let own = habits.seconds, max(own, seconds) - min(own, seconds) > 900 { return "RequestTimeTooSkewed" }
        let expected = S3Signature(
            request, host: headers["host"] ?? "", credentials: credentials, region: "us-east-1",
            secondsSince1970: seconds)
        return headers["authorization"] == expected.headers.last?.value ? nil : "SignatureDoesNotMatch"
    }

    private func condition(_ headers: [String: String]) -> PutCondition? {
        if headers["if-none-match"] == "*" { return .ifAbsent }
        guard let text = headers["if-match"] else { return nil }
        return .ifVersion(ObjectTag(habits.wantsBareTags ? "\"\(text)\"" : text))
    }

    /// Of `20270115T080000Z`: exact enough for this century.
    private static func seconds(_ text: String) -> UInt64? {
        let digits = text.filter(\.isNumber).map { UInt64($0.wholeNumberValue ?? 0) }
        guard digits.count == 14, text.count == 16 else { return nil }
        func number(_ range: Range<Int>) -> UInt64 { digits[range].reduce(0) { $0 * 10 + $1 } }
        let (year, month, day) = (number(0..<4), number(4..<6), number(6..<8))
        guard year >= 1970, (1...12).contains(month) else { return nil }
        let lengths: [UInt64] = [31, year % 4 == 0 ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        let years: UInt64 = (1970..<year).reduce(0) { $0 + ($1 % 4 == 0 ? 366 : 365) }
        let months: UInt64 = lengths.prefix(Int(month) - 1).reduce(0, +)
        let days: UInt64 = years + months + day - 1
        let (hours, minutes, seconds) = (number(8..<10), number(10..<12), number(12..<14))
        return ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    }

    private static func decoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            default: result.append(character)
            }
        }
    }
}

/// One connection of a ``PaperGateway``.
private final class GatewayHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let holder: PaperGateway.Holder
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ holder: PaperGateway.Holder) { self.holder = holder }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body) = (head, [])
        case .body(let buffer): body += buffer.readableBytesView
        case .end:
            guard let head, let gateway = holder.gateway.withLock({ $0 }) else { return context.close(promise: nil) }
            send(gateway.reply(to: head, body), to: context)
        }
    }

    private func send(_ reply: PaperGateway.Reply, to context: ChannelHandlerContext) {
        switch reply {
        case .whole(let status, let headers, let body):
            write(status, headers + (status == 204 ? [] : [S3Header("content-length", "\(body.count)")]), body, context)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .half(let headers, let body):
            write(
                200, headers + [S3Header("content-length", "\(max(2, body.count))")],
                Array(body.prefix(body.count / 2)), context)
            context.flush()
            context.close(promise: nil)
        case .unmeasured(let headers, let body):
            // As HTTP/1.0 does it: the encoder adds no length to it.
            var text = "HTTP/1.1 200 OK\r\nconnection: close\r\n"
            for header in headers { text += "\(header.name): \(header.value)\r\n" }
            let bytes = Array((text + "\r\n").utf8) + body
            let encoder = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
            encoder?.writeAndFlush(NIOAny(IOData.byteBuffer(ByteBuffer(bytes: bytes))), promise: nil)
            encoder?.close(promise: nil)
        case .cut: context.close(promise: nil)
        case .silence: break
        }
    }

    private func write(_ status: Int, _ headers: [S3Header], _ body: [UInt8], _ context: ChannelHandlerContext) {
        let fields = HTTPHeaders(headers.map { ($0.name, $0.value) })
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: status), headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
    }
}
