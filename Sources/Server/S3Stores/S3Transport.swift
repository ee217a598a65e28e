// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import Dispatch
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Platform
import S3Requests

/// Why there is no answer.
enum S3Silence: Error, Hashable, Sendable {
    /// No connection came about: the request was not sent.
    case notSent
    /// The connection ended, or the answer ended before its end.
    case broken
    /// It took too long.
    case deadline
    /// The answer is longer than allowed.
    case tooLong
    /// The connections were ended before: the request was not sent.
    case closed
}

/// Connections to one store. Redirects are not followed, and nothing is taken from the environment.
final class S3Transport: Sendable {
    private let client: HTTPClient
    private let configuration: S3Configuration
    /// Bodies of anything but objects.
    private static let maximumWordsByteCount = 1 << 20

    /// - Throws: ``S3ConfigurationError/certificateAuthorities``.
    init(_ configuration: S3Configuration) throws(S3ConfigurationError) {
        self.configuration = configuration
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        if let path = configuration.certificateAuthorities {
            guard let trusted = try? NIOSSLCertificate.fromPEMFile(path), !trusted.isEmpty else {
                throw .certificateAuthorities
            }
            tls.trustRoots = .certificates(trusted)
        }
        var settings = HTTPClient.Configuration(tlsConfiguration: tls, redirectConfiguration: .disallow)
        settings.httpVersion = .http1Only
        settings.timeout.connect = .nanoseconds(configuration.deadline.nanoseconds / 2)
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16
        settings.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    /// Who lets go of the transport need not have ended it: the client insists on being told.
    deinit { client.shutdown(queue: .global()) { _ in } }

    /// Ends all connections.
    func close() async { try? await client.shutdown() }

    /// Signs and sends a request, and waits for all of the answer.
    ///
    /// - Parameter limit: how long a body may be that comes with status 200.
    func send(_ request: S3Request, limit: Int) async throws(S3Silence) -> S3Answer {
        let outcome = await withTaskGroup(of: Result<S3Answer, S3Silence>?.self) { group in
            group.addTask { [self] in await result(of: request, limit: limit) }
            group.addTask { [configuration] in
                try? await Task.sleep(for: configuration.deadline)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        guard let outcome else { throw Task.isCancelled ? .broken : .deadline }
        return try outcome.get()
    }

    private func result(of request: S3Request, limit: Int) async -> Result<S3Answer, S3Silence> {
        do {
            let response = try await client.execute(
                signed(request), deadline: .now() + .nanoseconds(configuration.deadline.nanoseconds))
            return .success(try await answer(response, limit))
        } catch {
            return .failure(Self.silence(error))
        }
    }

    private func answer(_ response: HTTPClientResponse, _ limit: Int) async throws -> S3Answer {
        let isObject = response.status == .ok
        let body = try await response.body.collect(upTo: isObject ? limit : Self.maximumWordsByteCount)
        // An answer that ends with its connection may have lost its end.
        let headers = response.headers
        let isWhole = headers.contains(name: "content-length") || headers.contains(name: "transfer-encoding")
        guard isWhole || response.status == .noContent else { throw S3Silence.broken }
        let tags = headers["etag"]
        return S3Answer(
            status: Int(response.status.code), etag: tags.count == 1 ? tags[0] : nil,
            body: Array(body.readableBytesView))
    }

    private func signed(_ request: S3Request) -> HTTPClientRequest {
        let signature = S3Signature(
            request, host: configuration.endpoint.authority, credentials: configuration.credentials,
            region: configuration.region, secondsSince1970: configuration.now())
        let query = request.query.isEmpty ? "" : "?\(request.query)"
        var sent = HTTPClientRequest(url: configuration.endpoint.origin + request.path + query)
        sent.method = HTTPMethod(rawValue: request.method.rawValue)
        for header in signature.headers { sent.headers.add(name: header.name, value: header.value) }
        if request.method == .put { sent.body = .bytes(ByteBuffer(bytes: request.payload)) }
        return sent
    }

    private static func silence(_ error: any Error) -> S3Silence {
        switch error {
        case let silence as S3Silence: silence
        case is NIOTooManyBytesError: .tooLong
        case is NIOConnectionError: .notSent
        // Of a connection alone; other codes come in the middle of a request, too.
        case let error as IOError where error.errnoCode == ECONNREFUSED: .notSent
        case let error as HTTPClientError: silence(error)
        case NIOSSLError.handshakeFailed: .notSent
        case is NIOSSLExtraError: .notSent
        default: .broken
        }
    }

    private static func silence(_ error: HTTPClientError) -> S3Silence {
        if error == .deadlineExceeded { return .deadline }
        if error == .alreadyShutdown { return .closed }
        return error == .connectTimeout || error == .tlsHandshakeTimeout ? .notSent : .broken
    }
}

extension Duration {
    /// Whole nanoseconds; as many as fit.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : product + attoseconds / 1_000_000_000
    }
}
