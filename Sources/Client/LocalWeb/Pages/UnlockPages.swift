// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

extension WebPages {
    func unlock(_ request: WebRequest, _ advice: Advice?) async -> WebAnswer {
        let context = await context(request.session)
        let to = request.form?["to"] ?? request.query["to"] ?? ""
        guard !context.isUnlocked else { return .see(WebPath(wanted(to), below: mount)) }
        guard let handle = context.handle else { return await withoutAccount(context) }
        let wrong: HTML =
            advice.map { advice in
                """
                <p class="wrong" id="wrong">\(Part.icon("alarm")) \(advice.what)</p><p>\(Part.remedy(advice.remedy, context))</p>
                """
            } ?? .none
        let invalid = HTML.when(advice != nil, " aria-invalid=\"true\" aria-describedby=\"wrong\"")
        let content: HTML = """
            <div class="bare roomy"><div class="head"><div><h1>Unlock</h1><p class="lead">Your account is locked on this device. It \
            opens with your passphrase, which stays in this process and is never sent to a server.</p></div></div>\
            \(context.form(
                .unlock, as: "card",
                """
                <input type="hidden" name="to" value="\(typed: to)">\
                <div class="field"><label for="username">Handle</label><input id="username" name="username" \
                autocomplete="username" value="\(handle.description)" readonly></div>\
                <div class="field"><label for="passphrase">Passphrase</label><input id="passphrase" type="password" \
                name="passphrase" autocomplete="current-password" required autofocus\(invalid)>\(wrong)</div>\
                <div class="line">\(Part.button("Unlock", as: "button main"))</div>
                """))\
            <p class="small muted">Stays open for 15 minutes after your last action. What you typed before is kept.</p></div>
            """
        return .page(context.page("Unlock", in: .home, content), status: advice == nil ? 200 : 422)
    }

    func takeUnlock(_ form: FormBody, _ request: WebRequest) async -> WebAnswer {
        let passphrase = SecretBytes(copying: (form["passphrase"] ?? "").utf8)
        do throws(SignetError) { try await account.unlock(passphrase) } catch {
            return await unlock(request, await advice(error))
        }
        return .see(WebPath(wanted(form["to"]), below: mount))
    }

    private func withoutAccount(_ context: PageContext) async -> WebAnswer {
        let advice = await advice(.noAccount(folder: account.home.folder.path))
        return .page(
            context.page("No account", in: .home, isNarrow: true, Part.notice(advice, .known, context, isPage: true)))
    }
}
