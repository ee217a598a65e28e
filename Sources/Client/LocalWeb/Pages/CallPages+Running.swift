// SPDX-License-Identifier: Apache-2.0

import Signet
import SignetCalls

/// The call in which this device is.
extension WebPages {
    func call(_ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let desk = try await account.calls()
        guard let call = await desk.running else { return .see(WebPath(.calls, below: mount)) }
        let facts = await call.facts()
        // The directory is asked now and then, so that the page says when it does not answer.
        let states = Dictionary(try await account.everybody().map { ($0.handle, $0.state) }) { first, _ in first }
        let context = await context(request.session)
        let tiles = facts.people.map { tile($0, states[$0.handle] ?? .new, facts.isHost, context) }
        let troubles = facts.people.compactMap { Self.trouble($0) }
        let content: HTML = """
            <div class="head"><div><h1>\(Self.names(call.people))</h1><p class="lead">Since \(WebTime.words(facts.began, context.now)) · sealed \
            from device to device</p></div>\(Self.weakest(facts.people, states))</div>\(alarms(facts, context))\
            <ul class="tiles">\(tiles)</ul><p class="quiet" role="status">\(troubles)</p>\(bar(facts, context))\
            \((facts.trouble ?? desk.shortcoming).map { "<p class=\"small\" role=\"status\">\(Part.icon("changed")) \($0)</p>" as HTML } ?? .none)\
            \(digits(facts))\(happened(facts, context))
            """
        return .live(
            context.page(
                "In call with \(call.people.map(\.description).joined(separator: ", "))", in: .calls,
                live: context.to(.call), content))
    }

    /// What is wrong with the call as a whole.
    private func alarms(_ facts: CallFacts, _ context: PageContext) -> HTML {
        if facts.isForked {
            return Part.notice(
                Advice(
                    "The directory showed someone in this call another log than yours.",
                    means: "That is a proof that anybody can check; it was kept. Nothing is sent any more.",
                    "Leave the call, and do not use this directory."), .alarm, context)
        }
        let stranger: HTML = HTML.when(
            facts.hasStranger,
            Part.notice(
                Advice(
                    "Someone unverified is in the call.", means: "Nothing of yours is sent while they are.",
                    "Leave the call, or wait until they are removed."), .alarm, context))
        let forgery = facts.forgery.flatMap { remark($0, facts) }.map { said in
            Part.notice(
                Advice(
                    "Somebody in this call speaks in the name of another.", means: "\(said.text).",
                    "Believe nothing of what was said in that name. Leave the call, and ring again without those who are named."
                ),
                .alarm, context)
        }
        return "\(stranger)\(forgery ?? .none)"
    }

    private static func weakest(_ people: [CallFacts.Person], _ states: [Handle: TrustState]) -> HTML {
        let all = people.map { states[$0.handle] ?? .new }
        let order: [TrustState] = [.alarm, .changed, .new, .known, .compared]
        guard let weakest = order.first(where: { all.contains($0) }) else { return .none }
        guard people.count > 1, weakest != .compared else { return Part.badge(weakest) }
        let count = all.count { $0 == weakest }
        return """
            <span class="badge is-\(word: weakest.name)">\(Part.icon(weakest.name))\(count) of \(people.count): \(word: weakest.word)</span>
            """
    }

    private func tile(
        _ person: CallFacts.Person, _ state: TrustState, _ isHost: Bool, _ context: PageContext
    ) -> HTML {
        let kind: StaticString =
            switch person.standing {
            case .heard: "tile tile-speaking"
            case .silent: "tile tile-trouble"
            default: "tile"
            }
        let remove: HTML = HTML.when(
            isHost && person.standing.isPresent,
            """
            <details id="remove-\(person.handle.description)"><summary>Remove</summary><p class="small muted">For good: they come back only if \
            this device lets them, in a terminal.</p>\(context.form(
                .steerCall, as: "line",
                """
                <input type="hidden" name="act" value="remove"><input type="hidden" name="who" value="\(person.handle.description)">\
                <button class="button danger" type="submit" aria-label="Remove \(person.handle.description) for good">Remove for good</button>
                """))</details>
            """)
        return """
            <li class="\(word: kind)">\(Part.ring(person.handle, state, isBig: true))<h2>\(Part.handle(person.handle))</h2>\
            \(Part.badge(state))<p class="small">\(Self.words(person))</p>\(remove)</li>
            """
    }

