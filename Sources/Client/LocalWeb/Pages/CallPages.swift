// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Signet
import SignetCalls

/// Calls: what rings, what was, and ringing people.
extension WebPages {
    func calls(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        let desk = try await account.calls()
        let people = try await account.everybody()
        let states = Dictionary(people.map { ($0.handle, $0.state) }) { first, _ in first }
        let ringing = await account.ringing()
        let running = await desk.running
        let context = await context(request.session)
        let waits = await waits(desk, context)
        let past = await desk.past.map { row($0, states, context) }
        let content: HTML = """
            <div class="head"><div><h1>Calls</h1><p class="lead">Sealed from device to device. Everybody’s keys are checked before anyone is \
            rung.</p></div></div>\(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(rings(ringing, states, context))\
            \(running.map { goBack(to: $0, context) } ?? .none)\(waits)\
            \(running == nil ? choice(of: people, request, context) : .none)\
            \(HTML.when(
                !past.isEmpty,
                """
                <section class="section" aria-labelledby="past"><h2 id="past">Since you unlocked</h2><ul class="list">\(past)</ul></section>
                """))
            """
        guard advice == nil else {
            return .page(context.page("Calls", in: .calls, isNarrow: true, content), status: 422)
        }
        let again = context.to(
            .calls, (request.query["q"].map { [("q", $0)] } ?? []) + request.query.all("who").map { ("who", $0) })
        return .live(context.page("Calls", in: .calls, isNarrow: true, live: again, content))
    }

    /// What rings, which comes into the page also while the person chooses something in it.
    func rings(_ ringing: [IncomingCall], _ states: [Handle: TrustState], _ context: PageContext) -> HTML {
        "<div id=\"rings\" class=\"section\">\(ringing.map { incoming($0, states, context) })</div>"
    }

    private func waits(_ desk: CallDesk, _ context: PageContext) async -> HTML {
        let shortcoming: HTML =
            desk.shortcoming.map { "<p class=\"small muted\">\(Part.icon("muted")) \($0)</p>" } ?? .none
        switch await desk.waiting {
        case .beginning, .here: return shortcoming
        case .elsewhere:
            return Part.notice(
                Advice(
                    "Another program waits for calls of this account, or is in one.", means: "Calls do not ring here.",
                    "Answer there, or end it."), .known, context, shortcoming)
        case .trouble(let failure):
            let said = wording.advice(failure, in: await account.home)
            return Part.notice(
                Advice(said.what, means: "Calls do not ring here meanwhile. This program tries again.", said.remedy),
                .changed, context, shortcoming)
        }
    }

    func goBack(to call: TakenCall, _ context: PageContext) -> HTML {
        """
        <ul class="list"><li><a class="row" href="\(context.to(.call))">\(Part.icon("call"))<span class="grow"><span class="strong">\
        \(Self.names(call.people))</span><span class="small muted">In call since \(WebTime.words(call.began, context.now))</span></span>\
        \(Part.icon("next"))</a></li></ul>
        """
    }

    private func row(_ call: PastCall, _ states: [Handle: TrustState], _ context: PageContext) -> HTML {
        let words: HTML =
            switch call.end {
            case .left: "You left"
            case .removed: "You were removed, or the directory no longer served this device in the call"
            case .unanswered(let isDeclined): isDeclined ? "They declined" : "No one answered"
            case .declined: "You declined"
            case .rang(let event): wording.remark(event).map { "\($0.text)" } ?? "It rang"
            }
        let first = call.people.first
        let ring: HTML = first.map { Part.ring($0, states[$0] ?? .new) } ?? .none
        return """
            <li class="row">\(ring)<div class="grow"><p class="strong">\(Self.names(call.people))</p><p class="small muted">\(words), \
            \(WebTime.words(call.time, context.now))</p></div></li>
            """
    }

    // MARK: Ringing people

