// SPDX-License-Identifier: Apache-2.0

import ConnectionLimits
import HTTPTypes
import HummingbirdCore
import NIOCore
import SignalBroker
import SignetAPI

/// Takes a request off the connection, has it answered and writes the answer.
struct HTTPExchange: Sendable {
    let answering: RequestAnswering
    let addressRate: RateLimiter<ClientAddress>
    let ledger: ConnectionLedger
    let bodies: BodyBudget
    let limits: ServerLimits
    let metrics: ServerMetrics
    let clock: ServerClock
    let date: HTTPDate
    let signals: SignalCarrier?
    let onLogStopped: @Sendable () -> Void

    /// Answers one request; one on a connection of HTTP/1.1 may make it one of signals.
    ///
    /// - Throws: ``ConnectionEnd`` if the connection, or the stream, cannot go on, or what the connection throws.
    func run(
        _ request: Request, _ writer: consuming ResponseWriter, _ source: RequestChannel
    ) async throws {
        let start = clock.uptime()
        let destination = Destination(
            method: request.method.rawValue, path: request.head.path ?? "", parts: answering.parts)
        var body = BodyReader(
            request.headers, request.body, limit: destination.bodyByteCount(limit: limits.bodyByteCount))
        // A balancer that looks whether the server is up names nobody.
        let sender =
            source.client.sender { Self.forwardedFor(request.headers) }
            ?? (destination.name == .health ? source.client.address : nil)
        // A connection that clients share is none of theirs, so each request counts as one until it is over.
        let counted = source.client.isShared ? sender : nil
        if let limit = counted.flatMap({ ledger.name($0) }) {
            metrics.refused(limit)
            let answer = Answer.tooManyRequests(after: 1_000_000_000)
            try await write(answer, isLast: true, to: request, at: destination, since: start, writer)
            throw ConnectionEnd()
        }
        defer { if let counted { ledger.unname(counted) } }
        let answer =
            if let sender {
                try await answer(request.head, &body, to: destination, from: sender, upgrading: source.upgradable)
            } else { Answer.refusal(.badRequest) }
        let isLast = body.isUnwanted || answer.isLast
        try await write(answer, isLast: isLast, to: request, at: destination, since: start, writer)
        if isLast {
            if body.isUnwanted { try await body.discard() }
            throw ConnectionEnd()
        }
        // A refusal may come before the body, which holds the connection until it is there.
        if counted != nil, try await !body.discard() { throw ConnectionEnd() }
    }

