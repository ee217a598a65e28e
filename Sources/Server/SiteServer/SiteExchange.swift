// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import HTTPTypes
import HummingbirdCore
import NIOCore
import RelyingParty
import Synchronization

/// Takes a request off a connection, has the site decide, and writes the answer.
struct SiteExchange: Sendable {
    let site: Site<SiteDatabase>
    let clock: @Sendable () -> UInt64
    let record: SiteRecord?

    private static let routes = Dictionary(uniqueKeysWithValues: SiteRoute.allCases.map { ($0.path, $0) })

    func run(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        let (status, body) = try await answer(request)
        var fields = HTTPFields()
        fields[.contentType] = status == .ok ? SiteRoute.mediaType : "text/plain; charset=utf-8"
        fields[.contentLength] = "\(body.count)"
        fields[.cacheControl] = "no-store"
        fields[.connection] = "close"
        try await writer.write(
            response: HTTPResponse(status: status, headerFields: fields),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
        throw SiteConnectionEnd()  // anything that the client still sends is not read
    }

    private func answer(_ request: Request) async throws -> (HTTPResponse.Status, [UInt8]) {
        guard let route = Self.routes[request.head.path ?? ""] else { return (.notFound, []) }
        guard request.method == .post else { return (.methodNotAllowed, []) }
        guard let body = try await Self.body(of: request, limit: route.byteCount) else {
            return (.contentTooLarge, [])
        }
        var generator = SystemRandomNumberGenerator()
        let random = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let answer: [UInt8]
        if route == .challenge {
            answer = await site.challenge(at: clock(), random: random)
        } else {
            do { answer = try await site.answer(route, body, at: clock(), random: random).encoded } catch {
                return (.serviceUnavailable, [])
            }
        }
        record?.add(request, body, answer)
        return (.ok, answer)
    }

    private static func body(of request: Request, limit: Int) async throws -> [UInt8]? {
        var body: [UInt8] = []
        for try await part in request.body {
            guard body.count + part.readableBytes <= limit else { return nil }
            body += part.readableBytesView
        }
        return body
    }
}

private struct SiteConnectionEnd: Error {}
