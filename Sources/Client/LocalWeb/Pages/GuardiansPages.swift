// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// The user's own guardians: who they are, and how others are chosen.
extension WebPages {
    func guardians(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        let found = try await account.guarding()
        let (chosen, own) = try await account.guardians()
        let context = await context(request.session)
        let isAny = chosen.current != nil || chosen.next != nil || own.hasGuardians
        let choose: HTML = """
            <a class="button\(HTML.when(!isAny, " main"))" href="\(context.to(.chooseGuardians))">\
            \(isAny ? "Choose others" : "Choose guardians")</a>
            """
        let content: HTML = """
            <div class="head"><div><h1>Guardians</h1><p class="lead">If you lose every device, your guardians together give you your \
            identity back. Alone, none of them can, and none is told who the others are.</p></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(asking(found.requests.filter(\.waitsForUser), context))\
            \(set(chosen.current, isInForce: true, chosen, context))\(set(chosen.next, isInForce: false, chosen, context))\
            \(HTML.when(
                own.hasGuardians && chosen.current == nil && chosen.next == nil,
                Part.notice(Advice("Your guardians were chosen on another device of yours.", ""), .good, context)))\
            \(isAny ? refreshing(context) : Part.empty("guard", "<p>You have no guardians yet.</p>\(choose)"))\
            \(HTML.when(isAny, "<p class=\"line\">\(choose)\(chosen.current ?? chosen.next == nil ? .none : care(context))</p>"))\(kept(found, context))
            """
        return .page(
            context.page("Guardians", in: .guardians, isNarrow: true, content), status: advice == nil ? 200 : 422)
    }

    private func care(_ context: PageContext) -> HTML {
        " <a class=\"button\" href=\"\(context.to(.careForGuardians))\">Rehearse, and take care of them</a>"
    }

    private func asking(_ requests: [GuardianRequest], _ context: PageContext) -> HTML {
        HTML.when(
            !requests.isEmpty,
            """
            <section class="section" aria-labelledby="asks"><h2 id="asks">Ask for your help</h2><ul class="list">\
            \(requests.map { row($0, context) })</ul></section>
            """)
    }

    private func set(
        _ setup: RecoverySetup?, isInForce: Bool, _ chosen: ChosenGuardians, _ context: PageContext
    ) -> HTML {
        guard let setup else { return .none }
        let count: HTML = "\(setup.keptCount) of \(setup.guardians.count) keep their part"
        let rows = setup.guardians.map { guardian -> HTML in
            let handle = guardian.key.handle
            let compared: HTML =
                switch chosen.comparisons[handle] ?? .none {
                case .none: "Not compared"
                case .compared(let comparison), .outdated(let comparison): "\(wording.words(comparison))"
                }
            return """
                <li class="row">\(Part.icon(guardian.isKept ? "check" : "clock"))<div class="grow"><p class="strong">\
                \(Part.handle(handle))</p><p class="small muted">\(compared)</p></div><span class="small">\
                \(guardian.isKept ? "keeps a part" : "has not answered yet")</span></li>
                """
        }
        let head =
            isInForce
            ? Advice("Your guardians are in force.", "")
            : Advice(
                "These people are asked.",
                means: "They are your guardians once \(setup.neededCount) of them keep their part.",
                "Ask them to open their app once; then bring this up to date below.")
        return """
            \(Part.notice(head, isInForce ? .good : .known, context))<ul class="list">\(rows)</ul><dl class="facts card">\
            \(Part.fact("Kept", count))\(Part.fact("Needed", "any \(setup.threshold) of them"))\
            \(Part.fact("You can stop it for", "\(wording.words(ofWait: UInt64(setup.bundle.delay)))"))</dl>
            """
    }

    private func refreshing(_ context: PageContext) -> HTML {
        """
        <section class="card" aria-labelledby="up"><div><h2 id="up">Bring up to date</h2><p class="muted">Takes their answers, puts \
        them in force once there are enough, and has them guard what is new. None of them is asked anything.</p></div>\
        \(context.form(
            .guardians, as: "section",
            """
            \(Part.passphrase("For this act alone: your guardians."))\
            <div class="line end">\(Part.button("Bring up to date"))</div>
            """))</section>
        """
    }

