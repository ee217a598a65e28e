// SPDX-License-Identifier: Apache-2.0

import Crypto
import Foundation
import HTTPTypes
package import HummingbirdCore
import Issuance
public import Logging
package import SiteServer

/// An issuer of member cards as an example: HTTPS, offers in SQLite, nothing else. One value serves once.
public struct HTTPSIssuer: Sendable {
    private let service: IssuerService
    private let listener: HTTPSListener

    /// An issuer.
    ///
    /// - Parameters:
    ///   - certificateChain: PEM, the issuer's own first. Wallets and sites see it on each card.
    ///   - privateKey: PEM, of the curve P-256. It signs the cards too.
    /// - Throws: ``IssuerServerError/invalidCertificate``.
    public init(
        _ database: IssuerDatabase, certificateChain: [UInt8], privateKey: [UInt8]
    ) throws(IssuerServerError) {
        do {
            listener = try HTTPSListener(certificateChain: certificateChain, privateKey: privateKey)
            let key = try P256.Signing.PrivateKey(pemRepresentation: String(decoding: privateKey, as: UTF8.self))
            service = IssuerService(database, key: key, certificates: listener.certificates) {
                Int64(max(0, time(nil)))
            }
        } catch { throw .invalidCertificate }
    }

    /// Serves until SIGTERM or SIGINT.
    ///
    /// - Parameter onListening: gets the port once connections are accepted.
    /// - Throws: ``IssuerServerError/cannotListen``, or what else ended the server.
    public func run(
        host: String, port: Int, logger: Logger, onListening: @escaping @Sendable (Int) -> Void
    ) async throws {
        do {
            try await listener.run(
                host: host, port: port, logger: logger, answer: { try await Self.answer($0, from: service) },
                onListening: onListening)
        } catch SiteServerError.cannotListen { throw IssuerServerError.cannotListen }
    }

    private static let routes = Dictionary(uniqueKeysWithValues: IssuerRoute.allCases.map { ($0.path, $0) })

    /// Reads a request of HTTP and has the service answer it.
    package static func answer(_ request: Request, from service: IssuerService) async throws -> SiteReply {
        guard let route = routes[request.head.path ?? ""] else { return SiteReply(status: .notFound) }
        guard request.method == (route.isRead ? .get : .post) else { return SiteReply(status: .methodNotAllowed) }
        guard let body = try await HTTPSListener.body(of: request, limit: route.maximumByteCount) else {
            return SiteReply(status: .contentTooLarge)
        }
        let proof = HTTPField.Name("dpop").flatMap { request.headers[$0] }
        return await service.answer(
            .init(route: route, authorization: request.headers[.authorization], senderProof: proof, body: body))
    }
}

/// Why an issuer does not serve.
public enum IssuerServerError: Error, Hashable, Sendable {
    /// Key and certificates do not make a TLS server, or the key is not of the curve P-256.
    case invalidCertificate
    /// The address is in use, or is not one of this machine.
    case cannotListen
}
