// SPDX-License-Identifier: Apache-2.0

/// Decides which requests get an answer of the app: every request passes these checks, in this order, before any page is made.
struct RequestGate: Sendable {
    /// The port of this process.
    let port: Int
    let ledger: AccessLedger

    /// The name of the session's cookie. Cookies are shared between ports, so that two processes need two names.
    var cookieName: String { "signet-\(port)" }

    /// Judges the head of a request.
    ///
    /// Spec: Fetch Metadata (`Sec-Fetch-Site`), Fetch 3.2 (`Origin`), RFC 9110 7.2 (`Host`).
    func admit(_ head: WebHead, at now: UInt64) throws(GateRefusal) -> Admission {
        let host = try checkHost(head)
        switch head.parts.first {
        // Assets have nothing of the person. Any page or program may open a link: the link is itself the secret.
        case "assets": return .asset(Array(head.parts.dropFirst()))
        case "link": return .link(head.parts.dropFirst().first ?? "")
        default: break
        }
        try checkSite(head)
        let session = try checkSession(head, now)
        guard head.isPost else { return .page(session) }
        try checkOrigin(head, host)
        return .form(session)
    }

    /// Judges the body of a form: it has the token of its session.
    func check(_ form: FormBody, of session: WebSession) throws(GateRefusal) {
        guard session.isOwn(form[Self.tokenField]) else { throw .formToken }
    }

    static let tokenField = "form-token"

    /// The host is an address of this machine, not a name that an attacker's name server leads here.
    private func checkHost(_ head: WebHead) throws(GateRefusal) -> String {
        let own = ["127.0.0.1:\(port)", "[::1]:\(port)", "localhost:\(port)"]
        guard let host = head.host, own.contains(host) else { throw .host }
        return host
    }

    /// No page of another site or port caused the request. `none` means that the person typed or kept the address. A program that is no browser does
    /// not send the field; if there are several, none may be of another site.
    private func checkSite(_ head: WebHead) throws(GateRefusal) {
        guard head.values("sec-fetch-site").allSatisfy({ $0 == "same-origin" || $0 == "none" }) else {
            throw .anotherSite
        }
    }

    /// The request is below the path that only the session's browser knows, and has the session's cookie.
    private func checkSession(_ head: WebHead, _ now: UInt64) throws(GateRefusal) -> WebSession {
        guard let mount = head.parts.first, TokenDigest(of: mount) == TokenDigest(of: ledger.mount) else {
            throw .session
        }
        guard let cookie = head.cookie(cookieName), let session = ledger.session(of: cookie, at: now) else {
            throw .session
        }
        return session
    }

    /// A form comes from a page of this process. A page of another origin says so, and one without an origin says `null`.
    private func checkOrigin(_ head: WebHead, _ host: String) throws(GateRefusal) {
        guard head.value("origin") == "http://\(host)" else { throw .anotherOrigin }
    }
}

/// What an admitted request gets.
enum Admission: Sendable {
    /// A file that is the same for every request.
    case asset([String])
    /// A session, if the token opens one.
    case link(String)
    /// A page.
    case page(WebSession)
    /// What a form asks for, if it has the session's token.
    case form(WebSession)
}

/// Why a request gets no answer of the app.
enum GateRefusal: Error, Hashable, Sendable, CaseIterable {
    /// It names another host.
    case host
    /// A page of another site or port caused it.
    case anotherSite
    /// It has no session: no cookie, another process's cookie, or one whose time is over.
    case session
    /// The form is of another origin, or of none.
    case anotherOrigin
    /// The form does not have the token of its session.
    case formToken
}
