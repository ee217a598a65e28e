// SPDX-License-Identifier: Apache-2.0

import QRCode
import Signet

extension WebPages {
    /// A person. The directory is asked if the account is open; otherwise the page shows what is remembered.
    func person(_ handle: Handle, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        if await account.opened() != nil {
            _ = try? await account.look(at: handle)
            _ = try? await account.everybody()
        }
        let entry = try await account.person(handle)
        let context = await context(request.session)
        let content: HTML = """
            \(Part.crumb("People", context.to(.people)))\(head(entry))\(stopped(entry, await account.home, context))\
            <div class="line">\(HTML.when(
                entry.person.pinned != nil && !entry.isStopped,
                """
                <a class="button main" href="\(context.to(.compare(handle)))">Compare with them</a>\
                <a class="button" href="\(context.to(.calls, [("who", handle.description)]))">\(Part.icon("call"))Call</a>
                """))\
            <a class="button plain" href="\(context.to(.checks(handle)))">How this was checked</a></div>\
            <section class="section" aria-labelledby="what"><h2 id="what">What is known here</h2><div class="card">\
            <dl class="facts">\(facts(entry, context))</dl></div></section>\(await card(of: handle))\
            \(HTML.when(entry.person.status != nil, removal(handle, context)))
            """
        return .page(context.page("\(handle.description)", in: .people, isNarrow: true, content))
    }

    private func head(_ entry: PersonEntry) -> HTML {
        """
        <div class="row card"><span class="line grow stay">\(Part.ring(entry.handle, entry.state, isBig: true))<span>\
        <h1>\(Part.handle(entry.handle))</h1></span></span>\(Part.badge(entry.state))</div>
        """
    }

    /// Why nothing is sent to the person.
    private func stopped(_ entry: PersonEntry, _ home: OpenHome, _ context: PageContext) -> HTML {
        switch entry.seen?.finding {
        case .changed(let change):
            let decide: HTML = """
                <p class="line"><a class="button" href="\(context.to(.change(entry.handle)))">Look at the change</a></p>
                """
            return Part.notice(
                wording.advice(change, entry.person.comparison, in: home), change.change.isAlarming ? .alarm : .changed,
                context, instead: "look at the change, and decide", decide)
        case .contradicted, .refused:
            let look: HTML = """
                <p class="line"><a class="button" href="\(context.to(.checks(entry.handle)))">See which check failed</a></p>
                """
            return Part.notice(
                Advice(
                    "The directory’s answer about this person is not true.", means: "Nothing is sent to them.",
                    "Tell them in another way that their directory misbehaves."), .alarm, context, look)
        case .closed:
            return Part.notice(
                Advice("Their account was closed.", "Ask them in another way how to reach them."), .changed, context)
        case .absent:
            return Part.notice(
                Advice("No one has registered this handle. That is proved, not guessed.", "Check the spelling."),
                .known,
                context)
        case .matched, nil: return .none
        }
    }

    private func facts(_ entry: PersonEntry, _ context: PageContext) -> HTML {
        var facts: [HTML] = []
        if let pinned = entry.person.pinned {
            facts.append(
                Part.fact("Devices", "\(Self.count(pinned.devices.count, "device", "devices")) that you accepted"))
            facts.append(Part.fact("Accepted", "\(WebTime.words(pinned.pinnedAt, context.now))"))
        } else {
            facts.append(Part.fact("Devices", "Nothing is accepted yet"))
        }
        switch entry.person.comparison {
        case .none: facts.append(Part.fact("Compared", "Never. Only a comparison shows that it is them."))
        case .compared(let comparison): facts.append(Part.fact("Compared", "\(wording.words(comparison))"))
        case .outdated(let comparison):
            facts.append(
                Part.fact("Compared", "\(wording.words(comparison)) Their identity has changed since: compare again."))
        }
        facts.append(
            Part.fact(
                "Last checked",
                entry.seen.map { "\(WebTime.words($0.time, context.now))" as HTML }
                    ?? "Not since this program was started"))
        switch entry.person.status {
        case .accepted: facts.append(Part.fact("List", "Both of you agreed"))
        case .requested: facts.append(Part.fact("List", "You asked; they have not answered"))
        case .invited: facts.append(Part.fact("List", "They ask you"))
        case nil: break
        }
        return HTML(facts)
    }

