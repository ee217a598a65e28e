// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import DeviceIdentity
import HTTPTypes
import HummingbirdCore
import Presentation
import RelyingParty
import StrictJSON

/// Signing in with a browser: the wallet answers for the session whose page the person looks at.
extension SiteExchange {
    /// `__Host-`: only this host can set it, over TLS, for all paths.
    private static let cookie = "__Host-signet"

    func answer(_ route: BrowserRoute, _ request: Request, from desk: SiteDesk) async throws -> SiteReply {
        let pages = SitePages(host: site.host, question: desk.question)
        switch route {
        case .style: return SitePages.style
        case .script: return SitePages.script
        case .home: return try await home(request, desk, pages)
        case .waiting:
            guard case .asked(let link, let digits) = await desk.state(of: token(request), at: clock()) else {
                return SitePages.goTo(.home)
            }
            return pages.waiting(link: link, digits: digits)
        case .state: return SitePages.state(await desk.state(of: token(request), at: clock()))
        case .arrive: return pages.arriving
        case .begin, .finish, .signOut: return try await change(route, request, desk, pages)
        }
    }

    private func home(_ request: Request, _ desk: SiteDesk, _ pages: SitePages) async throws -> SiteReply {
        guard let token = token(request), case .signedIn(_, let isNew) = await desk.state(of: token, at: clock()) else {
            return pages.start
        }
        var page = pages.welcome
        let next = Self.freshToken()
        if isNew, await desk.renew(token, as: next, at: clock()) { page.fields.append(Self.setting(next)) }
        return page
    }

    /// What changes something comes from the site's own pages.
    private func change(
        _ route: BrowserRoute, _ request: Request, _ desk: SiteDesk, _ pages: SitePages
    ) async throws -> SiteReply {
        guard request.headers[.origin] == "https://" + String(decoding: site.host.text, as: UTF8.self) else {
            return SiteReply(status: .forbidden)
        }
        guard let body = try await HTTPSListener.body(of: request, limit: BrowserRoute.maximumByteCount) else {
            return SiteReply(status: .contentTooLarge)
        }
        guard let form = body.isEmpty ? [:] : FormText.fields(body) else { return SiteReply(status: .badRequest) }
        do {
            switch route {
            case .begin: return try await begin(form, request, desk)
            case .finish: return try await finish(form, request, desk)
            default:
                if let token = token(request) { await desk.end(token) }
                var reply = SitePages.goTo(.home)
                reply.fields.append(Self.forgetting)
                return reply
            }
        } catch let fault as PresentationDeskFault { return pages.refused(fault) }
    }

    private func begin(_ form: [JSONText: JSONText], _ request: Request, _ desk: SiteDesk) async throws -> SiteReply {
        guard let device = form["device"], ["this", "other"].contains(device) else {
            return SiteReply(status: .badRequest)
        }
        if let token = token(request) { await desk.end(token) }
        let (next, now) = (Self.freshToken(), clock())
        let challenge = await site.challenge(at: now, random: Self.random(16))
        try await desk.begin(
            next, isOtherDevice: device == "other", challenge: challenge, random: Self.random(80), at: now)
        var reply = SitePages.goTo(.waiting)
        reply.fields.append(Self.setting(next))
        return reply
    }

    private func finish(_ form: [JSONText: JSONText], _ request: Request, _ desk: SiteDesk) async throws -> SiteReply {
        guard let code = form["code"] else { return SiteReply(status: .badRequest) }
        let next = Self.freshToken()
        // A browser without a session has none that the wallet could have answered for.
        try await desk.finish(code, in: token(request) ?? "", next: next, at: clock())
        var reply = SitePages.goTo(.home)
        reply.fields.append(Self.setting(next))
        return reply
    }

    // MARK: The cookie

    private func token(_ request: Request) -> JSONText? {
        let pairs = (request.headers[.cookie] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        let mark = Self.cookie + "="
        return pairs.first { $0.hasPrefix(mark) }.map { JSONText(String($0.dropFirst(mark.count))) }
    }

    private static func freshToken() -> JSONText {
        JSONText(String(decoding: Base64URL.encode(random(BrowserSessions.tokenByteCount)), as: UTF8.self))
    }

    private static func setting(_ token: JSONText) -> (HTTPField.Name, String) {
        (.setCookie, "\(cookie)=\(token); Path=/; Secure; HttpOnly; SameSite=Lax")
    }

    private static let forgetting: (HTTPField.Name, String) =
        (.setCookie, "\(cookie)=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0")
}
