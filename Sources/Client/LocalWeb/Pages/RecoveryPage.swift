// SPDX-License-Identifier: Apache-2.0

import SecretMemory
import Signet

/// A recovery of the user's own identity: any device of the account can stop it.
extension WebPages {
    /// What home says of it.
    func beingRecovered(_ context: PageContext) -> HTML {
        Part.notice(
            Self.underWay, .alarm, context,
            """
            <p class="line"><a class="button danger" href="\(context.to(.recovery))">It is not me: stop it</a></p>
            """)
    }

    func recovery(_ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        let own = try await account.ownAccount()
        let context = await context(request.session)
        let problem: HTML = advice.map { Part.notice($0, .changed, context) } ?? .none
        guard own.isBeingRecovered else {
            let none = Advice(
                "The log shows no request for your identity.",
                "If a guardian was asked in your name, tell them that it was not you.")
            return .page(
                context.page(
                    "No recovery", in: .home, isNarrow: true,
                    "\(problem)\(Part.notice(none, .known, context, isPage: true))"),
                status: advice == nil ? 200 : 422)
        }
        let content: HTML = """
            \(Part.notice(Self.underWay, .alarm, context, isPage: true))\(problem)\
            <section class="card" aria-labelledby="stop"><div><h2 id="stop">Was this you?</h2><p class="muted">Stopping it is entered in \
            the log, your guardians are told, and nothing new can begin for a day.</p></div>\
            \(context.form(
                .recovery, as: "section",
                """
                \(Part.passphrase("For this act alone: to stop the recovery."))<div class="line">\
                \(Part.button("It is not me: stop it", as: "button danger"))\
                <a class="button" href="\(context.to(.home))">It is me</a></div>
                """))</section>
            """
        return .page(
            context.page("Someone asks for your identity", in: .home, isNarrow: true, content),
            status: advice == nil ? 200 : 422)
    }

    func takeRecovery(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        do throws(SignetError) {
            try await account.approved(
                .cancelRecovery, with: SecretBytes(copying: (form["passphrase"] ?? "").utf8)
            ) { account, approval throws(SignetError) in try await account.stopRecovery(approval) }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await recovery(request, await advice(error))
        }
        request.session.say(
            """
            Stopped, and the log proves it. Nothing new can begin for a day. Ask your guardians who called them, and consider choosing \
            others.
            """)
        return .see(WebPath(.home, below: mount))
    }

    private static let underWay = Advice(
        "Someone asks your guardians for your identity.",
        means: "If they get what they ask for, your devices are removed and theirs takes your place.",
        "If it was not you, stop it now: any device of yours can.")
}