    /// The business card that they gave when the two met.
    private func card(of handle: Handle) async -> HTML {
        guard let met = try? await account.opened()?.metContacts().first(where: { $0.handle == handle }),
            !met.card.isEmpty
        else { return .none }
        let lines = met.card.map { Part.fact("\($0.label)", "\($0.text)") }
        return """
            <section class="section" aria-labelledby="card"><h2 id="card">Their card</h2><div class="card"><dl class="facts">\(HTML(lines))</dl>\
            <p class="muted">They gave it to you when you met on \(WebTime.words(day: met.day)). Only they say that it is true.</p></div></section>
            """
    }

    private func removal(_ handle: Handle, _ context: PageContext) -> HTML {
        """
        <details><summary>Take this person off your list</summary><p class="muted">They are not told, and can share nothing with you. \
        What this device accepted of them is kept.</p>\
        \(context.form(.block(handle), as: "line", Part.button("Take off the list")))</details>
        """
    }

    // MARK: Comparing

    func compare(_ handle: Handle, _ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        let identities = try await account.identities(with: handle)
        let entry = try await account.person(handle)
        let context = await context(request.session)
        let groups = identities.number.groups.map { "<li>\(String(decoding: $0, as: UTF8.self))</li>" as HTML }
        let halves: HTML = """
            <div class="halves"><ol class="digits" aria-label="First block: six groups of five digits">\(Array(groups.prefix(6)))</ol>\
            <ol class="digits" aria-label="Second block: six groups of five digits">\(Array(groups.suffix(6)))</ol></div>
            """
        let typed = request.form ?? request.session.takeTyped(of: .compare(handle))
        let content: HTML = """
            \(Part.crumb("\(handle.description)", context.to(.person(handle))))<div class="head"><div><h1>Compare</h1>\
            <p class="lead">With \(Part.handle(handle)). Meet, or call in a way in which you know each other’s voice. If both of you see \
            the same number, no one is in between.</p></div>\(Part.badge(entry.state))</div>\
            \(advice.map { Part.notice($0, .alarm, context) } ?? .none)\
            <section class="card" aria-labelledby="cmp"><div class="cols half"><div class="section"><h2 id="cmp">Read: 60 digits</h2>\
            \(halves)\
            <p class="help">The same on both devices, for as long as neither of you changes identity.</p></div>\
            <div class="section"><h2>Or let them scan</h2>\(Self.code(identities.code.encoded))</div></div></section>\
            \(answer(handle, typed, context))
            """
        return .page(
            context.page("Compare with \(handle.description)", in: .people, isNarrow: true, content),
            status: advice == nil ? 200 : 422)
    }

    private func answer(_ handle: Handle, _ typed: FormBody?, _ context: PageContext) -> HTML {
        context.fileForm(
            .compare(handle), as: "card",
            """
            <div><h2>What they read to you</h2><p class="muted">Compare every group. Then type the last two groups of \
            each block as they read them: typing is the proof that you listened.</p></div>\
            \(Part.field(
                "Digits", name: "digits", value: typed?["digits"] ?? "", help: "Twenty digits, or all sixty.",
                more: " inputmode=\"numeric\""))\(picture("Or a picture of the code on their screen"))\
            <label class="check"><input type="checkbox" name="met" value="yes"\(HTML.when(typed?["met"] != nil, " checked"))> \
            We are together in one place</label>\
            <div class="line">\(Part.button("They are the same", as: "button main"))\
            <a class="button" href="\(context.to(.person(handle)))">Later</a></div>\
            <p class="small muted">If they differ: press nothing, send nothing, and compare once more.</p>
            """)
    }

    /// A code, dark on white; the style sheet gives it a margin of more than four modules.
    ///
    /// - Parameters:
    ///   - what: what it is, for those who do not see it.
    ///   - isDense: whether it has so many modules that a camera needs it large.
    static func code(
        _ bytes: [UInt8], of what: HTML = "the number, for the other person to scan", isDense: Bool = false
    ) -> HTML {
        guard let symbol = QRSymbol(bytes) else { return .none }
        var rows: [HTML] = []
        for row in 0..<symbol.side {
            for column in 0..<symbol.side where symbol.isDark(row: row, column: column) {
                rows.append("M\(column) \(row)h1v1h-1z")
            }
        }
        return """
            <svg class="qr\(HTML.when(isDense, " qr-dense"))" viewBox="0 0 \(symbol.side) \(symbol.side)" role="img" \
            aria-label="QR code of \(what)" shape-rendering="crispEdges">\
            <path fill="currentColor" d="\(rows)"/></svg>
            """
    }

