// SPDX-License-Identifier: Apache-2.0

import Signet

extension WebPages {
    /// How many rows of a list a page has.
    static let listCount = 100

    func people(_ request: WebRequest, _ advice: Advice?, status: Int = 422) async throws(SignetError) -> WebAnswer {
        let people = try await account.everybody()
        let context = await context(request.session)
        let typed = request.form ?? request.session.takeTyped(of: .people)
        let term = request.query["q"] ?? ""
        let found = people.filter { term.isEmpty || $0.handle.description.contains(term.lowercased()) }
        let content: HTML = """
            <div class="head"><div><h1>People</h1></div></div>\(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(section("Ask you", "ask", found.filter(\.asks).map { asking($0, context) }))\
            \(section("Stopped until you decide", "stopped", found.filter { $0.isStopped && !$0.asks }.map { row($0, context) }))\
            \(everybody(
                found.filter { !$0.needsDecision }, of: people.count, term, page: request.query["page"], context))\
            \(adding(typed?["handle"] ?? "", context))\(PeopleWords.legend)
            """
        return .page(context.page("People", in: .people, content), status: advice == nil ? 200 : status)
    }

    private func section(_ title: HTML, _ name: StaticString, _ rows: [HTML]) -> HTML {
        HTML.when(
            !rows.isEmpty,
            """
            <section class="section" aria-labelledby="\(word: name)"><h2 id="\(word: name)">\(title)</h2>\
            <ul class="list">\(rows)</ul></section>
            """)
    }

    /// - Parameter count: how many people there are, those who need a decision too.
    private func everybody(
        _ people: [PersonEntry], of count: Int, _ term: String, page: String?, _ context: PageContext
    ) -> HTML {
        let search: HTML = """
            <form class="line" role="search" action="\(context.to(.people))"><label class="quiet" for="q">Search people</label>\
            <span class="grow"><input id="q" type="search" name="q" value="\(typed: term)" placeholder="Handle" autocomplete="off">\
            </span><button class="button" type="submit">\(Part.icon("search"))Search</button></form>
            """
        guard !people.isEmpty || !term.isEmpty || count > 0 else {
            return Part.empty("people", "<p>The people whom you add stand here.</p>")
        }
        let paging = ListPage(people.count, page: page)
        let rows = people[paging.range].map { row($0, context) }
        let none = HTML.when(
            people.isEmpty && !term.isEmpty, "<p class=\"muted\">No one on your list has that in their handle.</p>")
        return
            "\(search)\(section("Your people", "all", Array(rows)))\(none)\(paging.links(context, .people, [("q", term)]))"
    }

    /// A person in a list. A request is decided on the person's page, before a change is.
    func row(_ entry: PersonEntry, _ context: PageContext) -> HTML {
        let route: WebRoute = entry.state == .changed && !entry.asks ? .change(entry.handle) : .person(entry.handle)
        return """
            <li><a class="row" href="\(context.to(route))">\(Part.ring(entry.handle, entry.state))<span class="grow">\
            <span class="strong">\(Part.handle(entry.handle))</span><span class="small muted">\
            \(PeopleWords.line(entry, wording, context.now))</span></span>\(Part.badge(entry.state))</a></li>
            """
    }

    private func asking(_ entry: PersonEntry, _ context: PageContext) -> HTML {
        """
        <li class="row">\(Part.ring(entry.handle, .new))<div class="grow"><p class="strong">\(Part.handle(entry.handle))</p>\
        <p class="small muted">\(PeopleWords.line(entry, wording, context.now))</p></div>\
        \(context.form(.block(entry.handle), as: "line", Part.button("Decline")))\
        \(context.form(.accept(entry.handle), as: "line", Part.button("Accept")))</li>
        """
    }

    private func adding(_ typed: String, _ context: PageContext) -> HTML {
        """
        <section class="card" aria-labelledby="add"><div><h2 id="add">Add a person</h2><p class="muted">They are looked up in the log, \
        checked, and remembered; then they are asked.</p></div>\
        \(context.fileForm(
            .addPerson, as: "stack",
            """
            \(Part.field(
                "Handle", name: "handle", value: typed, more: " inputmode=\"email\" placeholder=\"ben@example.org\""))\
            <details id="by-card"><summary>They gave you their contact card</summary><p class="muted">Then the first lookup is checked against \
            it, and you need not trust the directory for their keys.</p><div class="field"><label for="card">Their card, a file</label>\
            <input id="card" name="card" type="file"></div>\(picture("Or a picture of its code"))\
            <label class="check"><input type="checkbox" name="met" value="yes"> We met today</label></details>\
            <div class="line">\(Part.button("\(Part.icon("plus"))Add", as: "button main"))\
            <a class="button" href="\(context.to(.contactCard))">Your contact card</a></div>
            """))</section>
        """
    }