    private func write(
        _ answer: Answer, isLast: Bool, to request: Request, at destination: Destination, since start: UInt64,
        _ writer: consuming ResponseWriter
    ) async throws {
        let content =
            request.method == .head ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body))
        try await writer.write(response: answer.response(at: date.now, isLast: isLast), body: content)
        metrics.answered(
            destination.name, answer.status.code, nanoseconds: Int64(clamping: clock.uptime() - start))
    }

    /// Answers one request that came to another server, in which this one is mounted.
    ///
    /// - Returns: nil if the path is none of the directory's. Health, metrics and the signals of calls are not mounted.
    func mounted(_ head: HTTPRequest, _ content: RequestBody, from client: ClientAddress) async throws -> Response? {
        let start = clock.uptime()
        let path = head.path ?? ""
        guard Destination.isMounted(path, parts: answering.parts) else { return nil }
        let destination = Destination(method: head.method.rawValue, path: path, parts: answering.parts)
        var body = BodyReader(
            head.headerFields, content, limit: destination.bodyByteCount(limit: limits.bodyByteCount))
        let answer = try await answer(head, &body, to: destination, from: client, upgrading: nil)
        if body.isUnwanted { try await body.discard() }
        metrics.answered(
            destination.name, answer.status.code, nanoseconds: Int64(clamping: clock.uptime() - start))
        let response = answer.response(at: date.now, isLast: answer.isLast || body.isUnwanted)
        return Response(
            status: response.status, headers: response.headerFields,
            body: head.method == .head ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    }

    /// - Parameter channel: where signals of calls go if they are asked for; nil: nowhere.
    private func answer(
        _ request: HTTPRequest, _ body: inout BodyReader, to destination: Destination, from client: ClientAddress,
        upgrading channel: (any Channel)?
    ) async throws -> Answer {
        if let refusal = charge(client, for: destination) { return refusal }
        let byteCount = body.maximumByteCount
        let signature = Self.signatureHeader.flatMap { request.headerFields[$0] }
        let known = Self.knownSizeHeader.flatMap { request.headerFields[$0] }.flatMap(KnownSize.size)
        do throws(Refusal) {
            try await answering.expect(
                destination, signature: signature, isLong: byteCount > limits.bodyByteCount, knowing: known)
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
            destination: destination, method: request.method.rawValue, path: request.path ?? "",
            signature: signature, body: bytes, client: client,
            proof: Self.proof(in: request.headerFields),
            acceptsBrotli: Self.acceptsBrotli(request.headerFields),
            knownSize: known)
        if case .signals = destination, let signals, let channel {
            let upgrade = await signals.upgrade(received, request.headerFields, answering)
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

    /// Lets an address pay for a request.
    ///
    /// - Returns: what it is told if it has asked for too much; otherwise nil.
    func charge(_ client: ClientAddress, for destination: Destination) -> Answer? {
        guard let wait = addressRate.take(destination.cost, of: client, at: clock.uptime()) else { return nil }
        metrics.refused(.addressRate)
        return .tooManyRequests(after: wait)
    }

    /// Whether `br` is one of the codings that a client lists, without a weight, as browsers do (RFC 9110, section 12.5.3).
    private static func acceptsBrotli(_ fields: HTTPFields) -> Bool {
        (fields[.acceptEncoding] ?? "").split(separator: ",").contains { $0.filter { $0 != " " } == "br" }
    }

    private static func forwardedFor(_ fields: HTTPFields) -> [String] {
        HTTPField.Name(TrustedProxies.forwardedFor).map { fields[values: $0] } ?? []
    }

    private static let signatureHeader = HTTPField.Name(RequestSignature.headerName)
    private static let knownSizeHeader = HTTPField.Name(KnownSize.headerName)
    private static let proofHeaders = [
        Invitation.headerName, RegistrationToken.headerName, MailCode.headerName,
    ].map { HTTPField.Name($0) }

    /// What a registration shows; one that cannot be read counts as none.
    private static func proof(in fields: HTTPFields) -> RegistrationProof? {
        let values = proofHeaders.map { name in name.flatMap { fields[$0] }.map { Array($0.utf8) } }
        if let invitation = values[0].flatMap({ Invitation(headerValue: $0) }) { return .invitation(invitation) }
        if let token = values[1].flatMap({ RegistrationToken(bytes: $0) }) { return .token(token) }
        return values[2].flatMap { MailCode(digits: $0) }.map { .code($0) }
    }
}

extension HTTPExchange {
    /// With the limits of a configuration, counted from now on.
    init(
        answering directory: any DirectoryAnswering, _ parts: PartTable, signals: (any SignalExchange)?,
        configuration: HTTPSServer.Configuration, metrics: ServerMetrics, limits inForce: LimitsInForce? = nil,
        reporting logWatch: LogWatch, readiness: Readiness = Readiness()
    ) {
        let (limits, clock) = (configuration.limits, configuration.clock)
        let inForce = inForce ?? LimitsInForce(configuration)
        self.init(
            answering: RequestAnswering(
                directory: directory, parts: parts,
                accountRate: inForce.accountRate, metrics: metrics, clock: clock, addressRate: inForce.addressRate,
                registrations: AttemptLimiter(limits.registrations, remembering: limits.rememberedClients),
                registersByInvitation: { inForce.registersByInvitation }, desk: configuration.registration,
                marks: configuration.marks,
                readiness: readiness,
                operators: configuration.operators),
            addressRate: inForce.addressRate, ledger: inForce.ledger, bodies: BodyBudget(limits), limits: limits,
            metrics: metrics,
            clock: clock,
            date: HTTPDate(clock), signals: signals.map { SignalCarrier(exchange: $0, metrics: metrics) },
            onLogStopped: { logWatch.logStopped() })
    }
}

/// The connection is of no more use.
struct ConnectionEnd: Error {}