    /// What the user keeps for others, and what else came to light.
    private func kept(_ found: Guarding, _ context: PageContext) -> HTML {
        guard !found.duties.isEmpty || !found.notices.isEmpty else { return .none }
        let rows = found.duties.map { duty -> HTML in
            """
            <li><a class="row" href="\(context.to(.guardian(duty.owner)))">\(Part.icon("guard"))<span class="grow">\
            <span class="strong">\(Part.handle(duty.owner))</span><span class="small muted">You keep a part, which alone opens \
            nothing</span></span>\(Part.icon("next"))</a></li>
            """
        }
        return """
            <section class="section" aria-labelledby="kept"><h2 id="kept">You are a guardian of</h2>\
            \(found.notices.map { Part.notice(words($0, context), .changed, context) })<ul class="list">\(rows)</ul></section>
            """
    }

    private func words(_ notice: GuardianNotice, _ context: PageContext) -> Advice {
        switch notice {
        case .failed(let owner, _):
            Advice("What concerns \(owner) could not be done.", "Open this page again later, and tell them.")
        case .changed(let owner):
            Advice(
                "\(owner) sent you something, but has changed since you accepted them: it is waiting.",
                "Look at the change: signet people trust \(owner).")
        case .replaced(let owner, let since, let until):
            Advice(
                "\(owner) has had other guardians since \(WebTime.words(since, context.now)).",
                means: "Your part still helps until \(WebTime.words(until, context.now)).",
                "If they did not tell you, call them: someone may have their device.")
        }
    }

    func takeGuardians(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let found: Guardianship
        do throws(SignetError) {
            let action = try await account.needed().home.guardiansAction()
            found = try await account.approved(action, with: SecretBytes(copying: (form["passphrase"] ?? "").utf8)) {
                account, approval throws(SignetError) in try await account.guardians(approval)
            }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await guardians(request, await advice(error))
        }
        if let refusal = found.refusal {
            let error: RecoveryClientError =
                switch refusal {
                case .recoveryIsOpen: .recoveryIsOpen
                case .changedTooSoon(let until): .changedTooSoon(until: until)
                }
            return try await guardians(request, await advice(.recovery(error)))
        }
        request.session.say(
            found.next == nil ? "Your guardians are in force." : "Too few of them have answered so far.")
        return .see(WebPath(.guardians, below: mount))
    }

    // MARK: Choosing

    func chooseGuardians(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        let people = try await account.everybody().filter { $0.person.pinned != nil }
        let context = await context(request.session)
        let plan = GuardianPlan(request.form ?? request.query)
        let content: HTML = """
            \(Part.crumb("Guardians", context.to(.guardians)))<div class="head"><div><h1>Choose guardians</h1><p class="lead">Step 1 of \
            2: people whom you would recognise on the telephone, and who do not all live together.</p></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            <form class="section" action="\(context.to(.askGuardians))"><fieldset class="field"><legend class="quiet">Who</legend>\
            <ul class="list">\(people.map { choice($0, plan, context) })</ul></fieldset><div class="card">\
            \(Part.field(
                "How many of them are needed", name: "needed", value: plan.needed,
                help: "At least two, and fewer than you choose: one who is lost must not be one too many.",
                more: " inputmode=\"numeric\" required"))\
            <div class="field"><label for="wait">How long you can still say no</label><select id="wait" name="wait">\
            \(GuardianPlan.waits.map { waiting($0, plan) })</select><p class="help">Within this time any device of yours can stop a recovery \
            that you did not ask for.</p></div></div><div class="line end">\
            <a class="button plain" href="\(context.to(.guardians))">Cancel</a>\(Part.button("Go on", as: "button main"))</div></form>
            """
        return .page(
            context.page("Choose guardians", in: .guardians, isNarrow: true, content), status: advice == nil ? 200 : 422
        )
    }

    private func waiting(_ seconds: UInt32, _ plan: GuardianPlan) -> HTML {
        """
        <option value="\(Int(seconds))"\(HTML.when(plan.wait == seconds, " selected"))>\
        \(wording.words(ofWait: UInt64(seconds)))</option>
        """
    }