    private func choice(of people: [PersonEntry], _ request: WebRequest, _ context: PageContext) -> HTML {
        let chosen = Set(request.form?.all("who") ?? request.query.all("who"))
        let term = (request.query["q"] ?? "").trimmed.lowercased()
        let all = people.filter { $0.person.pinned != nil }
        // Who is chosen stays, whatever is searched for.
        let found = all.filter {
            chosen.contains($0.handle.description) || term.isEmpty || $0.handle.description.contains(term)
        }
        let rows = found.prefix(Self.listCount).map { entry -> HTML in
            """
            <li><label class="choice"><input type="checkbox" name="who" value="\(entry.handle.description)"\
            \(HTML.when(chosen.contains(entry.handle.description), " checked"))\
            \(HTML.when(entry.state == .alarm, " disabled"))>\(Part.ring(entry.handle, entry.state))<span class="grow">\
            <span class="strong">\(Part.handle(entry.handle))</span><span class="small muted">\
            \(PeopleWords.line(entry, wording, context.now))</span></span>\(Part.badge(entry.state))</label></li>
            """
        }
        guard !all.isEmpty else {
            return Part.empty(
                "call",
                """
                <p>The people whom you add can be called here.</p>\
                <a class="button main" href="\(context.to(.people))">Add a person</a>
                """)
        }
        let search: HTML = HTML.when(
            all.count > Self.listCount || !term.isEmpty,
            """
            <form class="line" role="search" action="\(context.to(.calls))"><label class="quiet" for="q">Search people</label>\
            <span class="grow"><input id="q" type="search" name="q" value="\(typed: term)" placeholder="Handle" autocomplete="off">\
            </span><button class="button" type="submit">\(Part.icon("search"))Search</button></form>\
            <p class="small muted">\(rows.count) of \(Self.count(all.count, "person", "people")).</p>
            """)
        return "\(search)\(calling(rows, context))"
    }

    private func calling(_ rows: [HTML], _ context: PageContext) -> HTML {
        context.form(
            .newCall, as: "card",
            """
            <fieldset class="field"><legend>Whom to call</legend><ul class="list">\(rows)</ul></fieldset>\
            <div class="line end">\(Part.button("\(Part.icon("call"))Call", as: "button main"))</div>
            """)
    }

    func takeNewCall(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let desk = try await account.calls()
        let own = await account.handle
        let people = Set(form.all("who")).sorted().compactMap { try? Handle($0) }.filter { $0 != own }
        guard !people.isEmpty else {
            return try await calls(request, Advice("No one is chosen.", "Choose whom to call below."))
        }
        return try await enter(form, request) { () async throws(CallRefusal) in try await desk.ring(people) }
    }

    // MARK: What rings

    func incoming(_ call: IncomingCall, _ states: [Handle: TrustState], _ context: PageContext) -> HTML {
        let state: TrustState = call.hasChanged ? .changed : states[call.caller] ?? .new
        let others = call.people.filter { $0 != call.caller }.map { handle in
            "\(Part.handle(handle)) \(states[handle].map { Part.badge($0) })" as HTML
        }
        let company: HTML = HTML.when(!others.isEmpty, "<p class=\"muted\">With \(Self.list(others)).</p>")
        let known: HTML =
            call.hasChanged
            ? "Their devices have changed since you accepted them. You are asked before you join."
            : "Checked just now: the devices are the ones you accepted."
        let number = String(decoding: Hex.encode(call.ring.callID.bytes), as: UTF8.self)
        func answer(_ answer: StaticString, _ button: HTML) -> HTML {
            context.form(
                .answerCall, as: "line",
                """
                <input type="hidden" name="call" value="\(number)"><input type="hidden" name="answer" value="\(word: answer)">\(button)
                """)
        }
        return """
            <section class="card" role="alert" aria-labelledby="call-\(number)"><div class="tile">\
            \(Part.ring(call.caller, state, isBig: true))<h2 id="call-\(number)">\(Part.handle(call.caller)) is calling</h2>\
            \(Part.badge(state))</div>\(company)<p class="muted">\(known)</p><div class="bar">\
            \(answer("decline", Part.button("\(Part.icon("end"))Decline", as: "button danger")))\
            \(answer("accept", Part.button("\(Part.icon("call"))Answer", as: "button main")))</div>\
            <p class="small muted">Your microphone is off until you answer.</p></section>
            """
    }

    func takeAnswer(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let desk = try await account.calls()
        guard let call = form["call"].flatMap({ try? Hex.decode(Array($0.utf8)) }).flatMap({ CallID($0) }) else {
            return .see(WebPath(.calls, below: mount))
        }
        guard form["answer"] == "accept" else {
            await desk.decline(call)
            return .see(WebPath(.calls, below: mount))
        }
        return try await enter(form, request) { () async throws(CallRefusal) in try await desk.accept(call) }
    }

    // MARK: The trust check

