// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import Presentation
import RelyingParty

/// Takes a request, and has the site decide.
struct SiteExchange: Sendable {
    let site: Site<SiteDatabase>
    let clock: @Sendable () -> UInt64
    let record: SiteRecord?
    /// Nil for a site that asks for no cards.
    let desk: SiteDesk?

    private static let routes = Dictionary(uniqueKeysWithValues: SiteRoute.allCases.map { ($0.path, $0) })

    func answer(_ request: Request) async throws -> SiteReply {
        let path = request.head.path ?? ""
        if let desk, let route = BrowserRoute(request.method, path) {
            do { return try await answer(route, request, from: desk) } catch is SiteStoreError {
                return SiteReply(status: .serviceUnavailable)
            }
        }
        if let desk, let (route, identifier) = Self.cardRoute(path) {
            return try await answer(request, limit: route.maximumByteCount) { body in
                do { return try await answer(route, identifier, body, from: desk) } catch is SiteStoreError {
                    return SiteReply(status: .serviceUnavailable)
                }
            }
        }
        guard let route = Self.routes[path] else { return SiteReply(status: .notFound) }
        return try await answer(request, limit: route.byteCount) { body in
            if route == .challenge { return SiteReply(await site.challenge(at: clock(), random: Self.random(16))) }
            do {
                return SiteReply(try await site.answer(route, body, at: clock(), random: Self.random(16)).encoded)
            } catch { return SiteReply(status: .serviceUnavailable) }
        }
    }

    /// Reads the body of a POST, and writes down both it and the answer if there is a record.
    private func answer(
        _ request: Request, limit: Int, _ decide: ([UInt8]) async throws -> SiteReply
    ) async throws -> SiteReply {
        guard request.method == .post else { return SiteReply(status: .methodNotAllowed) }
        guard let body = try await HTTPSListener.body(of: request, limit: limit) else {
            return SiteReply(status: .contentTooLarge)
        }
        let reply = try await decide(body)
        if reply.status != .serviceUnavailable { record?.add(request, body, reply.body) }
        return reply
    }

    static func random(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