    private static func words(_ person: CallFacts.Person) -> HTML {
        if let trouble = trouble(person) { return "\(Part.icon("changed")) \(trouble)" }
        switch person.standing {
        case .ringing: return "Ringing …"
        case .awaited, .coming: return "On the way in …"
        case .declined: return "Declined"
        case .busy: return "In another call"
        case .missed: return "Did not answer"
        case .left: return "Left"
        case .here: return "In the call"
        case .heard, .silent: return "\(Part.icon("mic")) You hear them"
        }
    }

    /// Trouble is named, with the person who has it.
    private static func trouble(_ person: CallFacts.Person) -> HTML? {
        guard case .silent(let seconds, let isClosed) = person.standing else { return nil }
        // In steps, so that a page that looks for news does not change each time.
        let (number, unit) = seconds < 60 ? (max(3, seconds / 5 * 5), "seconds") : (seconds / 60, "minutes")
        let why: HTML =
            isClosed
            ? "What opens their sound has not arrived; it was asked for."
            : "Nothing of theirs has arrived for \(Int(clamping: number)) \(unit)."
        let todo: HTML = HTML.when(seconds >= 10, " They may have to join again.")
        return "<b>You do not hear \(Part.handle(person.handle)).</b> \(why)\(todo)"
    }

    private func bar(_ facts: CallFacts, _ context: PageContext) -> HTML {
        let mute = context.form(
            .steerCall, as: "line",
            """
            <input type="hidden" name="act" value="\(word: facts.isMuted ? "unmute" : "mute")">\
            <button class="button" type="submit" aria-pressed="\(word: facts.isMuted ? "true" : "false")">\
            \(Part.icon(facts.isMuted ? "muted" : "mic"))\(facts.isMuted ? "Muted" : "Mute")</button>
            """)
        let leave = context.form(
            .steerCall, as: "line",
            """
            <input type="hidden" name="act" value="leave">\(Part.button("\(Part.icon("end"))Leave", as: "button danger"))
            """)
        return "<div class=\"bar bar-call\">\(mute)\(leave)</div>"
    }

    private func digits(_ facts: CallFacts) -> HTML {
        guard let code = facts.code else { return .none }
        let groups = stride(from: 0, to: code.count, by: 5).map { start -> HTML in
            "<li>\(String(decoding: code[start..<min(start + 5, code.count)], as: UTF8.self))</li>"
        }
        return """
            <section class="card" aria-labelledby="same"><div><h2 id="same">Are these the same for everybody?</h2><p class="muted">Let \
            somebody read them aloud. They change when somebody joins or leaves. If somebody has others, leave: someone may sit between \
            you.</p></div><ol class="digits digits-call" dir="ltr" aria-label="\(code.count) digits in \(groups.count) groups">\
            \(groups)</ol></section>
            """
    }

    private func happened(_ facts: CallFacts, _ context: PageContext) -> HTML {
        let rows = facts.remarks.reversed().compactMap { remark -> HTML? in
            if case .code = remark.notice { return nil }
            return self.remark(remark.notice, facts).map { said in
                """
                <li class="row">\(Part.icon(said.tone.icon))<div class="grow"><p>\(said.text)</p><p class="small muted">\
                \(WebTime.words(remark.time, context.now))</p></div></li>
                """
            }
        }
        return HTML.when(
            !rows.isEmpty,
            "<details id=\"happened\"><summary>What happened in this call</summary><ul class=\"list\">\(rows)</ul></details>"
        )
    }

    private func remark(_ notice: CallNotice, _ facts: CallFacts) -> CallRemark? {
        wording.remark(notice) { device in
            facts.known[device].map {
                $0.deviceNumber == 1 ? $0.handle.description : "\($0.handle) (device \($0.deviceNumber))"
            }
        }
    }

    func takeSteering(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let desk = try await account.calls()
        guard let call = await desk.running else { return .see(WebPath(.calls, below: mount)) }
        switch form["act"] {
        case "mute": call.set(muted: true)
        case "unmute": call.set(muted: false)
        case "leave":
            await call.leave()
            request.session.say("You left the call.")
            return .see(WebPath(.calls, below: mount))
        case "remove": if let handle = form["who"].flatMap({ try? Handle($0) }) { await call.remove(handle) }
        default: break
        }
        return .see(WebPath(.call, below: mount))
    }
}

extension CallRemark.Tone {
    fileprivate var icon: StaticString {
        switch self {
        case .plain: "info"
        case .warning: "changed"
        case .alarm: "alarm"
        }
    }
}
