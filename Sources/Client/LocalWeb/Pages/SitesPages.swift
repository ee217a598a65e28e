// SPDX-License-Identifier: Apache-2.0

import Foundation
import SecretMemory
import Signet

/// Sites, each of which knows another side of the user.
extension WebPages {
    /// What the form offers to do at a site.
    private enum SiteAct: String, CaseIterable {
        case signIn = "sign-in"
        case register, object
        case newKeys = "new-keys"
        case forget

        var name: HTML {
            switch self {
            case .signIn: "Sign in"
            case .register: "Register, as someone whom no other site knows"
            case .object: "Object to new keys that someone asked for in my name"
            case .newKeys: "Give it new keys, after a recovery or if someone may have copied this device"
            case .forget: "Forget it, and erase the only keys to what I have there"
            }
        }
    }

    func sites(
        _ request: WebRequest, _ notice: HTML = .none, listing: [SiteBook.Listing]? = nil, status: Int = 200
    ) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        let context = await context(request.session)
        let typed = request.form ?? request.session.takeTyped(of: .sites)
        let host = typed?["host"] ?? request.query["host"] ?? ""
        let chosen = typed?["act"].flatMap { SiteAct(rawValue: $0) } ?? .signIn
        let acts = SiteAct.allCases.map { act -> HTML in
            "<option value=\"\(act.rawValue)\"\(HTML.when(act == chosen, " selected"))>\(act.name)</option>"
        }
        let content: HTML = """
            <div class="head"><div><h1>Sites</h1><p class="lead">Each knows another side of you. What two of them hold has nothing in \
            common.</p></div></div>\(notice)\
            \(context.form(
                .sites, as: "card",
                """
                \(Part.field(
                    "Address of the site", name: "host", value: host, help: "Like shop.example. Its certificate has to prove the name.",
                    more: " inputmode=\"url\" required"))\
                <div class="field"><label for="act">What to do there</label><select id="act" name="act">\(acts)</select></div>\
                \(Part.passphrase("For this act alone, at this site and at no other."))\
                <div class="line end">\(Part.button("Go on", as: "button main"))</div>
                """))\(list(listing, context))
            """
        return .page(context.page("Sites", in: .sites, isNarrow: true, content), status: status)
    }

    /// The list is sealed: it says where a person is known.
    private func list(_ listing: [SiteBook.Listing]?, _ context: PageContext) -> HTML {
        guard let listing else {
            return """
                <details id="known"><summary>Show the sites that know you</summary>\(context.form(
                    .knownSites, as: "card",
                    """
                    <div class="field"><label for="list-passphrase">Passphrase</label><input id="list-passphrase" name="passphrase" \
                    type="password" autocomplete="current-password" required><p class="help">The list is sealed with your keys.</p></div>\
                    <div class="line end">\(Part.button("Show them"))</div>
                    """))</details>
                """
        }
        guard !listing.isEmpty else { return Part.empty("site", "<p>No site knows you yet.</p>") }
        let rows = listing.map { site -> HTML in
            let host = String(decoding: site.host.text, as: UTF8.self)
            let since: HTML =
                site.since.map { "Known since \(WebTime.day($0, context.now))." } ?? "Only its recovery key is here."
            let wants: HTML = HTML.when(
                site.needsNewKeys, " It still knows you from before your recovery: give it new keys.")
            return """
                <li><a class="row" href="\(context.to(.sites, [("host", host)]))">\(Part.icon("site"))<span class="grow"><span class="strong">\
                \(host)</span><span class="small muted">\(since)\(wants)</span></span>\(Part.icon("next"))</a></li>
                """
        }
        return """
            <section class="section" aria-labelledby="known"><h2 id="known">Sites that know you</h2><ul class="list">\(rows)</ul></section>
            """
    }

    func takeKnownSites(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let context = await context(request.session)
        do throws(SignetError) {
            let passphrase = SecretBytes(copying: (form["passphrase"] ?? "").utf8)
            let sites = try await account.approved(.showSites, with: passphrase) {
                account, approval throws(SignetError) in
                try await account.sites(approval)
            }
            return try await self.sites(request, listing: sites)
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await sites(request, Part.notice(await advice(error), .changed, context), status: 422)
        }
    }

    func takeSite(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let context = await context(request.session)
        let typed = (form["host"] ?? "").trimmed
        var bare = typed.hasPrefix("https://") ? String(typed.dropFirst(8)) : typed
        if bare.hasSuffix("/") { bare.removeLast() }
        guard let act = form["act"].flatMap({ SiteAct(rawValue: $0) }),
            let address = try? ServerAddress("https://" + bare)
        else {
            let advice = Advice(
                "That is not the address of a site.", means: "Nothing was sent.",
                "An address looks like shop.example or shop.example:8443.")
            return try await sites(request, Part.notice(advice, .changed, context), status: 422)
        }
        do throws(SignetError) {
            let passphrase = SecretBytes(copying: (form["passphrase"] ?? "").utf8)
            let done = try await carryOut(act, at: address, passphrase, context)
            return try await sites(WebRequest(route: .sites, query: .empty, form: nil, session: request.session), done)
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            let advice = wording.advice(error, at: address.authority, in: await account.home)
            return try await sites(
                request, Part.notice(advice, error.isOfInterception ? .alarm : .changed, context),
                status: error.family == .environment ? 503 : 422)
        }
    }

    /// - Returns: what came of it.
    private func carryOut(
        _ act: SiteAct, at address: ServerAddress, _ passphrase: SecretBytes, _ context: PageContext
    ) async throws(SignetError) -> HTML {
        let site = try await account.site(address)
        let host = String(decoding: site.host.text, as: UTF8.self)
        func good(_ what: String) -> HTML { Part.notice(Advice(what, ""), .good, context) }
        switch act {
        case .signIn:
            let due = try await account.approved(.signIn(site.host), with: passphrase) {
                account, approval throws(SignetError) in
                try await account.signIn(at: site, approval)
            }
            guard let due else { return good("You are signed in at \(host).") }
            let advice = Advice(
                "You are signed in at \(host), and someone asked it for new keys in your name.",
                means:
                    "They are accepted from \(WebTime.words(UInt64(max(0, due.timeIntervalSince1970)), context.now)) on.",
                "If that was not you, object below.")
            return Part.notice(advice, .changed, context)
        case .register:
            try await account.approved(.register(site.host), with: passphrase) {
                account, approval throws(SignetError) in
                try await account.register(at: site, approval)
            }
            return good("\(host) now knows you, by keys that no other site sees.")
        case .object:
            try await account.approved(.objectAt(site.host), with: passphrase) {
                account, approval throws(SignetError) in
                try await account.object(at: site, approval)
            }
            return good("\(host) does not accept those keys: you objected.")
        case .newKeys:
            let until = try await account.approved(.reRegister(site.host), with: passphrase) {
                account, approval throws(SignetError) in
                try await account.giveNewKeys(to: site, approval)
            }
            return good(
                until.map {
                    "\(host) accepts your new keys from \(WebTime.words(UInt64(max(0, $0.timeIntervalSince1970)), context.now)) on: do this once more then."
                } ?? "\(host) has your new keys, and the old ones no longer count.")
        case .forget:
            try await account.approved(.forgetSite(site.host), with: passphrase) {
                account, approval throws(SignetError) in
                try await account.forget(site.host, approval)
            }
            return good("\(host) is forgotten here. It was not told.")
        }
    }
}

extension SignetError {
    /// Whether somebody may stand between this device and a site. That a site refuses something is no alarm.
    fileprivate var isOfInterception: Bool { if case .sites(.transport(.refused)) = self { true } else { false } }
}
