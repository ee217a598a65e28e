// SPDX-License-Identifier: Apache-2.0

import Credentials
import SelectiveDisclosure
import Signet

/// Meeting in person: two devices prove to each other whose they are, without the directory.
extension WebPages {
    func meet(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        let desk = try await account.meetings()
        let stage = await desk.stage
        let card = try await account.needed().businessCard()
        let home = await account.home
        let context = await context(request.session)
        let content: HTML
        var isLive = false
        switch stage {
        case .none: content = beginning(request, card, context)
        case .showing(let open):
            isLive = advice == nil
            content = showing(open, context)
        case .proved(let meeting): content = proved(meeting, request, context)
        case .waiting(let meeting):
            isLive = advice == nil
            content = """
                <section class="card"><h2>Waiting for \(Part.handle(meeting.peer.handle))</h2><p>You typed the words on their screen. It counts \
                once they have typed yours:</p><p class="code-field"><b>\(meeting.words)</b></p>\(ending("Stop it", context))</section>
                """
        case .kept(let kept, let wantsReceipt): content = done(kept, wantsReceipt, context)
        case .failed(let error):
            let said = wording.advice(error, in: home)
            content = Part.notice(
                said, error.tone == .alarm ? .alarm : .changed, context, ending("Meet again", context))
        }
        let page: HTML = """
            <div class="head"><div><h1>Meet</h1><p class="lead">Stand before each other. Your devices prove to each other whose they are, in the \
            network that both are in, and the directory is not asked. A video call does not show that a person is there.</p></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\(content)
            """
        guard isLive else {
            return .page(
                context.page("Meet", in: .meet, isNarrow: true, page), status: advice == nil ? 200 : 422)
        }
        return .live(context.page("Meet", in: .meet, isNarrow: true, live: context.to(.meet), page))
    }

    // MARK: Each stage

    private func beginning(_ request: WebRequest, _ card: HeldCredential?, _ context: PageContext) -> HTML {
        let typed = request.form ?? request.session.takeTyped(of: .meet)
        let gifts: HTML =
            """
            \(HTML.when(
                card != nil,
                """
                <label class="check"><input type="checkbox" name="card" value="yes"> Give them my business card</label>
                """))<label class="check"><input type="checkbox" name="contacts" value="yes"> Find out whom both of us have met, if they ask \
            for it too</label><label class="check"><input type="checkbox" name="receipt" value="yes"> Sign a receipt that both of us can show \
            to others, if they ask for one too</label>
            """
        return """
            <section class="card" aria-labelledby="show"><h2 id="show">Show your code</h2>\(context.form(
                .showMeeting, as: "stack",
                "\(gifts)<div class=\"line end\">\(Part.button("Show it", as: "button main"))</div>"))</section>\
            <section class="card" aria-labelledby="read"><h2 id="read">Or read theirs</h2>\(context.fileForm(
                .joinMeeting, as: "stack",
                """
                \(Part.text(
                    "The link below their code", name: "link", value: typed?["link"] ?? "", rows: 3,
                    help: "It begins with <code>signet-meet:</code>."))\(picture("Or a picture of their code"))\(gifts)\
                <div class="line end">\(Part.button("Go on"))</div>
                """))</section>
            """
    }

    private func showing(_ open: OpenInvitation, _ context: PageContext) -> HTML {
        """
        <section class="card"><h2>Your code</h2><p>Show it to the person before you. It is good until \
        \(WebTime.words(open.invitation.end, context.now)), for one person. This page goes on by itself.</p>\
        \(Self.code(open.invitation.link, of: "your invitation", isDense: true))\
        <p class="small"><code class="break">\(open.link)</code></p>\(ending("Take it back", context))</section>
        """
    }

    private func proved(_ meeting: UnconfirmedMeeting, _ request: WebRequest, _ context: PageContext) -> HTML {
        let peer = meeting.peer.handle
        return """
            <section class="card"><h2>The other device belongs to \(Part.handle(peer))</h2><p>Is that the person before you? Let them type your \
            words:</p><p class="code-field"><b>\(meeting.words)</b></p>\(context.form(
                .meetingWords, as: "stack",
                """
                \(Part.field(
                    "The words on the screen of \(peer.description)", name: "words", value: request.form?["words"] ?? "",
                    help: "Three words and two digits. There is one try.", more: " class=\"code-field\" required autofocus"))\
                <div class="line end">\(Part.button("These are on their screen", as: "button main"))</div>
                """))\(ending("It is not them", context))</section>
            """
    }

