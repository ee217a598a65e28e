// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// Sites that ask for a card.
extension WebPages {
    // MARK: The link

    func cards(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        let context = await context(request.session)
        let typed = request.form ?? request.session.takeTyped(of: .cards)
        let content: HTML = """
            <div class="head"><div><h1>Cards</h1><p class="lead">What others state about you, and what you state yourself. A card is shown only \
            when you say so, and you see what would be seen before anything is sent.</p></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(context.fileForm(
                .cards, as: "card",
                """
                \(Part.text(
                    "The link of a site that asks, or of an issuer that offers", name: "link", value: typed?["link"] ?? "", rows: 4,
                    help: """
                        Its page has it, as a link or in a code. It begins with <code>openid4vp://</code> or \
                        <code>openid-credential-offer://</code>.
                        """))\(picture("Or a picture of the code"))\
                <div class="line end">\(Part.button("Look who it is", as: "button main"))</div>
                """))\
            <ul class="list"><li><a class="row" href="\(context.to(.ownCard))">\(Part.icon("card"))<span class="grow"><span class="strong">Your \
            business card</span><span class="small muted">Stated by yourself. Show it as a code.</span></span>\(Part.icon("next"))</a></li></ul>\
            \(carriedCardsForm(context))
            """
        return .page(
            context.page("Cards", in: .cards, isNarrow: true, content), status: advice == nil ? 200 : 422)
    }

    func takeLink(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let link: String
        do { link = try scanned(form).map { String(decoding: $0, as: UTF8.self) } ?? form["link"] ?? "" } catch {
            return try await cards(request, error.advice)
        }
        let isOffer = link.trimmed.hasPrefix("openid-credential-offer:")
        do throws(SignetError) {
            if isOffer { try await account.look(atOffer: link.trimmed) } else { try await account.ask(link.trimmed) }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            guard isOffer else { return try await cards(request, await advice(error)) }
            let issuer = (try? CardOffer.authority(of: Array(link.trimmed.utf8))) ?? "the issuer"
            return try await cards(request, wording.advice(error, at: issuer, in: await account.home))
        }
        return .see(WebPath(isOffer ? .offeredCard : .showCard, below: mount))
    }

    // MARK: The answer

    func showCard(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        guard let asked = await account.asked else { return .see(WebPath(.cards, below: mount)) }
        let context = await context(request.session)
        let place = String(decoding: asked.request.site.host.text, as: UTF8.self)
        let form: HTML =
            if let consent = asked.consent { answer(consent, asked.number, place, context) } else {
                context.form(
                    .showCard, as: "card",
                    """
                    <p>\(place) asks to see a card. Its certificate proves the name.</p>\
                    \(Part.passphrase("To look into your cards. Nothing is sent yet."))\
                    <div class="line end">\(cancel)\(Part.button("Look for it", as: "button main"))</div>
                    """)
            }
        let content: HTML = """
            \(Part.crumb("Cards", context.to(.cards)))<div class="head"><div><h1>Show a card to \(place)?</h1></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\(form)
            """
        return .page(
            context.page("Show a card?", in: .cards, isNarrow: true, content), status: advice == nil ? 200 : 422)
    }

    /// Not a link: what was asked is forgotten.
    private var cancel: HTML {
        "<button class=\"button\" type=\"submit\" name=\"answer\" value=\"no\" formnovalidate>Show nothing</button>"
    }

    private func answer(
        _ consent: CardConsent, _ number: UInt64, _ place: String, _ context: PageContext
    ) -> HTML {
        let sentences = wording.words(consent).map { "<p>\($0)</p>" as HTML }
        let digits: HTML = HTML.when(
            consent.needsDigits,
            Part.field(
                "The two digits that the page of \(place) shows", name: "digits",
                help: "If you do not see that page, somebody else wants to be signed in as you: show nothing.",
                more: " class=\"code-field\" inputmode=\"numeric\" maxlength=\"2\" required"))
        return context.form(
            .showCard, as: "card",
            """
            <div>\(sentences)</div>\(digits)\(Part.passphrase("For this act alone: to show this to \(place), and nothing else."))\
            <input type="hidden" name="answer" value="yes"><input type="hidden" name="request" value="\(typed: "\(number)")">\
            <div class="line end">\(cancel)\(Part.button("Show this", as: "button main"))</div>
            """)
    }

    func takeShowing(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        if form.all("answer").contains("no") {
            await account.dropRequest()
            request.session.say("Nothing was sent.")
            return .see(WebPath(.cards, below: mount))
        }
        let passphrase = SecretBytes(copying: (form["passphrase"] ?? "").utf8)
        do throws(SignetError) {
            guard form["answer"] == "yes" else {
                try await account.lookForCard(with: passphrase)
                return .see(WebPath(.showCard, below: mount))
            }
            let number = form["request"].flatMap { UInt64($0) }
            guard let next = try await account.show(number, digits: form["digits"]?.trimmed, with: passphrase) else {
                let other = Advice(
                    "Another request came in the meantime, or this one was answered.",
                    means: "Nothing was sent.", "Look at what is asked now, or ask the site again.")
                return await account.asked == nil
                    ? try await cards(request, other) : try await showCard(request, other)
            }
            return await shown(next, request)
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await showCard(request, await advice(error))
        }
    }

    /// What comes of it.
    private func shown(_ next: AfterShowing, _ request: WebRequest) async -> WebAnswer {
        let context = await context(request.session)
        let more: HTML =
            switch next {
            case .finished: .none
            case .otherDevice: "<p>The page on the other device goes on by itself.</p>"
            case .browser(let address):
                SiteAddress(address).map { address in
                    """
                    <p>Go on in the browser in which you began. If it is this one:</p>\
                    <p class="line"><a class="button main" id="go-on" href="\(address)" rel="noreferrer">Go on at the site</a></p>
                    """
                } ?? .none
            }
        let advice = Advice("The site has seen it, and nothing else of your cards.", "")
        return .page(
            context.page(
                "Shown", in: .cards, isNarrow: true, Part.notice(advice, .good, context, isPage: true, more)))
    }
}

/// The address of a site that was verified, ready for a link: https, and without anything that an attribute could end.
struct SiteAddress: Hashable, Sendable {
    let text: String

    /// Nil for an address of another scheme, or with characters that an address does not have.
    init?(_ text: String) {
        guard text.hasPrefix("https://"),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !"\"'<>`\\".utf8.contains($0) })
        else { return nil }
        self.text = text
    }
}
