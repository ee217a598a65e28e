// SPDX-License-Identifier: Apache-2.0

import Credentials
import SecretMemory
import SelectiveDisclosure
import Signet

/// The user's own business card: made, shown as a link in a code, and as a file for a telephone's wallet.
extension WebPages {
    func ownCard(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        let card = try await account.needed().businessCard()
        let context = await context(request.session)
        let typed = request.form ?? request.session.takeTyped(of: .ownCard)
        let lines = card.map { BusinessCard.fields(of: $0) } ?? []
        let fields = BusinessCard.Field.allCases.map { field -> HTML in
            let value = typed?[field.rawValue] ?? lines.first { $0.field == field }?.text ?? ""
            return """
                <div class="field"><label for="\(field.rawValue)">\(field.words.sentence)</label><input id="\(field.rawValue)" \
                name="\(field.rawValue)" type="text" value="\(typed: value)" autocomplete="off"\
                \(HTML.when(field == .name, " required"))></div>
                """
        }
        let content: HTML = """
            \(Part.crumb("Cards", context.to(.cards)))<div class="head"><div><h1>Your business card</h1><p class="lead">Only you say that what \
            stands on it is true. Whoever sees it sees that your identity signed it.</p></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\(card == nil ? .none : showing(lines, context))\
            \(context.form(
                .ownCard, as: "card",
                """
                <h2>\(card == nil ? "Make it" : "Change it")</h2>\(fields)\
                <div class="line end">\(Part.button("Sign and keep it", as: card == nil ? "button main" : "button"))</div>
                """))
            """
        return .page(
            context.page("Your business card", in: .cards, isNarrow: true, content), status: advice == nil ? 200 : 422)
    }

    private func showing(_ lines: [(field: BusinessCard.Field, text: String)], _ context: PageContext) -> HTML {
        let choices = lines.map { field, text -> HTML in
            """
            <li><label class="choice"><input type="checkbox" name="line" value="\(field.rawValue)" checked><span class="grow">\
            <span class="strong">\(field.words.sentence)</span><span class="small muted">\(text)</span></span></label></li>
            """
        }
        return context.form(
            .showOwnCard, as: "card",
            """
            <fieldset class="field"><legend>What to show</legend><ul class="list">\(choices)</ul></fieldset>\
            <div class="line end"><button class="button main" type="submit" formnovalidate>Show it as a code</button></div>\
            <details><summary>For a telephone’s wallet</summary><p class="muted">The directory’s server signs the file without seeing it. A \
            telephone takes it only if Apple issued the signer’s certificate.</p>\(Part.passphrase("To make the file."))\
            <div class="line end"><button class="button" type="submit" formaction="\(context.to(.walletCard))">Save the file</button></div>\
            </details>
            """)
    }

    func takeOwnCard(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        var fields: [BusinessCard.Field: String] = [:]
        for field in BusinessCard.Field.allCases {
            if let text = form[field.rawValue]?.trimmed, !text.isEmpty { fields[field] = text }
        }
        do throws(SignetError) { try await account.needed().makeBusinessCard(fields) } catch .presence(.locked) {
            throw .presence(.locked)
        } catch { return try await ownCard(request, await advice(error)) }
        request.session.say("Your card is signed and kept on this device.")
        return .see(WebPath(.ownCard, below: mount))
    }

    /// The lines that the user chose, of the card that is there.
    private func chosen(
        _ form: FormBody
    ) async throws(SignetError) -> (card: HeldCredential, fields: Set<BusinessCard.Field>)? {
        guard let card = try await account.needed().businessCard() else { return nil }
        let there = Set(BusinessCard.fields(of: card).map(\.field))
        let fields = Set(form.all("line").compactMap { BusinessCard.Field(rawValue: $0) })
        return fields.isEmpty || !fields.isSubset(of: there) ? nil : (card, fields)
    }

    private static var nothingChosen: Advice {
        Advice(
            "No line of the card is chosen, or it has changed.", means: "Nothing was signed.", "Choose what to show.")
    }

    func takeShownCard(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        guard let (card, fields) = try await chosen(form) else { return try await ownCard(request, Self.nothingChosen) }
        let link = try await account.needed().link(to: card, showing: fields)
        let context = await context(request.session)
        let lines = BusinessCard.fields(of: card).filter { fields.contains($0.field) }
        let code = Self.code(link, of: "the link of your card", isDense: true)
        let shown: HTML =
            code.text.isEmpty ? "<p>This is too long for a code: choose fewer lines, or send the link.</p>" : code
        let content: HTML = """
            \(Part.crumb("Your business card", context.to(.ownCard)))<div class="head"><div><h1>Your card, for two minutes</h1>\
            <p class="lead">A telephone that reads the code opens a page that checks the card in its browser. The server of that page does not \
            get it; the telephone’s history keeps the link.</p></div></div><section class="card">\(shown)\
            <dl class="facts">\(lines.map { Part.fact("\($0.field.words.sentence)", "\($0.text)") })</dl>\
            \(Part.text("The same as a link", name: "link", value: String(decoding: link, as: UTF8.self), rows: 4, more: " readonly"))\
            </section><form method="get" action="\(context.to(.ownCard))" class="line">\(Part.button("Done"))</form>
            """
        return .page(context.page("Your card", in: .cards, isNarrow: true, content))
    }

    func takeWalletCard(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        guard let (card, fields) = try await chosen(form) else { return try await ownCard(request, Self.nothingChosen) }
        do throws(SignetError) {
            let passphrase = SecretBytes(copying: (form["passphrase"] ?? "").utf8)
            let pass = try await account.approved(.carryCards, with: passphrase) {
                account, approval throws(SignetError) in
                try await account.walletCard(of: card, showing: fields, pictures: WalletIcon.pictures, approval)
            }
            return SavedFile.answer(named: Array("card.pkpass".utf8), pass.archive)
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await ownCard(
                WebRequest(route: .ownCard, query: .empty, form: nil, session: request.session), await advice(error))
        }
    }
}