    private func done(_ kept: KeptInPerson, _ wantsReceipt: Bool, _ context: PageContext) -> HTML {
        let handle = kept.record.peerHandle
        let proof: HTML =
            kept.isOfDirectory
            ? "It is the identity that the directory proved to this device."
            : "The directory was not asked. Once you add them, the first lookup compares, and another identity there is an alarm."
        let card: HTML = HTML.when(
            kept.exchange.card != nil,
            """
            <p>Their card, which this identity signed:</p><dl class="facts">\
            \((kept.exchange.card ?? []).map { Part.fact("\($0.label)", "\($0.text)") })</dl>
            """)
        let common: HTML
        switch kept.exchange.contacts {
        case .notAsked: common = .none
        case .theyDidNotAsk: common = "<p>Contacts were not compared: \(Part.handle(handle)) did not ask for it.</p>"
        case .people(let people) where people.isEmpty:
            common = "<p>You know nobody in common, as far as your meetings tell.</p>"
        case .people(let people): common = "<p>You both know \(Self.names(people)).</p>"
        }
        let fault: HTML = kept.exchange.fault.map { "<p>\(wording.words($0))</p>" } ?? .none
        let receipt: HTML =
            kept.receipt == nil
            ? wording.words(onMissingReceiptOf: kept, isWanted: wantsReceipt).map { "<p>\($0)</p>" } ?? .none
            : """
            <p>\(Part.icon("file")) <a href="\(context.to(.meetingReceipt))">The receipt that you both signed</a>: it can be shown to others. \
            Save it now.</p>
            """
        return """
            \(Part.notice(
                Advice("You met \(handle) in person.", ""), .good, context,
                "<p>\(proof)</p>\(card)\(common)\(fault)\(receipt)<p class=\"line\"><a class=\"button\" href=\"\(context.to(.person(handle)))\">\(handle.description)</a></p>"))\
            \(ending("Meet somebody else", context))
            """
    }

    private func ending(_ label: HTML, _ context: PageContext) -> HTML {
        context.form(.endMeeting, as: "line", Part.button(label))
    }

    /// The receipt of the meeting that the page shows, as a file.
    func meetingReceipt(_ request: WebRequest) async throws(SignetError) -> WebAnswer {
        guard case .kept(let kept, _) = await (try await account.meetings()).stage, let receipt = kept.receipt else {
            return .see(WebPath(.meet, below: mount))
        }
        return SavedFile.answer(
            named: Array("meeting-with-\(kept.record.peerHandle).receipt".utf8), receipt.encoded)
    }

    // MARK: Acts

    private func offer(_ form: FormBody) async throws(SignetError) -> MeetingOffer {
        let card = form["card"] == nil ? nil : try await account.needed().businessCard()
        let lines = card.map { Set(BusinessCard.fields(of: $0).map(\.field)) } ?? []
        return MeetingOffer(card: card, showing: lines, comparesContacts: form["contacts"] != nil)
    }

    func takeShowing(ofMeeting form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let (desk, opened) = (try await account.meetings(), try await account.needed())
        do throws(SignetError) {
            try await desk.show(
                by: opened, at: account.equipment.meetingAddresses, on: WebTime.dayNumber(now()),
                giving: try await offer(form), wantsReceipt: form["receipt"] != nil)
        } catch { return try await meet(request, await advice(error)) }
        return .see(WebPath(.meet, below: mount))
    }

    func takeJoining(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let (desk, opened) = (try await account.meetings(), try await account.needed())
        let link: [UInt8]
        do { link = try scanned(form)?.filter { $0 != 10 } ?? Array((form["link"] ?? "").trimmed.utf8) } catch {
            return try await meet(request, error.advice)
        }
        let invitation: MeetingInvitation
        do { invitation = try MeetingInvitation(link: link) } catch {
            return try await meet(request, await advice(.meeting(.check(error))))
        }
        do throws(SignetError) {
            try await desk.join(
                invitation, by: opened, on: WebTime.dayNumber(now()), giving: try await offer(form),
                wantsReceipt: form["receipt"] != nil)
        } catch { return try await meet(request, await advice(error)) }
        return .see(WebPath(.meet, below: mount))
    }

    func takeWords(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let desk = try await account.meetings()
        do throws(SignetError) { try await desk.compare(typed: form["words"] ?? "") } catch {
            return try await meet(request, await advice(error))
        }
        return .see(WebPath(.meet, below: mount))
    }

    func takeEnd(_ request: WebRequest) async throws(SignetError) -> WebAnswer {
        await (try await account.meetings()).end()
        return .see(WebPath(.meet, below: mount))
    }
}
