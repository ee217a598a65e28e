// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// Cards that issuers made: offered, got, listed, forgotten.
extension WebPages {
    // MARK: The list

    /// The form with which the sealed list is opened.
    func carriedCardsForm(_ context: PageContext) -> HTML {
        """
        <details id="carried"><summary>Show the cards that issuers gave you</summary>\(context.form(
            .carriedCards, as: "card",
            """
            <div class="field"><label for="list-passphrase">Passphrase</label><input id="list-passphrase" name="passphrase" type="password" \
            autocomplete="current-password" required><p class="help">The list is sealed with your keys.</p></div>\
            <div class="line end">\(Part.button("Show them"))</div>
            """))</details>
        """
    }

    func takeCarriedCards(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let forgotten = form["forget"].flatMap { UInt64($0) }
        let passphrase = SecretBytes(copying: (form["passphrase"] ?? "").utf8)
        let cards: [IssuedCard]
        do throws(SignetError) {
            if let forgotten {
                try await account.approved(.carryCards, with: passphrase) { account, approval throws(SignetError) in
                    try await account.removeCard(forgotten, approval)
                }
            }
            cards = try await account.approved(.carryCards, with: passphrase) {
                account, approval throws(SignetError) in
                try await account.cards(approval)
            }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await self.cards(request, await advice(error))
        }
        let context = await context(request.session)
        let rows = cards.map { row($0, context) }
        let content: HTML = """
            \(Part.crumb("Cards", context.to(.cards)))<div class="head"><div><h1>Cards that issuers gave you</h1><p class="lead">Each site \
            sees another copy, so that two sites cannot find out from a card that they know one person.</p></div></div>\
            \(rows.isEmpty ? Part.empty("card", "<p>You carry no cards.</p>") : "<ul class=\"list\">\(rows)</ul>")
            """
        return .page(context.page("Your cards", in: .cards, isNarrow: true, content))
    }

    private func row(_ card: IssuedCard, _ context: PageContext) -> HTML {
        let words = wording.words(card)
        let facts = words.facts.map { Part.fact("\($0.name)", "\($0.value)") }
        return """
            <li class="card"><h2>\(words.title)</h2><dl class="facts">\(facts)</dl><details><summary>Forget it</summary>\
            <p class="muted">There is no other copy; its keys are erased.</p>\(context.form(
                .carriedCards, as: "line bottom",
                """
                <input type="hidden" name="forget" value="\(typed: "\(card.number)")"><div class="grow"><div class="field">\
                <label for="forget-\(Int(clamping: card.number))">Passphrase</label><input id="forget-\(Int(clamping: card.number))" \
                name="passphrase" type="password" autocomplete="current-password" required></div></div>\
                \(Part.button("Forget card \(Int(clamping: card.number))", as: "button danger"))
                """))</details></li>
            """
    }

    // MARK: An offer

    func offeredCard(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        guard let offered = await account.offered else { return .see(WebPath(.cards, below: mount)) }
        let context = await context(request.session)
        let place = String(decoding: offered.offer.host.text, as: UTF8.self)
        let code: HTML = HTML.when(
            offered.offer.transactionCode != nil,
            Part.field(
                "The code that \(place) told you", name: "code", value: request.form?["code"] ?? "",
                more: " class=\"code-field\" required"))
        let content: HTML = """
            \(Part.crumb("Cards", context.to(.cards)))<div class="head"><div><h1>Get a card from \(place)?</h1></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(context.form(
                .offeredCard, as: "card",
                """
                <div>\(wording.words(offered.offer, copies: OfferedCard.copyCount).map { "<p>\($0)</p>" as HTML })</div>\(code)\
                \(Part.passphrase("To keep the card and its keys."))<input type="hidden" name="offer" value="\(typed: "\(offered.number)")">\
                <div class="line end"><button class="button" type="submit" name="answer" value="no" formnovalidate>Get nothing</button>\
                \(Part.button("Get it", as: "button main"))</div>
                """))
            """
        return .page(
            context.page("Get a card?", in: .cards, isNarrow: true, content), status: advice == nil ? 200 : 422)
    }

    func takeOffer(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        if form.all("answer").contains("no") {
            await account.dropOffer()
            request.session.say("Nothing was sent.")
            return .see(WebPath(.cards, below: mount))
        }
        let passphrase = SecretBytes(copying: (form["passphrase"] ?? "").utf8)
        let code = form["code"]?.trimmed
        do throws(SignetError) {
            let got = try await account.get(form["offer"].flatMap { UInt64($0) }, code: code, with: passphrase)
            guard let got else {
                let other = Advice(
                    "Another offer came in the meantime, or this one was taken.", means: "Nothing was sent.",
                    "Look at what is offered now, or ask the issuer again.")
                return await account.offered == nil
                    ? try await cards(request, other) : try await offeredCard(request, other)
            }
            request.session.say(
                "You carry it: \(wording.words(got).title). It can be shown at \(got.unusedCount) sites.")
            return .see(WebPath(.cards, below: mount))
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            let issuer =
                await account.offered.map { String(decoding: $0.offer.host.text, as: UTF8.self) } ?? "the issuer"
            return try await offeredCard(request, wording.advice(error, at: issuer, in: await account.home))
        }
    }
}
