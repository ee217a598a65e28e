// SPDX-License-Identifier: Apache-2.0

import PinnedHTTP
import Presentation
import RelyingParty
import StrictJSON

/// What a wallet sends to a site that asks for cards.
///
/// Spec: OpenID for Verifiable Presentations 1.0, sections 5.10 and 8.2. No redirect is followed.
extension SiteConnection {
    /// Fetches a request object. The site gives it once.
    func requestObject(at path: String, walletNonce: [UInt8]) async throws(SitesError) -> [UInt8] {
        let answer = try await form(
            path, [("wallet_nonce", walletNonce)],
            ResponseLimit(maximumByteCount: 65_536, mediaType: "application/oauth-authz-req+jwt"))
        guard answer.status == 200 else { throw .card(.refused(by: Self.check(answer.body))) }
        return answer.body
    }

    /// Posts an answer.
    ///
    /// - Returns: the address of the site that brings the response code back, and the code; nil if the site goes on by itself.
    func answer(
        _ sealed: [UInt8], to request: CardRequest
    ) async throws(SitesError) -> (address: JSONText, code: JSONText)? {
        let answer = try await form(
            request.answerPath, [("response", sealed)],
            ResponseLimit(maximumByteCount: 4096, mediaType: "application/json"))
        guard answer.status == 200 else { throw .card(.refused(by: Self.check(answer.body))) }
        let mark = Array("#response_code=".utf8)
        guard let members = try? JSONObject(decoding: answer.body) else { throw .malformedAnswer }
        if members["redirect_uri"] == nil, request.accepted.signIn?.needsDigits == true { return nil }
        guard let address = members["redirect_uri"]?.string, let fragment = address.utf8.firstRange(of: mark),
            let code = JSONText(utf8: Array(address.utf8[fragment.upperBound...])),
            code.utf8.count == CardRoute.codeByteCount, request.accepted.responseAddress.isBeside(address)
        else { throw .malformedAnswer }
        return (address, code)
    }

    /// Signs in on a route of cards.
    func send(_ route: CardRoute, _ body: [UInt8]) async throws(SitesError) -> [UInt8] {
        let request = TransportRequest(
            method: "POST", path: route.path, fields: [.init(name: "content-type", value: SiteRoute.mediaType)],
            body: body, limit: ResponseLimit(maximumByteCount: 2048, mediaType: SiteRoute.mediaType))
        let answer: TransportResponse
        do { answer = try await transport.send(request) } catch { throw .transport(error) }
        guard answer.status == 200 else { throw .noSite(status: answer.status) }
        return answer.body
    }

    private func form(
        _ path: String, _ fields: [(name: String, value: [UInt8])], _ limit: ResponseLimit
    ) async throws(SitesError) -> TransportResponse {
        let body = fields.map { Array("\($0.name)=".utf8) + FormText.escaped($0.value) }
        let request = TransportRequest(
            method: "POST", path: path,
            fields: [.init(name: "content-type", value: "application/x-www-form-urlencoded")],
            body: Array(body.joined(separator: [UInt8(ascii: "&")])), limit: limit, mayRepeat: false)
        do { return try await transport.send(request) } catch { throw .transport(error) }
    }

    /// The name of the check that the site says failed: nothing else of its text is used.
    private static func check(_ body: [UInt8]) -> RefusedCheck {
        (try? JSONObject(decoding: body))?["error"]?.string.flatMap { RefusedCheck(rawValue: $0.description) } ?? .other
    }
}

extension JSONText {
    /// Whether both addresses are of one site.
    fileprivate func isBeside(_ other: JSONText) -> Bool {
        let address = JSONText(utf8: Array(other.utf8.prefix { $0 != UInt8(ascii: "#") })).flatMap { HTTPSAddress($0) }
        return address != nil && HTTPSAddress(self)?.authority == address?.authority
    }
}
