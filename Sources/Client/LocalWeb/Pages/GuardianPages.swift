// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// The user as a guardian: who asks for help, and the screen on which the user decides.
extension WebPages {
    func guardian(
        _ owner: Handle, _ request: WebRequest, _ advice: Advice?, status: Int = 422
    ) async throws(SignetError) -> WebAnswer {
        let found = try await account.guarding()
        guard found.duties.contains(where: { $0.owner == owner }) else {
            throw .recovery(.notTheirGuardian(owner))
        }
        let asked = found.requests.first { $0.guardianCase.owner == owner }
        let typed = request.form ?? request.session.takeTyped(of: .guardian(owner))
        let context = await context(request.session)
        let content: HTML
        if let asked {
            let entry = try await account.person(owner)
            let own = try await account.home.meeting(with: owner)
            content = screen(asked, entry, own, typed, advice, context)
        } else {
            content = naming(owner, typed, advice, context)
        }
        return .page(
            context.page("Social recovery request", in: .guardians, content), status: advice == nil ? 200 : status)
    }

    /// A request in a list.
    func row(_ request: GuardianRequest, _ context: PageContext) -> HTML {
        let owner = request.guardianCase.owner
        return """
            <li><a class="row" href="\(context.to(.guardian(owner)))">\(Part.icon("guard"))<span class="grow">\
            <span class="strong">\(Part.handle(owner))</span><span class="small muted">Asks you to help recover their identity. Call \
            them yourself before you do anything.</span></span>\(Part.icon("next"))</a></li>
            """
    }

    /// The order of its contents is that of the source documents: who asks; how and when they met, and who says so; the warning; what is
    /// claimed; the code; *Decline* before *Confirm*.
    private func screen(
        _ asked: GuardianRequest, _ entry: PersonEntry, _ own: MeetingEvidence, _ typed: FormBody?, _ advice: Advice?,
        _ context: PageContext
    ) -> HTML {
        let owner = asked.guardianCase.owner
        let warning = HTML.when(
            asked.waitsForUser,
            Part.notice(
                Advice(
                    "Only confirm if you are sure this is the real person.",
                    "Call \(owner) yourself, with a number that you had before. Do not use one that came with this request."
                ),
                .changed, context))
        return """
            <section class="card bare" aria-labelledby="t"><div class="line stay">\(Part.icon("lock"))\
            <h1 id="t">Social recovery request</h1></div>\(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            <p class="ask">\(Part.handle(owner)) is asking you to help recover their identity.</p>\
            <div class="line">\(Part.ring(owner, entry.state, isBig: true))<div class="grow">\(met(asked, own))</div>\
            \(Part.badge(entry.state))</div>\(warning)<dl class="facts">\(claims(asked, context))</dl>\
            \(decision(asked, typed, context))</section>
            """
    }

    /// How and when the two met: as this device knows it, or else as the person stated it.
    private func met(_ asked: GuardianRequest, _ own: MeetingEvidence) -> HTML {
        let owner = asked.guardianCase.owner
        if own.kind != .none {
            return """
                <p>\(wording.words(own, with: owner))</p><p class="small muted">Checked by this device: it was there when you compared.</p>
                """
        }
        guard asked.meeting.kind != .none else { return "<p>\(wording.words(own, with: owner))</p>" }
        return """
            <p>\(wording.words(asked.meeting, with: owner))</p><p class="small muted">Stated by them when they chose you (claimed, not \
            proven). This device has no record of it.</p>
            """
    }

    private func claims(_ asked: GuardianRequest, _ context: PageContext) -> HTML {
        let (owner, request) = (asked.guardianCase.owner, asked.guardianCase.request)
        let activity: HTML =
            asked.followsActivity
            ? """
            The newest was added \(WebTime.words(asked.newestDevice, context.now)). If one of their devices still works, call \
            them there first.
            """ : "If \(owner.description) still has a device that works, call them there first."
        return """
            \(Part.fact("Asked", "\(WebTime.words(request.created, context.now)), by that device’s clock"))\
            \(Part.fact(
                "From", "a device that calls itself “<bdi>\(ShownText.of(request.claimedName))</bdi>” (claimed, not proven)"))\
            \(Part.fact("Devices", activity))
            """
    }

    private func decision(_ asked: GuardianRequest, _ typed: FormBody?, _ context: PageContext) -> HTML {
        let owner = asked.guardianCase.owner
        guard asked.waitsForUser else {
            return "<p>\(Self.standing(asked, context))</p>\(again(owner, typed, context))"
        }
        guard asked.isRevealed else {
            return """
                <p>Ask \(Part.handle(owner)) to continue on the new device: it then shows a code for you.</p>\
                <div class="line end"><a class="button" href="\(context.to(.decline(owner)))">Decline</a>\
                <a class="button main" href="\(context.to(.guardian(owner)))">Look again</a></div>
                """
        }
        return """
            \(context.form(
                .guardian(owner), as: "section",
                """
                <input type="hidden" name="state" value="\(StateDigits.of(asked))">\
                \(Part.field(
                    "The three words and two digits that they read to you", name: "code", value: typed?["code"] ?? "",
                    help: "You have one try.",
                    more: " class=\"code-field\" autocapitalize=\"none\" spellcheck=\"false\" required"))\
                \(Part.passphrase("For this act alone: to help \(owner.description) recover."))\
                <div class="line end"><button class="button" type="submit" name="do" value="decline" formnovalidate>Decline</button>\
                <button class="button main" type="submit" name="do" value="confirm">\(Part.icon("lock"))Confirm with passphrase</button></div>
                """))<p class="small"><a href="\(context.to(.decline(owner)))">Someone pretends to be \(owner.description)</a></p>
            """
    }

