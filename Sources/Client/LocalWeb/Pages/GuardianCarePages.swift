// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// What the user does with guardians who were chosen.
enum GuardianCare: String, CaseIterable, Sendable {
    case rehearse, refresh, paper, remind, withdraw

    /// Whether it is about people who are asked and are not in force yet.
    var isAboutAsked: Bool { self == .remind || self == .withdraw }

    var label: StaticString {
        switch self {
        case .rehearse: "Look whether those who answered could give you your identity back"
        case .refresh: "Give them new parts"
        case .paper: "Show a line to keep on paper"
        case .remind: "Ask again those who have not answered"
        case .withdraw: "Give up those whom you are asking"
        }
    }

    var help: StaticString {
        switch self {
        case .rehearse: "Nothing is recovered, and nobody is asked anything more."
        case .refresh:
            "Whenever someone may have seen what a guardian keeps. The old parts do not open what you write afterwards."
        case .paper:
            "With it you can begin a recovery without a guardian. Whoever has it can ask for your identity, and nothing more."
        case .remind: "They were asked when you chose them."
        case .withdraw: "Guardians who are in force stay."
        }
    }
}

/// Rehearsing, reminding, withdrawing and refreshing guardians, and the paper.
extension WebPages {
    func careForGuardians(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        let (chosen, _) = try await account.guardians()
        guard chosen.current != nil || chosen.next != nil else { return .see(WebPath(.guardians, below: mount)) }
        let context = await context(request.session)
        let typed = request.form?["act"]
        let acts = GuardianCare.allCases.filter { chosen.next != nil || !$0.isAboutAsked }.map { act -> HTML in
            """
            <li><label class="choice"><input type="radio" name="act" value="\(act.rawValue)" required\
            \(HTML.when(typed == act.rawValue, " checked"))><span class="grow"><span class="strong">\(word: act.label)</span>\
            <span class="small muted">\(word: act.help)</span></span></label></li>
            """
        }
        let content: HTML = """
            \(Part.crumb("Guardians", context.to(.guardians)))<div class="head"><div><h1>Rehearse, and take care of them</h1>\
            <p class="lead">What is never tried is not there when it is needed. Once a year is a good habit.</p></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            <section class="card" aria-labelledby="ask"><h2 id="ask">First, ask them all</h2><p class="muted">Each of them answers by opening \
            their app once. It shows that they still keep their part.</p>\(context.form(
                .askGuardiansAll, as: "line end", Part.button("Ask them all")))</section>\
            <section class="card" aria-labelledby="then"><h2 id="then">Then</h2>\(context.form(
                .careForGuardians, as: "section",
                """
                <fieldset class="field"><legend class="quiet">What to do</legend><ul class="list">\(acts)</ul></fieldset>\
                \(Part.passphrase("For this act alone: your guardians."))\
                <div class="line end">\(Part.button("Go on", as: "button main"))</div>
                """))</section>
            """
        return .page(
            context.page("Take care of your guardians", in: .guardians, isNarrow: true, content),
            status: advice == nil ? 200 : 422)
    }

    func takeAskAll(_ request: WebRequest) async throws(SignetError) -> WebAnswer {
        do throws(SignetError) { try await account.needed().checkGuardians() } catch .presence(.locked) {
            throw .presence(.locked)
        } catch { return try await careForGuardians(request, await advice(error)) }
        request.session.say("They are asked. Once they have opened their app, look here what has come of it.")
        return .see(WebPath(.careForGuardians, below: mount))
    }

    func takeCare(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        guard let act = form["act"].flatMap(GuardianCare.init) else {
            return try await careForGuardians(request, Advice("Nothing is chosen.", "Choose what to do below."))
        }
        let passphrase = SecretBytes(copying: (form["passphrase"] ?? "").utf8)
        do throws(SignetError) {
            switch act {
            case .rehearse: return try await rehearse(with: passphrase, request)
            case .paper: return try await showPaper(with: passphrase, request)
            case .refresh:
                _ = try await account.approved(.setUpGuardians, with: passphrase) {
                    account, approval throws(SignetError) in
                    try await account.refreshGuardians(approval)
                }
                request.session.say("They get new parts. The old ones count until enough of the new ones are kept.")
            case .remind:
                _ = try await account.approved(.setUpGuardians, with: passphrase) {
                    account, approval throws(SignetError) in
                    try await account.remindGuardians(approval)
                }
                request.session.say("Those who have not answered are asked again.")
            case .withdraw:
                _ = try await account.approved(.setUpGuardians, with: passphrase) {
                    account, approval throws(SignetError) in
                    try await account.withdrawGuardians(approval)
                }
                request.session.say("The people whom you were asking are asked no longer.")
            }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await careForGuardians(request, await advice(error))
        }
        return .see(WebPath(.guardians, below: mount))
    }

    private func rehearse(with passphrase: SecretBytes, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let action = try await account.needed().home.guardiansAction()
        let found = try await account.approved(action, with: passphrase) { account, approval throws(SignetError) in
            try await account.rehearse(approval)
        }
        guard let standing = found else {
            return try await careForGuardians(
                request, Advice("No one has been asked yet.", "Ask them all first, below."))
        }
        let context = await context(request.session)
        let silent = standing.silent.map {
            "<li>\(Part.icon("clock")) \(Part.handle($0)) has not shown that they keep their part</li>" as HTML
        }
        let remedy =
            standing.isRecoverable
            ? "" : "Ask those who are silent to open their app, or choose others."
        let tone: Part.Tone = standing.spare < 1 ? .alarm : standing.spare == 1 ? .changed : .good
        let content: HTML = """
            \(Part.crumb("Guardians", context.to(.guardians)))\
            \(Part.notice(
                Advice(wording.words(standing).sentence, remedy), tone, context, isPage: true,
                HTML.when(!silent.isEmpty, "<ul class=\"stack\">\(silent)</ul>")))
            """
        return .page(context.page("Rehearsal", in: .guardians, isNarrow: true, content))
    }

    private func showPaper(with passphrase: SecretBytes, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let paper = try await account.approved(.showPaperShare, with: passphrase) {
            account, approval throws(SignetError) in
            try await account.recoveryPaper(approval)
        }
        let context = await context(request.session)
        let content: HTML = """
            \(Part.crumb("Guardians", context.to(.guardians)))<div class="head"><div><h1>For paper</h1><p class="lead">Write it down, or print \
            this page, and keep it away from your devices. It is good for the guardians in force.</p></div></div>\
            <section class="card"><p><code class="break">\(paper.trimmed)</code></p><p class="small muted">Whoever has it can ask for your \
            identity, and nothing more: guardians still give their parts only to the person who reads them the right code.</p></section>
            """
        return .page(context.page("For paper", in: .guardians, isNarrow: true, content))
    }
}