    /// A person to choose; one whose change waits for a decision cannot be chosen.
    private func choice(_ entry: PersonEntry, _ plan: GuardianPlan, _ context: PageContext) -> HTML {
        let line: HTML = """
            <span class="grow"><b>\(Part.handle(entry.handle))</b><span class="small muted">\
            \(PeopleWords.line(entry, wording, context.now))</span></span>\(Part.badge(entry.state))
            """
        guard !entry.isStopped else {
            return """
                <li class="choice"><span class="box"></span>\(Part.ring(entry.handle, entry.state))<span class="grow">\
                <b>\(Part.handle(entry.handle))</b><span class="small"><a href="\(context.to(.person(entry.handle)))">Decide about them</a> \
                first.</span></span>\(Part.badge(entry.state))</li>
                """
        }
        let isChosen = plan.people.contains(entry.handle.description)
        return """
            <li><label class="choice"><input type="checkbox" name="who" value="\(entry.handle.description)"\
            \(HTML.when(isChosen, " checked"))>\(Part.ring(entry.handle, entry.state))\(line)</label></li>
            """
    }

    func askGuardians(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        let typed = request.form ?? request.session.takeTyped(of: .askGuardians) ?? request.query
        let plan = GuardianPlan(typed)
        if let problem = plan.problem {
            return try await chooseGuardians(request, await self.advice(.recovery(.setup(problem))))
        }
        let context = await context(request.session)
        let names = plan.people.map {
            "<li class=\"row\">\(Part.icon("guard"))<p class=\"strong\">\($0)</p></li>" as HTML
        }
        let content: HTML = """
            \(Part.crumb("Choose others", context.to(.chooseGuardians, plan.query)))<div class="head"><div><h1>Ask them?</h1>\
            <p class="lead">Step 2 of 2: any \(plan.needed) of these \(plan.people.count) will be able to give you your identity back.</p>\
            </div></div>\(advice.map { Part.notice($0, .changed, context) } ?? .none)<ul class="list">\(names)</ul>\
            \(context.form(
                .askGuardians, as: "card",
                """
                \(plan.query.map { "<input type=\"hidden\" name=\"\($0.0)\" value=\"\(typed: $0.1)\">" as HTML })\
                <p>Each of them is sent a part, which is useless alone. For \(wording.words(ofWait: UInt64(plan.wait))) any device of \
                yours can stop a recovery.</p>\(Part.passphrase("For this act alone: to choose your guardians."))\
                <div class="line end">\(Part.button("Ask them", as: "button main"))</div>
                """))
            """
        return .page(
            context.page("Ask them?", in: .guardians, isNarrow: true, content), status: advice == nil ? 200 : 422)
    }

    func takeAsk(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let plan = GuardianPlan(form)
        guard plan.problem == nil, let needed = Int(plan.needed) else { return try await askGuardians(request, nil) }
        let handles = plan.people.compactMap { try? Handle($0) }
        do throws(SignetError) {
            let (chosen, own) = try await account.guardians()
            let isReplacing = chosen.current != nil || own.hasGuardians
            _ = try await account.approved(
                .setUpGuardians, with: SecretBytes(copying: (form["passphrase"] ?? "").utf8)
            ) { account, approval throws(SignetError) in
                try await account.chooseGuardians(
                    handles, threshold: needed, wait: .seconds(plan.wait), isReplacing: isReplacing, approval)
            }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await askGuardians(request, await advice(error))
        }
        request.session.say("Asked. Each of them keeps their part by opening their app once.")
        return .see(WebPath(.guardians, below: mount))
    }
}

/// Whom the user wants as guardians, as the two pages hand it on.
struct GuardianPlan {
    /// The waits that can be chosen, in seconds.
    static let waits: [UInt32] = [RecoveryCommitment.standardDelay, 7 * 86_400, 30 * 86_400]

    let people: [String]
    let needed: String
    let wait: UInt32

    init(_ form: FormBody) {
        people = form.all("who")
        needed = (form["needed"] ?? "3").trimmed
        wait = form["wait"].flatMap { UInt32($0) }.flatMap { Self.waits.contains($0) ? $0 : nil } ?? Self.waits[0]
    }

    var query: [(String, String)] {
        people.map { ("who", $0) } + [("needed", needed), ("wait", "\(wait)")]
    }

    /// Why no one can be asked so; nil if they can.
    var problem: RecoverySetupError? {
        guard let number = Int(needed), number >= 2 else { return .thresholdTooLow(Int(needed) ?? 0) }
        guard people.count > number else { return .tooFewGuardians(needed: number + 1) }
        return nil
    }
}