    /// Enters a call, once the user has decided about each change of keys that stands in the way.
    private func enter(
        _ form: FormBody, _ request: WebRequest, _ act: @Sendable () async throws(CallRefusal) -> Void
    ) async throws(SignetError) -> WebAnswer {
        if let advice = try await acceptShown(form) { return try await calls(request, advice) }
        do throws(CallRefusal) { try await act() } catch {
            switch error {
            case .failure(.changed(let change)) where !change.change.isAlarming:
                return try await blocked(change, form, request)
            case .failure(let failure): return await noCall(failure, request)
            // Pressed twice, or in two windows: the page of the call says who is in it.
            case .inCall: break
            case .elsewhere:
                let advice = Advice(
                    "Another program is in a call with this account.", means: "No one was rung.",
                    "Leave that call first.")
                return try await calls(request, advice)
            case .notRinging:
                if await account.runningCall() != nil { break }
                return try await calls(request, Advice("That call rings no more.", "Call back, if you like."))
            }
        }
        return .see(WebPath(.call, below: mount))
    }

    /// Accepts the very change that the form's page showed.
    ///
    /// - Returns: why not; nil if it is accepted, or if the form is of no such page.
    private func acceptShown(_ form: FormBody) async throws(SignetError) -> Advice? {
        guard let state = form["state"], let handle = form["changed"].flatMap({ try? Handle($0) }) else { return nil }
        let change = try await account.needed().keyChange(of: handle)
        guard let change, !change.change.isAlarming, StateDigits.of(change) == state else {
            return await advice(.client(.misuse(.changeHasMoved)))
        }
        guard form["asked"] != nil else {
            return Advice(
                "Nothing was accepted, and no one was rung.", means: "You did not say that you asked them.",
                "Ask them in another way first.")
        }
        try await account.accept(change)
        return nil
    }

    /// What the seed of the app calls "Identity keys changed": the safe way is first, and is what Enter does.
    private func blocked(
        _ change: KeyChange, _ form: FormBody, _ request: WebRequest
    ) async throws(SignetError) -> WebAnswer {
        let handle = change.handle
        let context = await context(request.session)
        let happened = await happened(change, context)
        let kept = ["who", "call", "answer"].map { name in
            form.all(name).map { "<input type=\"hidden\" name=\"\(name)\" value=\"\(typed: $0)\">" as HTML }
        }.flatMap(\.self)
        let content: HTML = """
            <section class="card bare" aria-labelledby="who"><div class="line">\(Part.ring(handle, .changed, isBig: true))\
            <div class="grow"><p class="muted">The call with \(Part.handle(handle))</p><h1 id="who">Identity keys changed</h1></div></div>\
            <p>\(Part.badge(.changed))</p>\(happened)\
            <div class="stack"><a class="button main" href="\(context.to(.calls))" autofocus>\(Part.icon("end"))End call</a>\
            \(context.form(
                request.route, as: "stack",
                """
                \(kept)<input type="hidden" name="changed" value="\(handle.description)">\
                <input type="hidden" name="state" value="\(StateDigits.of(change))">\
                <label class="check"><input type="checkbox" name="asked" value="yes" required> I asked them in another way, and it was \
                them</label>\(Part.button("Accept and continue"))
                """))</div><p class="small muted">No one has been rung or answered. With “Accept and continue” these devices are \
            remembered as theirs, the person is Known, and the call goes on; compare again when you meet.</p></section>
            """
        return .page(context.page("Identity keys changed", in: .calls, content), status: 409)
    }

    /// A failed check: there is no way around it here.
    private func noCall(_ failure: CallFailure, _ request: WebRequest) async -> WebAnswer {
        let context = await context(request.session)
        let advice = wording.advice(failure, in: await account.home)
        let back: HTML = """
            <p class="line"><a class="button main" href="\(context.to(.calls))">Back to calls</a></p>
            """
        return .page(
            context.page(
                "No call", in: .calls, isNarrow: true,
                Part.notice(advice, failure.tone, context, isPage: true, back)), status: 422)
    }

    // MARK: Words

    static func names(_ people: [Handle]) -> HTML { list(people.map { Part.handle($0) }) }

    /// `A, B and C`.
    private static func list(_ items: [HTML]) -> HTML {
        guard let last = items.last, items.count > 1 else { return items.first ?? .none }
        let rest = items.dropLast()
        return "\(rest.first)\(rest.dropFirst().map { ", \($0)" as HTML }) and \(last)"
    }
}

extension CallFailure {
    fileprivate var tone: Part.Tone {
        switch self {
        case .trust(.contradicted), .changed: .alarm
        case .trust(.lookup(_, let error)), .entry(.ticket(let error)): SignetError.client(error).tone
        case .account(let error): error.tone
        case .trust(.stranger), .trust(.changed): .known
        case .entry: .changed
        }
    }
}
