// SPDX-License-Identifier: Apache-2.0

import Signet

/// How sharing a note ends, and what happened to it.
extension WebPages {
    // MARK: The owner stops sharing

    func unshare(_ note: NoteID, _ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        let facts = try await account.notes { book throws(NotesError) in try await book.facts(note) }
        guard facts.standing == .owner, !facts.members.isEmpty else { return .see(WebPath(.note(note), below: mount)) }
        let context = await context(request.session)
        let typed = request.form ?? request.session.takeTyped(of: .unshare(note))
        let rows = facts.members.map { member -> HTML in
            """
            <li><label class="choice"><input type="radio" name="who" value="\(member.handle.description)" required\
            \(HTML.when(typed?["who"] == member.handle.description, " checked"))><span class="grow strong">\(Part.handle(member.handle))\
            </span></label></li>
            """
        }
        let content: HTML = """
            \(Part.crumb(NoteWords.plainTitle(facts), context.to(.note(note))))<div class="head"><div><h1>Stop sharing</h1>\
            <p class="lead">The note gets a new key at once, which they do not have. What they have read, or copied, cannot be taken back.</p>\
            </div></div>\(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(context.form(
                .unshare(note), as: "card",
                """
                <fieldset class="field"><legend>With</legend><ul class="list">\(rows)</ul></fieldset><div class="line end">\
                <a class="button" href="\(context.to(.note(note)))">Cancel</a>\(Part.button("Stop sharing", as: "button danger"))</div>
                """))
            """
        return .page(
            context.page("Stop sharing", in: .notes, isNarrow: true, content), status: advice == nil ? 200 : 422)
    }

    func takeUnshare(_ note: NoteID, _ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        guard let handle = try? Handle(form["who"] ?? "") else {
            return try await unshare(note, request, Advice("No one is chosen.", "Choose one person below."))
        }
        do throws(SignetError) {
            try await account.notes { book throws(NotesError) in try await book.unshare(note, from: handle) }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await unshare(note, request, await advice(error))
        }
        request.session.say(
            await send(note)
                ?? "\(Part.handle(handle)) receives nothing from it from now on. What they have read cannot be taken back."
        )
        return .see(WebPath(.note(note), below: mount))
    }

    // MARK: A member leaves

    func leave(_ note: NoteID, _ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        let facts = try await account.notes { book throws(NotesError) in try await book.facts(note) }
        guard facts.standing == .reader || facts.standing == .writer else {
            return .see(WebPath(.note(note), below: mount))
        }
        let context = await context(request.session)
        let content: HTML = """
            \(Part.crumb(NoteWords.plainTitle(facts), context.to(.note(note))))<div class="head"><div><h1>Leave the note?</h1>\
            <p class="lead">You receive nothing from it after that, and everyone who has it sees that you left. What you have read stays on \
            this device. Its owner may share it with you again.</p></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(context.form(
                .leave(note), as: "card",
                """
                <div class="line end"><a class="button" href="\(context.to(.note(note)))">Stay</a>\
                \(Part.button("Leave it", as: "button danger"))</div>
                """))
            """
        return .page(
            context.page("Leave the note", in: .notes, isNarrow: true, content), status: advice == nil ? 200 : 422)
    }

    func takeLeave(_ note: NoteID, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        do throws(SignetError) {
            try await account.notes { book throws(NotesError) in try await book.leave(note) }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await leave(note, request, await advice(error))
        }
        request.session.say(await send(note) ?? "You left it.")
        return .see(WebPath(.note(note), below: mount))
    }

    // MARK: What happened

    func history(_ note: NoteID, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let (facts, steps, revisions) = try await account.notes { book throws(NotesError) in
            let (steps, revisions) = try await book.history(note)
            return (try await book.facts(note), steps, revisions.map(\.record))
        }
        let shown = request.query["revision"].flatMap { UInt64($0) }
        var earlier: HTML = .none
        var problem: Advice?
        let context = await context(request.session)
        if let shown {
            do throws(SignetError) {
                let document = try await account.notes { book throws(NotesError) in
                    try await book.document(note, revision: shown)
                }
                earlier = Self.earlier(document, shown)
            } catch .presence(.locked) { throw .presence(.locked) } catch { problem = await advice(error) }
        }
        let stepRows = steps.map { step -> HTML in
            """
            <li class="row"><div class="grow"><p>\(Part.handle(step.author.handle)) \(wording.words(step.action))</p>\
            <p class="small muted">\(WebTime.words(step.time, context.now)), by their clock</p></div></li>
            """
        }
        let revisionRows = revisions.reversed().map { revision -> HTML in
            let path = context.to(.history(note), [("revision", "\(revision.number)")])
            return """
                <li><a class="row" href="\(path)"><span class="grow"><span class="strong">Version \(Int(clamping: revision.number))</span>\
                <span class="small muted">by \(Part.handle(revision.author.handle))</span></span>\(Part.icon("next"))</a></li>
                """
        }
        let content: HTML = """
            \(Part.crumb(NoteWords.plainTitle(facts), context.to(.note(note))))<div class="head"><div><h1>History</h1>\
            <p class="lead">Everything that happened to the note, as it was signed.</p></div></div>\
            \(problem.map { Part.notice($0, .changed, context) } ?? .none)\(earlier)\
            <section class="section" aria-labelledby="versions"><h2 id="versions">Versions</h2><ul class="list">\(revisionRows)</ul></section>\
            <section class="section" aria-labelledby="steps"><h2 id="steps">Who has had it</h2><ul class="list">\(stepRows)</ul></section>
            """
        return .page(
            context.page("History", in: .notes, isNarrow: true, content), status: problem == nil ? 200 : 422)
    }

    private static func earlier(_ document: NoteDocument, _ number: UInt64) -> HTML {
        """
        <article class="card prose" aria-labelledby="earlier"><h2 id="earlier">Version \(Int(clamping: number)): \
        <bdi>\(document.titleText)</bdi></h2><div class="text" dir="auto">\(document.bodyText)</div></article>
        """
    }
}
