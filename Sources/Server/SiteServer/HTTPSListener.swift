// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
package import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import NIOSSL
import ServiceLifecycle
import UnixSignals

/// HTTPS for a small service: certificates, limits for clients, and one request for each connection.
package struct HTTPSListener: Sendable {
    /// The certificates, DER, the service's own first.
    package let certificates: [[UInt8]]
    /// What clients may take; tests have other limits.
    package var limits = SiteLimits()
    private let tls: NIOSSLContext

    /// - Parameters:
    ///   - certificateChain: PEM, the service's own first.
    ///   - privateKey: PEM.
    /// - Throws: ``SiteServerError/invalidCertificate``.
    package init(certificateChain: [UInt8], privateKey: [UInt8]) throws(SiteServerError) {
        do {
            let chain = try NIOSSLCertificate.fromPEMBytes(certificateChain)
            let key = try NIOSSLPrivateKey(bytes: privateKey, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            tls = try NIOSSLContext(configuration: configuration)
            certificates = try chain.map { try $0.toDERBytes() }
        } catch { throw .invalidCertificate }
    }

    /// Serves until SIGTERM or SIGINT, or until its task is cancelled.
    ///
    /// - Parameters:
    ///   - answer: what a request is answered with; the connection ends then.
    ///   - onListening: gets the port once connections are accepted.
    /// - Throws: ``SiteServerError/cannotListen``, or what else ended the server.
    package func run(
        host: String, port: Int, logger: Logger, answer: @escaping @Sendable (Request) async throws -> SiteReply,
        onListening: @escaping @Sendable (Int) -> Void
    ) async throws {
        let responder: HTTPChannelHandler.Responder = { request, writer, _ in
            let reply = try await answer(request)
            try await Self.write(reply, to: writer)
            throw ConnectionEnd()  // anything that the client still sends is not read
        }
        let server = Server(
            childChannelSetup: SiteChannel(tls: tls, limits: limits, responder: responder),
            configuration: ServerConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { onListening($0.localAddress?.port ?? 0) },
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: logger)
        var group = ServiceGroupConfiguration(
            services: [.init(service: server, successTerminationBehavior: .gracefullyShutdownGroup)],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(5)
        do { try await ServiceGroup(configuration: group).run() } catch is IOError {
            throw SiteServerError.cannotListen
        }
    }

    /// The body of a request; nil if it is longer than the limit.
    package static func body(of request: Request, limit: Int) async throws -> [UInt8]? {
        var body: [UInt8] = []
        for try await part in request.body {
            guard body.count + part.readableBytes <= limit else { return nil }
            body += part.readableBytesView
        }
        return body
    }

    private static func write(_ reply: SiteReply, to writer: consuming ResponseWriter) async throws {
        var fields = HTTPFields()
        fields[.contentType] = reply.mediaType
        fields[.contentLength] = "\(reply.body.count)"
        fields[.cacheControl] = "no-store"
        fields[.connection] = "close"
        if let name = HTTPField.Name("X-Content-Type-Options") { fields[name] = "nosniff" }
        for field in reply.fields { fields.append(HTTPField(name: field.name, value: field.value)) }
        try await writer.write(
            response: HTTPResponse(status: reply.status, headerFields: fields),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
    }
}

private struct ConnectionEnd: Error {}
