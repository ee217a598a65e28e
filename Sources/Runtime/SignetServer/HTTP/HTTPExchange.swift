import ConnectionLimits
import HTTPTypes
import HummingbirdCore
import NIOCore
import SignetAPI

/// Takes a request off the connection, has it answered and writes the answer.
struct HTTPExchange: Sendable {
    let answering: RequestAnswering
    let addressRate: RateLimiter<ClientAddress>
    let bodies: BodyBudget
    let limits: ServerLimits
    let metrics: ServerMetrics
    let clock: ServerClock
    let date: HTTPDate
    let signals: SignalCarrier?
    let onLogStopped: @Sendable () -> Void

    /// Answers one request of a connection.
    ///
    /// - Throws: ``ConnectionEnd`` if the connection cannot go on, or what the connection throws.
    func run(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        let start = clock.uptime()
        let destination = Destination(
            method: request.method.rawValue, path: request.head.path ?? "", parts: answering.parts)
        var body = BodyReader(request, limit: destination.bodyByteCount(limit: limits.bodyByteCount))
        let answer = try await answer(request, &body, to: destination, channel)
        let isLast = body.isUnwanted || answer.isLast
        let content =
            request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        try await writer.write(response: answer.response(at: date.now, isLast: isLast), body: content)
        metrics.answered(
            destination.name, answer.status.code, nanoseconds: Int64(clamping: clock.uptime() - start))
        if isLast {
            if body.isUnwanted { try await body.discard() }
            throw ConnectionEnd()
        }
    }

    private func answer(
        _ request: Request, _ body: inout BodyReader, to destination: Destination, _ channel: any Channel
    ) async throws -> Answer {
        let client = ClientAddress(channel.remoteAddress)
        if let wait = addressRate.take(destination.cost, of: client, at: clock.uptime()) {
            metrics.refused(.addressRate)
            return .tooManyRequests(after: wait)
        }
        let byteCount = body.maximumByteCount
        let signature = Self.signatureHeader.flatMap { request.headers[$0] }
        do throws(Refusal) {
            try await answering.expect(
                destination, signature: signature, isLong: byteCount > limits.bodyByteCount)
        } catch { return error.answer }
        guard bodies.take(byteCount, of: client) else {
            metrics.refused(.bodiesInFlight)
            return .refusal(.unavailable)
        }
        defer { bodies.giveBack(byteCount, of: client) }
        guard let bytes = try await body.read() else {
            metrics.refused(.bodySize)
            return .refusal(.tooLarge)
        }
        let received = ReceivedRequest(
            destination: destination, method: request.method.rawValue, path: request.head.path ?? "",
            signature: signature, body: bytes, client: client)
        if case .signals = destination, let signals {
            let upgrade = await signals.upgrade(received, request.headers, answering)
            switch upgrade {
            case .refused(let answer): return answer
            case .granted(let upgrade):
                metrics.answered(destination.name, HTTPResponse.Status.switchingProtocols.code, nanoseconds: 0)
                try await upgrade.carry(on: channel)
                throw ConnectionEnd()
            }
        }
        do throws(LogStopped) { return try await answering.answer(received) } catch {
            onLogStopped()
            return .refusal(.unavailable)
        }
    }

    private static let signatureHeader = HTTPField.Name(RequestSignature.headerName)
}

/// The connection is of no more use.
struct ConnectionEnd: Error {}
