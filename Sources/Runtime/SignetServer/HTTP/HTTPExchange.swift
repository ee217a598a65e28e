import HTTPTypes
import HummingbirdCore
import NIOCore
import SignetAPI

/// Takes a request off the connection, has it answered and writes the answer.
struct HTTPExchange: Sendable {
    let answering: RequestAnswering
    let addressRate: RateLimiter<ClientAddress>
    let limits: ServerLimits
    let metrics: ServerMetrics
    let clock: ServerClock
    let date: HTTPDate
    let onLogStopped: @Sendable () -> Void

    /// How much of an unwanted body is read and thrown away, so that the client sees the refusal before the
    /// connection closes, in bytes.
    private static let lingerByteCount = 1 << 20

    /// Answers one request of a connection.
    ///
    /// - Throws: ``ConnectionEnd`` if the connection cannot go on, or what the connection throws.
    func run(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        let start = clock.uptime()
        let destination = Destination(
            method: request.method.rawValue, path: request.head.path ?? "")
        let (answer, endsConnection) = try await answer(request, to: destination, channel)
        let response = response(answer, endsConnection: endsConnection)
        let body = request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        try await writer.write(response: response, body: body)
        metrics.answered(
            destination.name, answer.status.code, nanoseconds: Int64(clamping: clock.uptime() - start))
        if endsConnection {
            try await discard(request.body)
            throw ConnectionEnd()
        }
    }

    private func answer(
        _ request: Request, to destination: Destination, _ channel: any Channel
    ) async throws -> (Answer, endsConnection: Bool) {
        let client = ClientAddress(channel.remoteAddress)
        if let wait = addressRate.take(destination.cost, of: client, at: clock.uptime()) {
            metrics.refused(.addressRate)
            return (.tooManyRequests(after: wait), !isBodyShort(request))
        }
        guard let body = try await wholeBody(of: request) else {
            metrics.refused(.bodySize)
            return (.refusal(.tooLarge), true)
        }
        let received = ReceivedRequest(
            destination: destination, method: request.method.rawValue, path: request.head.path ?? "",
            signature: Self.signatureHeader.flatMap { request.headers[$0] }, body: body, client: client)
        do throws(LogStopped) { return (try await answering.answer(received), false) } catch {
            onLogStopped()
            return (.refusal(.unavailable), true)
        }
    }

    /// The body, or nil if it is longer than any route takes.
    private func wholeBody(of request: Request) async throws -> [UInt8]? {
        if request.headers.contains(.contentLength), !isBodyShort(request) { return nil }
        do {
            let buffer = try await request.body.collect(upTo: limits.bodyByteCount)
            return Array(buffer.readableBytesView)
        } catch is NIOTooManyBytesError { return nil }
    }

    /// Whether the headers say that the body is within the limit.
    private func isBodyShort(_ request: Request) -> Bool {
        guard let length = request.headers[.contentLength] else {
            return !request.headers.contains(.transferEncoding)
        }
        return Int(length).map { $0 <= limits.bodyByteCount } ?? false
    }

    private func discard(_ body: RequestBody) async throws {
        var count = 0
        for try await part in body {
            count += part.readableBytes
            guard count <= Self.lingerByteCount else { return }
        }
    }

    private func response(_ answer: Answer, endsConnection: Bool) -> HTTPResponse {
        var headers = HTTPFields()
        headers[.contentType] = answer.mediaType
        headers[.contentLength] = "\(answer.body.count)"
        headers[.cacheControl] = answer.cacheControl
        headers[.xContentTypeOptions] = "nosniff"
        headers[.date] = date.now
        if endsConnection { headers[.connection] = "close" }
        for (name, value) in answer.headers { headers[name] = value }
        return HTTPResponse(status: answer.status, headerFields: headers)
    }

    private static let signatureHeader = HTTPField.Name(RequestSignature.headerName)
}

/// The connection is of no more use.
struct ConnectionEnd: Error {}