    // MARK: Acts

    func takeAdd(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let opened = try await account.needed()
        let card: ContactCard?
        do { card = try await contactCard(in: form) } catch { return try await people(request, error.advice) }
        let typed = (form["handle"] ?? "").trimmed
        let handle: Handle
        do { handle = if let card, typed.isEmpty { card.handle } else { try Handle(typed) } } catch {
            return try await people(
                request,
                Advice(
                    "That is not a handle.", means: "No one was asked.",
                    "A handle looks like ben@example.org: correct it below."))
        }
        guard card == nil || card?.handle == handle else {
            let advice = Advice(
                "The card is not that of \(handle).", means: "No one was asked.",
                "Correct the handle, or choose their card.")
            return try await people(request, advice)
        }
        do throws(SignetError) {
            if let card {
                let isAsked = try await opened.requests().contains(handle)
                _ = try await opened.add(
                    by: card, isAccepting: isAsked, metOn: form["met"] == nil ? nil : WebTime.dayNumber(now()))
            } else {
                _ = try await opened.meet(handle)
            }
        } catch {
            return try await people(request, await advice(error), status: error.family == .environment ? 503 : 422)
        }
        request.session.say("You added \(Part.handle(handle)). Compare when you meet, or on a call.")
        return .see(WebPath(.person(handle), below: mount))
    }

    /// The contact card in a form, as a file or in a picture; nil if there is none.
    private func contactCard(in form: FormBody) async throws(PictureRefusal) -> ContactCard? {
        guard let bytes = try scanned(form) ?? form.file("card").map({ Array($0.content) }) else { return nil }
        guard let card = try? ContactCard(decoding: bytes, policy: await account.home.profile.trust.policy) else {
            throw PictureRefusal(
                Advice(
                    "That is no contact card of this directory.", means: "No one was asked.",
                    "Ask them for their contact card once more."))
        }
        return card
    }

    /// The user's own, for others to take with them.
    func contactCard(_ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let card = try await account.needed().contactCard()
        if request.query["save"] != nil {
            return SavedFile.answer(named: Array("\(card.handle).card".utf8), card.encoded)
        }
        let context = await context(request.session)
        let content: HTML = """
            \(Part.crumb("People", context.to(.people)))<div class="head"><div><h1>Your contact card</h1><p class="lead">Whoever adds you with \
            it need not trust the directory for your keys. Nothing on it is secret; hand it over in person.</p></div></div>\
            <section class="card">\(Self.code(card.encoded, of: "your contact card", isDense: true))\
            <p class="line"><a class="button" href="\(context.to(.contactCard, [("save", "yes")]))">Save it as a file</a></p></section>
            """
        return .page(context.page("Your contact card", in: .people, isNarrow: true, content))
    }

    func takeAccept(_ handle: Handle, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let opened = try await account.needed()
        do throws(SignetError) { _ = try await opened.accept(handle) } catch {
            return try await people(request, await advice(error), status: error.family == .environment ? 503 : 422)
        }
        request.session.say("\(Part.handle(handle)) is on your list. Compare when you meet, or on a call.")
        return .see(WebPath(.person(handle), below: mount))
    }

    func takeBlock(_ handle: Handle, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let opened = try await account.needed()
        do throws(SignetError) { _ = try await opened.block(handle) } catch {
            return try await people(request, await advice(error), status: error.family == .environment ? 503 : 422)
        }
        request.session.say("\(Part.handle(handle)) is off your list at the directory, and was not told.")
        return .see(WebPath(.people, below: mount))
    }
}

/// The part of a long list that is on one page.
struct ListPage {
    let range: Range<Int>
    private let page: Int
    private let count: Int

    init(_ count: Int, page: String?) {
        let last = max(0, (count - 1) / WebPages.listCount)
        self.count = count
        self.page = min(max(0, page.flatMap { Int($0) } ?? 0), last)
        range = min(count, self.page * WebPages.listCount)..<min(count, (self.page + 1) * WebPages.listCount)
    }

    func links(_ context: PageContext, _ route: WebRoute, _ query: [(String, String)]) -> HTML {
        guard count > WebPages.listCount else { return .none }
        func link(_ label: HTML, _ page: Int) -> HTML {
            "<a class=\"button\" href=\"\(context.to(route, query + [("page", "\(page)")]))\">\(label)</a>"
        }
        return """
            <p class="line">\(HTML.when(page > 0, link("Before", page - 1)))<span class="muted">\(range.lowerBound + 1) to \
            \(range.upperBound) of \(count)</span>\(HTML.when(range.upperBound < count, link("More", page + 1)))</p>
            """
    }
}

extension String {
    /// Without spaces at its ends.
    var trimmed: String {
        let start = drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
