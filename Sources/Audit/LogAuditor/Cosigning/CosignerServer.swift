// SPDX-License-Identifier: Apache-2.0

package import ConnectionLimits
import NIOHTTP1

/// The HTTP side of an ``AuditCosigner``: plain HTTP/1.1, for the loopback interface and for proxies that add TLS.
///
/// An attacker who changes an answer in transit can withhold a cosignature, and no more. A client that opens
/// connections and sends nothing on them, or sends it slowly, does not keep others from being answered: connections are
/// counted in total and for each address, and each wait has an end that no byte postpones.
public final class CosignerServer: Sendable {
    private let server: PlainHTTPServer

    /// The port that it listens at.
    public var port: Int { server.port }

    /// Listens. Requests are answered until ``stop()``.
    ///
    /// - Parameter port: 0 for any free one.
    /// - Throws: ``CosignerServerError``.
    public convenience init(_ cosigner: AuditCosigner, host: String, port: Int) async throws(CosignerServerError) {
        try await self.init(cosigner, host: host, port: port, limits: CosignerLimits())
    }

    /// The same with other limits.
    package init(
        _ cosigner: AuditCosigner, host: String, port: Int, limits: CosignerLimits
    ) async throws(CosignerServerError) {
        server = try await PlainHTTPServer(host: host, port: port, limits: limits) { request in
            guard request.path.hasSuffix("/add-checkpoint") else { return .notFound }
            guard request.method == .POST else { return .wrongMethod("POST") }
            return await cosigner.answer(request.body)
        }
    }

    /// Stops listening.
    public func stop() async { await server.stop() }
}

/// What clients of a cosigner may take of it.
package struct CosignerLimits: Sendable {
    /// Open connections, over all clients: half of what this process may have open, and at most 512.
    package var connections = OpenFiles.half(atMost: 512)
    /// Open connections of one address. A proxy is one address.
    package var connectionsPerAddress = 64
    /// How long each wait may be; an answer may take an audit.
    package var times = ConnectionProgress.Times(
        handshake: .seconds(10), firstHead: .seconds(10), idle: .seconds(60), body: .seconds(15), answer: .seconds(120))

    /// The limits that `signet audit run` starts with.
    package init() {}
}

/// Why a server does not serve.
public enum CosignerServerError: Error, Hashable, Sendable {
    /// The address is in use, or is not one of this machine.
    case cannotListen
}
