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
    func answer(_ route: BrowserRoute, _ request: Request, from desk: SiteDesk) async throws -> SiteReply {
        let pages = SitePages(host: site.host, question: desk.question)
        switch route {
        case .style: return SitePages.style
        case .script: return SitePages.script
        case .home: return await home(request, desk, pages)
        case .state: return await state(request, desk)
        case .back: return pages.back
        case .begin, .finish, .arrive, .signOut: return try await change(route, request, desk, pages)
        }
    }

    private func home(_ request: Request, _ desk: SiteDesk, _ pages: SitePages) async -> SiteReply {
        guard let token = token(request) else { return pages.start }
        switch await desk.state(of: token, at: clock()) {
        case .signedIn: return pages.welcome
        case .answered: return pages.answered
        case .refused(let fault):
            await desk.end(token)
            return pages.refused(fault)
        case .asked, .confirmed, nil: return pages.start
        }
    }

    /// A word for the page that waits: another page may have begun since, in the same browser.
    private func state(_ request: Request, _ desk: SiteDesk) async -> SiteReply {
        let page = HTTPField.Name("Signet-Page").flatMap { request.headers[$0] }.map { JSONText($0) }
        let word =
            switch await desk.state(of: token(request), at: clock()) {
            case .asked(page): "wait"
            case .confirmed(_, page): "arrive"
            case .answered: "wait"
            case .asked, .confirmed, .signedIn, .refused, nil: "go on"
            }
        return SiteReply(mediaType: "text/plain; charset=utf-8", Array(word.utf8))
    }

    /// What changes something comes from the site's own pages.
    private func change(
        _ route: BrowserRoute, _ request: Request, _ desk: SiteDesk, _ pages: SitePages
    ) async throws -> SiteReply {
        guard request.headers[.origin] == "https://" + String(decoding: site.host.text, as: UTF8.self) else {
            return pages.problem(.forbidden)
        }
        guard let body = try await HTTPSListener.body(of: request, limit: BrowserRoute.maximumByteCount) else {
            return pages.problem(.contentTooLarge)
        }
        guard let form = body.isEmpty ? [:] : FormText.fields(body) else { return pages.problem(.badRequest) }
        do {
            switch route {
            case .begin: return try await begin(form, request, desk, pages)
            case .finish: return try await finish(form, request, desk, pages)
            case .arrive: return try await arrive(form, request, desk, pages)
            default:
                if let token = token(request) { await desk.end(token) }
                var reply = SitePages.goHome
                reply.fields.append(setting("", "; Max-Age=0"))
                return reply
            }
        } catch let fault as PresentationDeskFault {
            // The same step twice, as by a second click, takes nothing back.
            if case .signedIn = await desk.state(of: token(request), at: clock()) { return SitePages.goHome }
            return pages.refused(fault)
        }
    }

    private func begin(
        _ form: [JSONText: JSONText], _ request: Request, _ desk: SiteDesk, _ pages: SitePages
    ) async throws -> SiteReply {
        guard let device = form["device"], ["this", "other"].contains(device) else { return pages.problem(.badRequest) }
        if let token = token(request) { await desk.end(token) }
        let (next, now) = (Self.freshToken(), clock())
        let challenge = await site.challenge(at: now, random: Self.random(16))
        let waiting = try await desk.begin(
            next, page: Self.freshToken(), isOtherDevice: device == "other", challenge: challenge,
            random: Self.random(80), at: now)
        var reply = pages.waiting(waiting)
        reply.fields.append(setting(next))
        return reply
    }

    /// The code may come as it stands in the address, with the name before it.
    private func finish(
        _ form: [JSONText: JSONText], _ request: Request, _ desk: SiteDesk, _ pages: SitePages
    ) async throws -> SiteReply {
        guard let typed = form["code"]?.description else { return pages.problem(.badRequest) }
        let code = typed.split(separator: "=").last.map { $0.filter { $0 != " " } } ?? ""
        let next = Self.freshToken()
        // A browser without a session has none that the wallet could have answered for.
        try await desk.finish(JSONText(code), in: token(request) ?? "", next: next, at: clock())
        return arrived(next)
    }

    private func arrive(
        _ form: [JSONText: JSONText], _ request: Request, _ desk: SiteDesk, _ pages: SitePages
    ) async throws -> SiteReply {
        guard let page = form["page"] else { return pages.problem(.badRequest) }
        let next = Self.freshToken()
        try await desk.arrive(page: page, in: token(request) ?? "", next: next, at: clock())
        return arrived(next)
    }

    private func arrived(_ next: JSONText) -> SiteReply {
        var reply = SitePages.goHome
        reply.fields.append(setting(next))
        return reply
    }

    // MARK: The cookie

    /// `__Host-`: only this host can set it, over TLS, for all paths. Browsers send it to other ports of the host as well, which are other
    /// sites: so its name has the port.
    private var cookie: String {
        let port = site.host.text.split(separator: UInt8(ascii: ":")).dropFirst().first ?? ArraySlice("443".utf8)
        return "__Host-signet-" + String(decoding: port, as: UTF8.self)
    }

    private func token(_ request: Request) -> JSONText? {
        let pairs = (request.headers[.cookie] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        let mark = cookie + "="
        return pairs.first { $0.hasPrefix(mark) }.map { JSONText(String($0.dropFirst(mark.count))) }
    }

    private static func freshToken() -> JSONText {
        JSONText(String(decoding: Base64URL.encode(random(BrowserSessions.tokenByteCount)), as: UTF8.self))
    }

    private func setting(_ token: JSONText, _ more: String = "") -> (HTTPField.Name, String) {
        (.setCookie, "\(cookie)=\(token); Path=/; Secure; HttpOnly; SameSite=Lax\(more)")
    }
}
