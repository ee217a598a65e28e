// SPDX-License-Identifier: Apache-2.0

import Signet

extension WebPages {
    func home(_ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let people = try await account.everybody()
        let asking = await asking()
        let isBeingRecovered = await account.recoverySeen?.isUnderWay == true
        let findings = await account.alarms
        let home = await account.home
        let ringing = await account.ringing()
        let running = await account.runningCall()
        let context = await context(request.session)
        let restored = await account.restorations.map { Part.notice(wording.advice($0, in: home), .known, context) }
        let states = Dictionary(people.map { ($0.handle, $0.state) }) { first, _ in first }
        let needing = people.filter(\.needsDecision)
        let alarms = findings.map { wording.advice($0, in: home) } + forks(people, home)
        let recovered = HTML.when(isBeingRecovered, beingRecovered(context))
        let loudest: HTML = alarms.first.map { Part.notice($0, .alarm, context) } ?? .none
        let queued = HTML.when(
            alarms.count > 1,
            """
            <section class="section" aria-labelledby="more"><h2 id="more">Other alarms</h2><ul class="list">\
            \(alarms.dropFirst().map { "<li class=\"row\">\(Part.icon("alarm"))<div class=\"grow\"><p>\($0.what)</p></div></li>" as HTML })\
            </ul></section>
            """)
        let keys = HTML.when(
            await account.hasNewDirectoryKeys,
            Part.notice(
                Advice(
                    "The directory has new keys.",
                    means: "The change was in its log, cosigned by the previous quorum, and was followed.",
                    "There is nothing to do."), .known, context))
        let count = needing.count + alarms.count + asking.count + ringing.count + (isBeingRecovered ? 1 : 0)
        let isCalm = count == 0
        let content: HTML = """
            <div class="head"><div><h1>\(isCalm && context.isUnlocked ? "Nothing needs you" : "Home")</h1><p class="lead">\
            \(Self.lead(count, context))</p></div></div>\
            \(rings(ringing, states, context))\(running.map { goBack(to: $0, context) } ?? .none)\
            \(recovered)\(loudest)\(queued)\(keys)\(restored)\(rows(needing, asking, context))\(context.isUnlocked ? .none : locked(context))\
            \(isCalm ? calm(people, context) : .none)
            """
        return .live(
            context.page("Home", in: .home, live: context.to(.home), content))
    }

    /// That the directory showed a friend another log is the loudest of all.
    private func forks(_ people: [PersonEntry], _ home: OpenHome) -> [Advice] {
        people.compactMap { entry in
            guard case .failure(let error) = entry.person.request, case .forkMet = error else { return nil }
            return wording.advice(.client(error), in: home)
        }
    }

    private static func lead(_ count: Int, _ context: PageContext) -> HTML {
        guard count > 0 else {
            return context.isUnlocked
                ? "No requests, no changes, no alarms."
                : "As far as this device remembers. Unlock to ask the directory."
        }
        return count == 1 ? "One thing needs you." : "\(count) things need you."
    }

    /// The people who ask the user, as their guardian, for help.
    private func asking() async -> [GuardianRequest] {
        guard await account.opened() != nil else { return [] }
        _ = try? await account.guarding(olderThan: WebAccount.guardingSeconds)
        await account.lookForRecovery()
        return await account.requests
    }

    private func rows(_ people: [PersonEntry], _ asking: [GuardianRequest], _ context: PageContext) -> HTML {
        guard !people.isEmpty || !asking.isEmpty else { return .none }
        return """
            <section class="section" aria-labelledby="needs"><h2 id="needs">Needs you</h2><ul class="list">\
            \(asking.map { row($0, context) })\(people.map { row($0, context) })</ul></section>
            """
    }

    private func locked(_ context: PageContext) -> HTML {
        """
        <section class="notice">\(Part.icon("lock"))<div><h2>Locked</h2><p>Requests, news and notes are shown once you give your \
        passphrase.</p><p class="line"><a class="button main" href="\(context.to(.unlock))">Unlock</a></p></div></section>
        """
    }

    private func calm(_ people: [PersonEntry], _ context: PageContext) -> HTML {
        guard people.isEmpty else {
            return """
                <section class="section" aria-labelledby="go"><h2 id="go">Go on with</h2><ul class="list">\
                <li><a class="row" href="\(context.to(.people))">\(Part.icon("people"))<span class="grow">\
                <span class="strong">People</span><span class="small muted">\(Self.count(people.count, "person", "people")), \
                \(people.count { $0.state == .compared }) compared</span></span>\(Part.icon("next"))</a></li>\
                <li><a class="row" href="\(context.to(.notes))">\(Part.icon("note"))<span class="grow"><span class="strong">Notes</span>\
                <span class="small muted">The server keeps them and can read none</span></span>\(Part.icon("next"))</a></li>\
                </ul></section>
                """
        }
        return Part.empty(
            "people",
            """
            <p>The people whom you add stand here when they need you.</p>\
            <a class="button main" href="\(context.to(.people))">Add a person</a>
            """)
    }

    static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }
}
