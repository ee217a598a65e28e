// SPDX-License-Identifier: Apache-2.0

import Signet

/// What every page needs besides its own content.
struct PageContext: Sendable {
    let mount: String
    let formToken: String
    let handle: Handle?
    let isUnlocked: Bool
    /// Who is calling: every page's title says so.
    let ringing: [Handle]
    /// How many things need the person.
    let waitingCount: Int
    /// What was just done.
    let message: HTML?
    /// Why the directory was not reached, and when it was last.
    let offline: (advice: Advice, since: UInt64?)?
    let now: UInt64

    func to(_ route: WebRoute, _ query: [(String, String)] = []) -> WebPath { WebPath(route, below: mount, query) }

    /// A form that sends its fields to a route.
    func form(_ route: WebRoute, as kind: StaticString, _ content: HTML) -> HTML {
        """
        <form method="post" action="\(to(route))" class="\(word: kind)">\
        <input type="hidden" name="form-token" value="\(formToken)">\(content)</form>
        """
    }

    /// A page in the app's frame.
    ///
    /// - Parameters:
    ///   - current: the entry of the navigation that it belongs to.
    ///   - isNarrow: whether it is for reading or deciding, not for lists.
    ///   - live: where it asks for itself again, if it keeps itself up to date.
    func page(
        _ title: HTML, in current: WebRoute, isNarrow: Bool = false, live: WebPath? = nil, _ content: HTML
    ) -> HTML {
        let place: HTML = live.map { " data-live=\"\($0)\"" } ?? .none
        return """
            <!doctype html>
            <html lang="en" dir="ltr"><head><meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
            <title>\(ringing.first.map { "(\(ringing.count)) \($0.description) is calling" } ?? title) · Signet</title>
            <link rel="stylesheet" href="\(WebPath(asset: "signet.css"))">
            <link rel="icon" href="\(WebPath(asset: "icons/seal.svg"))" type="image/svg+xml">\(script(live != nil))</head>
            <body class="app"><a class="skip" href="#main">Skip to content</a>
            <header class="top"><a class="brand" href="\(to(.home))">\(Part.icon("seal"))Signet</a>\(me)</header>
            \(navigation(current))
            <main id="main" class="page\(HTML.when(isNarrow, " narrow"))" tabindex="-1"\(place)>\(offlineLine)\(said)\(content)</main>
            </body></html>
            """
    }

    private func script(_ isLive: Bool) -> HTML {
        HTML.when(isLive, "<script src=\"\(WebPath(asset: "signet.js"))\" defer></script>")
    }

    private var me: HTML {
        let lock: HTML =
            isUnlocked
            ? form(
                .lock, as: "lock", "<button class=\"plain-link\" type=\"submit\">\(Part.icon("lock"))Lock now</button>"
            )
            : "<a href=\"\(to(.unlock))\">\(Part.icon("lock")) Unlock</a>"
        return "<div class=\"me\"><span class=\"handle\">\(handle?.description ?? "No account")</span> \(lock)</div>"
    }

    private func navigation(_ current: WebRoute) -> HTML {
        let entries: [(WebRoute, StaticString, HTML)] = [
            (.home, "home", "Home"), (.people, "people", "People"), (.notes, "note", "Notes"),
            (.calls, "call", "Calls"), (.cards, "card", "Cards"),
            (.sites, "site", "Sites"), (.meet, "meet", "Meet"), (.guardians, "guard", "Guardians"),
            (.devices, "device", "Devices"),
            (.settings, "settings", "Settings"),
        ]
        let items = entries.map { route, icon, name -> HTML in
            let count: HTML = HTML.when(
                route == .home && waitingCount > 0,
                "<span class=\"count\">\(waitingCount)<span class=\"quiet\"> waiting</span></span>")
            let rings: HTML = HTML.when(
                route == .calls && !ringing.isEmpty,
                "<span class=\"count\">\(ringing.count)<span class=\"quiet\"> calling</span></span>")
            let here = HTML.when(route == current, " aria-current=\"page\"")
            // On a phone the bar has room for five; the settings lead to the rest.
            let wide = HTML.when([.guardians, .cards, .sites, .meet, .devices].contains(route), " class=\"wide\"")
            return
                "<li\(wide)><a href=\"\(to(route))\"\(here)>\(Part.icon(icon))<span>\(name)</span>\(count)\(rings)</a></li>"
        }
        return "<nav class=\"nav\" aria-label=\"Main\"><ul>\(items)</ul></nav>"
    }

    private var said: HTML {
        message.map { "<p class=\"said\" role=\"status\">\(Part.icon("check"))<span>\($0)</span></p>" } ?? .none
    }

    private var offlineLine: HTML {
        guard let offline else { return .none }
        let since: HTML = offline.since.map { " Last reached \(WebTime.words($0, now))." } ?? .none
        return """
            <p class="offline" role="status">\(Part.icon("offline"))<span>\(offline.advice.what)\(since) What is here stays readable; what you \
            write is kept and sent later.</span></p>
            """
    }
}