    /// What became of a request that the user has decided about.
    private static func standing(_ asked: GuardianRequest, _ context: PageContext) -> HTML {
        let owner = asked.guardianCase.owner.description
        switch asked.guardianCase.stage {
        case .asked, .numbered, .matched: return .none
        case .confirmed:
            guard let notBefore = asked.guardianCase.notBefore else {
                return
                    "Confirmed. Ask \(owner) to continue on the new device. The wait begins when the log shows the request."
            }
            return """
                Confirmed. Your part is sent after \(WebTime.words(notBefore, context.now)), when this account is open here. Until then \
                any device of theirs can stop it.
                """
        case .released: return "Your part is on its way, sealed to the new device."
        case .declined: return "You are not helping with this request."
        case .stopped: return "One of their devices says that it was not them. You are not helping."
        case .reported: return "You reported that someone is pretending to be \(owner)."
        }
    }

    // MARK: The number of a request

    private func naming(_ owner: Handle, _ typed: FormBody?, _ advice: Advice?, _ context: PageContext) -> HTML {
        """
        <section class="card bare" aria-labelledby="t"><div><h1 id="t">Does \(owner.description) ask for help?</h1>\
        <p class="lead">You keep a part of what gives them their identity back. The log shows no request of theirs.</p></div>\
        \(advice.map { Part.notice($0, .changed, context) } ?? .none)\(number(owner, typed, context))</section>
        """
    }

    private func again(_ owner: Handle, _ typed: FormBody?, _ context: PageContext) -> HTML {
        """
        <details\(HTML.when(typed?["number"] != nil, " open"))><summary>They began again</summary>\
        \(number(owner, typed, context))</details>
        """
    }

    private func number(_ owner: Handle, _ typed: FormBody?, _ context: PageContext) -> HTML {
        context.form(
            .guardian(owner), as: "section",
            """
            \(Part.field(
                "The number that they read to you", name: "number", value: typed?["number"] ?? "",
                help: "Eight digits, on the new device. Only the first guardian whom they call needs it.",
                more: " inputmode=\"numeric\" required"))\
            <div class="line end">\(Part.button("Look at the request", as: "button main"))</div>
            """)
    }

    // MARK: Acts

    func takeGuardian(_ owner: Handle, _ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let here = WebPath(.guardian(owner), below: mount)
        if let number = form["number"] { return try await takeNumber(number, of: owner, request) }
        // Enter sends the first button of a form. It only leads to the question, and what was typed stays.
        guard form["do"] == "confirm" else {
            request.session.keep(form.kept, of: .guardian(owner))
            return .see(WebPath(.decline(owner), below: mount))
        }
        guard let asked = try await asked(of: owner), form["state"] == StateDigits.of(asked) else {
            return try await guardian(owner, request, Self.moved, status: 409)
        }
        let code = form["code"] ?? ""
        do throws(SignetError) {
            _ = try await account.approved(
                .confirmRecovery(of: owner), with: SecretBytes(copying: (form["passphrase"] ?? "").utf8)
            ) { account, approval throws(SignetError) in
                try await account.confirmRecovery(of: owner, code: code, approval)
            }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await guardian(owner, request, await advice(error))
        }
        request.session.say("You help \(Part.handle(owner)). Nothing is sent before the wait is over.")
        return .see(here)
    }

    private func takeNumber(
        _ typed: String, of owner: Handle, _ request: WebRequest
    ) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        guard let number = RequestNumber(typed: Array(typed.utf8)) else {
            return try await guardian(
                owner, request,
                Advice("That is not the number of a request.", means: "Nothing was asked.", "It has eight digits."))
        }
        do throws(SignetError) { try await account.look(at: number, for: owner) } catch {
            return try await guardian(owner, request, await advice(error))
        }
        return .see(WebPath(.guardian(owner), below: mount))
    }

    func decline(_ owner: Handle, _ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        guard let asked = try await asked(of: owner), asked.waitsForUser else {
            return .see(WebPath(.guardian(owner), below: mount))
        }
        let context = await context(request.session)
        let content: HTML = """
            <section class="card bare" aria-labelledby="t"><div><h1 id="t">Do not help with this request?</h1><p class="lead">If it is \
            \(Part.handle(owner)) after all, they have to begin again.</p></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(context.form(
                .decline(owner), as: "stack",
                """
                <input type="hidden" name="state" value="\(StateDigits.of(asked))">\
                <button class="button main" type="submit" name="do" value="decline">Decline</button>\
                <button class="button" type="submit" name="do" value="report">Decline: someone pretends to be them</button>
                """))<p class="small"><a href="\(context.to(.guardian(owner)))">Back to the request</a></p></section>
            """
        return .page(
            context.page("Do not help with this request?", in: .guardians, content), status: advice == nil ? 200 : 409)
    }

    func takeDecline(_ owner: Handle, _ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        guard let shown = try await asked(of: owner), form["state"] == StateDigits.of(shown) else {
            return try await decline(owner, request, Self.moved)
        }
        _ = request.session.takeTyped(of: .guardian(owner))
        try await account.decline(owner, isReporting: form["do"] == "report")
        request.session.say(
            "You are not helping with this request. Tell \(Part.handle(owner)) in another way: any device of theirs can stop it."
        )
        return .see(WebPath(.guardian(owner), below: mount))
    }

    private func asked(of owner: Handle) async throws(SignetError) -> GuardianRequest? {
        try await account.guarding().requests.first { $0.guardianCase.owner == owner }
    }

    private static let moved = Advice(
        "It is another request than the one that you looked at.", means: "Nothing was confirmed or declined.",
        "Look at this one, and decide again.")
}
