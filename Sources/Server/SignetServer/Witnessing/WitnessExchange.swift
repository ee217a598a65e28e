// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import ConnectionLimits
import HTTPTypes
import HummingbirdCore
import LogWitness
import NIOCore
import TransparencyLog

/// Takes a request to a witness off the connection, has it answered and writes the answer.
///
/// Spec: C2SP tlog-witness v1.0.0, "HTTP Interface".
struct WitnessExchange: Sendable {
    let witness: Witness
    let addressRate: RateLimiter<ClientAddress>
    let limits: ServerLimits
    let metrics: ServerMetrics
    let clock: ServerClock
    let date: HTTPDate
    let onMemoryFailed: @Sendable (WitnessStoreError) -> Void

    /// Answers one request of a connection.
    ///
    /// - Throws: ``ConnectionEnd`` if the connection cannot go on, or what the connection throws.
    func run(
        _ request: Request, _ writer: consuming ResponseWriter, _ source: RequestChannel
    ) async throws {
        var body = BodyReader(request.headers, request.body, limit: limits.bodyByteCount)
        let start = clock.uptime()
        let answer = try await answer(request, &body, from: source.client.address)
        metrics.answered(
            Self.name(request.head.path ?? ""), answer.status.code, nanoseconds: Int64(clamping: clock.uptime() - start)
        )
        let isLast = body.isUnwanted
        let content =
            request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        try await writer.write(response: answer.response(at: date.now, isLast: isLast), body: content)
        if isLast {
            try await body.discard()
            throw ConnectionEnd()
        }
    }

    /// Under which a request is counted.
    private static func name(_ path: String) -> Destination.Name {
        switch path {
        case "/add-checkpoint": .addCheckpoint
        case "/health": .health
        default: path.hasSuffix("/checkpoint") ? .checkpoint : .other
        }
    }

    private func answer(
        _ request: Request, _ body: inout BodyReader, from client: ClientAddress
    ) async throws -> Answer {
        if let wait = addressRate.take(of: client, at: clock.uptime()) {
            metrics.refused(.addressRate)
            return .plain(.tooManyRequests, retryAfter: wait)
        }
        guard let bytes = try await body.read() else {
            metrics.refused(.bodySize)
            return .plain(.contentTooLarge)
        }
        do throws(WitnessError) { return try await answer(request, bytes) } catch { return refusal(error) }
    }

    private func answer(_ request: Request, _ body: [UInt8]) async throws(WitnessError) -> Answer {
        let path = request.head.path ?? ""
        switch (request.method, path) {
        case (.post, "/add-checkpoint"):
            return Answer(mediaType: Answer.textMediaType, body: try await witness.cosign(body))
        case (_, "/add-checkpoint"): return .notAllowed("POST")
        case (.get, "/health"), (.head, "/health"): return .text("ok\n")
        default: return try await checkpoint(request.method, path)
        }
    }

    /// `/<origin hash>/checkpoint`, for monitors.
    private func checkpoint(_ method: HTTPRequest.Method, _ path: String) async throws(WitnessError) -> Answer {
        let parts = Array(path.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, parts[2].elementsEqual("checkpoint".utf8), parts[1].count == 64,
            let hash = try? Hex.decode(Array(parts[1]))
        else { return .plain(.notFound) }
        guard method == .get || method == .head else { return .notAllowed("GET, HEAD") }
        guard let note = try await witness.checkpoint(originHash: hash) else { return .plain(.notFound) }
        var answer = Answer(mediaType: Answer.textMediaType, body: note)
        answer.cacheControl = "no-cache"
        return answer
    }

    private func refusal(_ error: WitnessError) -> Answer {
        switch error {
        case .refused(let refusal):
            return Answer(
                status: .init(code: refusal.status), mediaType: refusal.mediaType, body: refusal.body)
        case .tooManyRequests(let wait): return .plain(.tooManyRequests, retryAfter: wait)
        case .busy: return .plain(.serviceUnavailable, retryAfter: 1_000_000_000)
        case .memoryFailed(let error):
            onMemoryFailed(error)
            return .plain(.serviceUnavailable)
        }
    }
}

extension Answer {
    /// The status's own words.
    ///
    /// - Parameter wait: when the request may come again, in nanoseconds.
    fileprivate static func plain(_ status: HTTPResponse.Status, retryAfter wait: UInt64? = nil) -> Answer {
        var answer = Answer(
            status: status, mediaType: textMediaType, body: Array("\(status.reasonPhrase.lowercased())\n".utf8))
        if let wait { answer.headers.append((.retryAfter, "\(max(1, (wait + 999_999_999) / 1_000_000_000))")) }
        return answer
    }

    fileprivate static func notAllowed(_ allowed: String) -> Answer {
        var answer = plain(.methodNotAllowed)
        answer.headers.append((.allow, allowed))
        return answer
    }
}