    func takeCompare(_ handle: Handle, _ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let identities = try await account.identities(with: handle)
        let matched: MatchedIdentities
        let code: [UInt8]?
        do { code = try scanned(form) } catch { return try await compare(handle, request, error.advice) }
        do throws(SignetError) {
            matched =
                if let code { try identities.matched(scanned: code) } else {
                    try identities.matched(typed: form["digits"] ?? "")
                }
        } catch { return try await compare(handle, request, await advice(error)) }
        try await account.needed().keep(matched, metOn: form["met"] == nil ? nil : WebTime.dayNumber(now()))
        request.session.say("You and \(Part.handle(handle)) have compared. From now on any change of theirs is louder.")
        return .see(WebPath(.person(handle), below: mount))
    }

    // MARK: A change

    func change(_ handle: Handle, _ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        _ = try await account.look(at: handle)
        let entry = try await account.person(handle)
        let context = await context(request.session)
        guard case .changed(let change) = entry.seen?.finding else {
            return .see(WebPath(.person(handle), below: mount))
        }
        let happened = await happened(change, context)
        let content: HTML = """
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            <section class="card bare" aria-labelledby="who"><div class="line">\(Part.ring(handle, entry.state, isBig: true))\
            <div class="grow"><p class="muted">\(Part.handle(handle))</p><h1 id="who">Identity keys changed</h1></div></div>\
            <p>\(Part.badge(entry.state))</p>\
            \(happened)\(decision(handle, change, context))</section>
            """
        return .page(
            context.page("Identity keys changed", in: .people, content), status: advice == nil ? 200 : 409)
    }

    /// A change in three sentences.
    func happened(_ change: KeyChange, _ context: PageContext) async -> HTML {
        let means: HTML =
            change.change.isAlarming
            ? "A thief or the directory may have put it there."
            : "Most likely a new phone. It may also be an eavesdropper."
        let comparison = (try? await account.person(change.handle))?.person.comparison ?? .none
        let again: HTML = comparison.comparison == nil ? .none : " You had compared with them. Compare again."
        let remedy = Part.remedy(
            wording.advice(change, comparison, in: await account.home).remedy, context, instead: "accept it below")
        return """
            <div class="stack"><p><b>What happened.</b> \(wording.words(change.change).sentence).</p>\
            <p><b>What it means.</b> \(means)\(again)</p>\
            <p><b>What to do.</b> \(remedy)</p></div>
            """
    }

    /// The safe way comes first and is what Enter does. What no log explains is never accepted here.
    private func decision(_ handle: Handle, _ change: KeyChange, _ context: PageContext) -> HTML {
        let safe: HTML = """
            <a class="button main" href="\(context.to(.person(handle)))" autofocus>Not now: send them nothing</a>
            """
        guard !change.change.isAlarming else { return "<div class=\"stack\">\(safe)</div>" }
        return """
            <div class="stack">\(safe)\(context.form(
                .change(handle), as: "stack",
                """
                <input type="hidden" name="state" value="\(StateDigits.of(change))">\
                <label class="check"><input type="checkbox" name="asked" value="yes" required> I asked them in another way, and it was \
                them</label>\(Part.button("Accept and go on"))
                """))</div><p class="small muted">Nothing was sent. With “Accept and go on” these devices are remembered as theirs, \
            and the person is Known; compare again when you meet.</p>
            """
    }

    func takeChange(_ handle: Handle, _ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        _ = try await account.look(at: handle)
        guard case .changed(let change) = try await account.person(handle).seen?.finding else {
            return .see(WebPath(.person(handle), below: mount))
        }
        guard !change.change.isAlarming else { return try await self.change(handle, request, nil) }
        guard form["state"] == StateDigits.of(change) else {
            return try await self.change(handle, request, await advice(.client(.misuse(.changeHasMoved))))
        }
        guard form["asked"] != nil else {
            return try await self.change(
                handle, request,
                Advice(
                    "Nothing was accepted.", means: "You did not say that you asked them.",
                    "Ask them in another way first."))
        }
        do throws(SignetError) { try await account.accept(change) } catch {
            return try await self.change(handle, request, await advice(error))
        }
        request.session.say("You accepted \(Part.handle(handle)) as they are now. Compare again when you meet.")
        return .see(WebPath(.person(handle), below: mount))
    }
}

extension String {
    /// With a capital letter.
    var sentence: String { prefix(1).uppercased() + dropFirst() }
}
