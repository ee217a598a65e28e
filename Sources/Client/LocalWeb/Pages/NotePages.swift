// SPDX-License-Identifier: Apache-2.0

import Signet
import Synchronization

extension WebPages {
    // MARK: One note

    func note(_ note: NoteID, _ request: WebRequest, _ advice: Advice?) async throws(SignetError) -> WebAnswer {
        // What came of a file whose page was left is told here.
        if advice == nil, await account.upload(to: note)?.end != nil { return try await attachment(note, request) }
        let facts = try await account.notes { book throws(NotesError) in try await book.facts(note) }
        let handle = await account.handle
        let states = try await account.states()
        let context = await context(request.session)
        let typed = request.form ?? request.session.takeTyped(of: .note(note))
        let content: HTML = """
            \(Part.crumb("Notes", context.to(.notes)))<div class="head"><div><h1>\(NoteWords.title(facts))</h1>\
            <p class="lead">\(NoteWords.line(facts, context.now))</p></div><div class="line">\(acts(facts, handle, context))</div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\(troubles(facts, context))\
            <div class="cols"><div class="section">\(text(facts, context))\(files(facts, await account.upload(to: note), context))\(comments(facts, typed, states, context))</div>\
            <div class="section">\(members(facts, states, context))</div></div>
            """
        return .page(
            context.page(NoteWords.plainTitle(facts), in: .notes, content), status: advice == nil ? 200 : 422)
    }

    private func acts(_ note: NoteFacts, _ reader: Handle?, _ context: PageContext) -> HTML {
        guard note.standing.isMember else { return .none }
        let isStarred = reader.map { note.stars.contains($0) } ?? false
        let star = context.form(
            .star(note.note), as: "line",
            """
            <input type="hidden" name="set" value="\(HTML.when(!isStarred, "yes"))"><button class="button" type="submit" \
            aria-pressed="\(isStarred ? "true" : "false")">\(Part.icon(isStarred ? "starred" : "star"))\
            \(isStarred ? "Starred" : "Star")</button>
            """)
        let share = HTML.when(
            note.standing == .owner,
            "<a class=\"button\" href=\"\(context.to(.share(note.note)))\">\(Part.icon("share"))Share</a>")
        let edit = HTML.when(
            note.standing != .reader && note.document != nil,
            "<a class=\"button main\" href=\"\(context.to(.edit(note.note)))\">Change it</a>")
        return "\(star)\(share)\(edit)"
    }

    private func troubles(_ note: NoteFacts, _ context: PageContext) -> [HTML] {
        [note.lock, note.fault].compactMap { $0 }.map { Part.notice(wording.advice($0), .changed, context) }
    }

    private func text(_ note: NoteFacts, _ context: PageContext) -> HTML {
        guard let document = note.document else { return .none }
        let tags = document.tagTexts.map {
            "<a class=\"tag\" href=\"\(context.to(.notes, [("q", "#" + $0)]))\"><bdi>#\($0)</bdi></a>" as HTML
        }
        return """
            <article class="card prose" aria-label="Text of the note"><div class="text" dir="auto">\(document.bodyText)</div>\
            \(HTML.when(!tags.isEmpty, "<p class=\"line\">\(tags)</p>"))</article>
            """
    }

    private func files(_ note: NoteFacts, _ upload: FileUpload?, _ context: PageContext) -> HTML {
        let rows = (note.document?.attachments ?? []).map { file -> HTML in
            """
            <li class="line apart"><a class="handle" dir="ltr" href="\(context.to(.file(note.note), [("blob", file.blob.digits)]))">\
            \(Part.icon("file")) <bdi>\(file.nameText)</bdi></a>\
            <span class="line"><span class="small muted">\(Self.count(Int(clamping: file.byteCount), "byte", "bytes"))</span>\(detaching(file, note, context))</span></li>
            """
        }
        let form = attaching(note, upload, context)
        let help: HTML = HTML.when(
            !rows.isEmpty,
            """
            <p class="help">A file is saved, never shown here: open only what you expect from the person who attached it.</p>
            """)
        return HTML.when(
            !rows.isEmpty || !form.text.isEmpty,
            """
            <section class="card" aria-labelledby="files"><h2 id="files">Files</h2><ul class="stack">\(rows)</ul>\(help)\(form)</section>
            """)
    }

    private func comments(
        _ note: NoteFacts, _ typed: FormBody?, _ states: [Handle: TrustState], _ context: PageContext
    ) -> HTML {
        let rows = note.comments.map { comment -> HTML in
            """
            <li class="line top-line">\(states[comment.author].map { Part.ring(comment.author, $0) })<div class="grow"><p><b>\(Part.handle(comment.author))</b> \
            <span class="small muted">\(WebTime.words(comment.time, context.now))</span></p>\
            <div class="text" dir="auto">\(comment.plainText)</div></div></li>
            """
        }
        let write = HTML.when(
            note.standing.isMember,
            context.form(
                .comment(note.note), as: "stack",
                """
                \(Part.text("Your comment", name: "comment", value: typed?["comment"] ?? "", rows: 3))\
                <p class="line">\(Part.button("Comment"))</p>
                """))
        let title: HTML = rows.isEmpty ? "Comments" : "\(Self.count(rows.count, "comment", "comments"))"
        return """
            <section class="card" aria-labelledby="com"><h2 id="com">\(title)</h2><ul class="roomy">\(rows)</ul>\(write)</section>
            """
    }

    private func members(_ note: NoteFacts, _ states: [Handle: TrustState], _ context: PageContext) -> HTML {
        func name(_ handle: Handle) -> HTML {
            handle == context.handle ? "You" : "\(Part.handle(handle)) \(states[handle].map { Part.badge($0) })"
        }
        let owner: HTML = note.owner.map(name) ?? "Not certain"
        let rows = note.members.map { member -> HTML in
            """
            <li class="line apart"><span>\(name(member.handle))</span>\
            <span class="small muted">\(member.role == .writer ? "may change it" : "may read it")</span></li>
            """
        }
        let starred = note.stars.sorted { $0.description < $1.description }.map {
            "<li>\(Part.handle($0))</li>" as HTML
        }
        return """
            <section class="card" aria-labelledby="who"><h2 id="who">Who has it</h2><ul class="stack"><li class="line apart">\
            <span>\(owner)</span><span class="small muted">owner</span></li>\(rows)</ul><p class="line small">\
            <a href="\(context.to(.history(note.note)))">History</a>\(ends(note, context))</p></section>\
            \(HTML.when(!starred.isEmpty, "<section class=\"card\"><h2>Starred by</h2><ul class=\"stack\">\(starred)</ul></section>"))
            """
    }

    /// How sharing ends: the owner stops it, a member leaves.
    private func ends(_ note: NoteFacts, _ context: PageContext) -> HTML {
        switch note.standing {
        case .owner where !note.members.isEmpty: "<a href=\"\(context.to(.unshare(note.note)))\">Stop sharing</a>"
        case .reader, .writer: "<a href=\"\(context.to(.leave(note.note)))\">Leave the note</a>"
        default: .none
        }
    }

    func takeComment(_ note: NoteID, _ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let text = form["comment"] ?? ""
        guard !text.trimmed.isEmpty else {
            return try await self.note(note, request, Advice("The comment is empty.", "Write it, then send it."))
        }
        do throws(SignetError) {
            try await account.notes { book throws(NotesError) in try await book.comment(text, on: note) }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await self.note(note, request, await advice(error))
        }
        request.session.say(await send(note) ?? "Your comment is sent.")
        return .see(WebPath(.note(note), below: mount))
    }

    func takeStar(_ note: NoteID, _ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let isSet = form["set"] == "yes"
        try await account.notes { book throws(NotesError) in try await book.star(note, isSet: isSet) }
        request.session.say(await send(note) ?? (isSet ? "You starred it." : "Your star is off."))
        return .see(WebPath(.note(note), below: mount))
    }

    // MARK: Writing

    func newNote(_ request: WebRequest, _ advice: Advice?, status: Int = 422) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        let context = await context(request.session)
        let typed = request.form ?? request.session.takeTyped(of: .newNote)
        let content: HTML = """
            \(Part.crumb("Notes", context.to(.notes)))<div class="head"><div><h1>New note</h1></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(context.form(.newNote, as: "card", fields(typed, nil, context.to(.notes))))
            """
        return .page(
            context.page("New note", in: .notes, isNarrow: true, content), status: advice == nil ? 200 : status)
    }

    /// - Parameter began: what the note said when the page was made; nil for a new one.
    private func fields(_ typed: FormBody?, _ began: NoteDocument?, _ back: WebPath) -> HTML {
        let tags = began?.tagTexts.joined(separator: ", ") ?? ""
        let state: HTML =
            began.map { "<input type=\"hidden\" name=\"began\" value=\"\(StateDigits.of($0))\">" } ?? .none
        return """
            \(state)\(Part.field("Title", name: "title", value: typed?["title"] ?? began?.titleText ?? ""))\
            \(Part.text("Text", name: "body", value: typed?["body"] ?? began?.bodyText ?? "", rows: 14))\
            \(Part.field("Tags", name: "tags", value: typed?["tags"] ?? tags, help: "Separated by commas."))\
            <div class="line">\(Part.button("Save", as: "button main"))<a class="button" href="\(back)">Cancel</a></div>
            """
    }

    func takeNew(_ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let draft = TypedNote(form)
        let note: NoteID
        do throws(SignetError) {
            note = try await account.notes { book throws(NotesError) in
                try await book.create(title: draft.title, body: draft.body, tags: draft.tags)
            }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await newNote(request, await advice(error), status: error.family == .environment ? 503 : 422)
        }
        request.session.say(await send(note) ?? "Saved, sealed and sent.")
        return .see(WebPath(.note(note), below: mount))
    }

    func edit(
        _ note: NoteID, _ request: WebRequest, _ advice: Advice?, other: NoteDocument? = nil
    ) async throws(SignetError) -> WebAnswer {
        let facts = try await account.notes { book throws(NotesError) in try await book.facts(note) }
        let context = await context(request.session)
        guard let document = other ?? facts.document, facts.standing == .owner || facts.standing == .writer else {
            return .see(WebPath(.note(note), below: mount))
        }
        let kept = request.form == nil ? request.session.takeTyped(of: .edit(note)) : nil
        let typed = request.form ?? kept
        // What came back after unlocking began where its page was made, not here.
        let hasMoved = kept?["began"].map { $0 != StateDigits.of(document) } ?? false
        let shown: HTML = other != nil || hasMoved ? conflict(document, context) : .none
        let content: HTML = """
            \(Part.crumb(NoteWords.plainTitle(facts), context.to(.note(note))))<div class="head"><div><h1>Change the note</h1></div></div>\
            \(advice.map { Part.notice($0, .changed, context) } ?? .none)\(shown)\
            \(context.form(.edit(note), as: "card", fields(typed, document, context.to(.note(note)))))
            """
        return .page(
            context.page("Change the note", in: .notes, isNarrow: true, content),
            status: other != nil ? 409 : advice == nil ? 200 : 422)
    }

    /// The note as it is now, above what the person typed into an older one.
    private func conflict(_ document: NoteDocument, _ context: PageContext) -> HTML {
        Part.notice(
            Advice(
                "It has changed since you looked.",
                means:
                    "Another person, or you in another window, saved it meanwhile. Nothing of that is lost, and what you typed is below.",
                "Take over from here what your text should have too, then save."), .changed, context,
            """
            <div class="card" aria-label="The note as it is now"><p><b><bdi>\(document.titleText)</bdi></b></p>\
            <div class="text" dir="auto">\(document.bodyText)</div></div>
            """)
    }

    func takeEdit(_ note: NoteID, _ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let draft = TypedNote(form)
        let began = form["began"] ?? ""
        let other: NoteDocument?
        do throws(SignetError) {
            other = try await account.notes { book throws(NotesError) -> NoteDocument? in
                let moved = Mutex<NoteDocument?>(nil)
                // Within one step of the book: nothing comes between the comparison and the change.
                try await book.edit(note) { document in
                    guard StateDigits.of(document) == began else {
                        return moved.withLock { [document] in $0 = document }
                    }
                    draft.apply(to: &document)
                }
                return moved.withLock { $0 }
            }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await edit(note, request, await advice(error))
        }
        if let other { return try await edit(note, request, nil, other: other) }
        request.session.say(await send(note) ?? "Saved, sealed and sent.")
        return .see(WebPath(.note(note), below: mount))
    }

    // MARK: Sharing

    func share(
        _ note: NoteID, _ request: WebRequest, _ advice: Advice?, status: Int = 422
    ) async throws(SignetError) -> WebAnswer {
        let facts = try await account.notes { book throws(NotesError) in try await book.facts(note) }
        guard facts.standing == .owner else { return .see(WebPath(.note(note), below: mount)) }
        let people = try await account.everybody()
        let context = await context(request.session)
        let typed = request.form ?? request.session.takeTyped(of: .share(note))
        let content: HTML = """
            \(Part.crumb(NoteWords.plainTitle(facts), context.to(.note(note))))<div class="head"><div><h1>Share the note</h1>\
            <p class="lead">It is sealed to their devices, as the log proves them. What a person has read cannot be taken back.</p></div>\
            </div>\(advice.map { Part.notice($0, .changed, context) } ?? .none)\
            \(context.form(.share(note), as: "card", choices(people, facts, typed, context)))
            """
        return .page(
            context.page("Share the note", in: .notes, isNarrow: true, content), status: advice == nil ? 200 : status)
    }

    private func choices(_ people: [PersonEntry], _ note: NoteFacts, _ typed: FormBody?, _ context: PageContext) -> HTML
    {
        let rows = people.filter { !$0.asks }.map { entry -> HTML in
            let isChosen = typed?["with"] == entry.handle.description
            return """
                <li><label class="choice"><input type="radio" name="with" value="\(entry.handle.description)" required\
                \(HTML.when(isChosen, " checked"))\(HTML.when(entry.isStopped, " disabled"))>\(Part.ring(entry.handle, entry.state))\
                <span class="grow"><span class="strong">\(Part.handle(entry.handle))</span><span class="small muted">\
                \(PeopleWords.line(entry, wording, context.now))</span></span>\(Part.badge(entry.state))</label></li>
                """
        }
        guard !rows.isEmpty else {
            return """
                <p>There is no one to share it with yet.</p>\
                <p class="line"><a class="button main" href="\(context.to(.people))">Add a person</a></p>
                """
        }
        return """
            <fieldset class="field"><legend>With</legend><ul class="list">\(rows)</ul></fieldset>\
            <div class="field"><label for="role">They may</label><select id="role" name="role">\
            <option value="reader">read it and comment</option>\
            <option value="writer"\(HTML.when(typed?["role"] == "writer", " selected"))>change it too</option></select></div>\
            <div class="line">\(Part.button("\(Part.icon("share"))Share", as: "button main"))\
            <a class="button" href="\(context.to(.note(note.note)))">Cancel</a></div>
            """
    }

    func takeShare(_ note: NoteID, _ form: FormBody, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        guard let handle = try? Handle(form["with"] ?? "") else {
            return try await share(note, request, Advice("No one is chosen.", "Choose one person below."))
        }
        let role: NoteRole = form["role"] == "writer" ? .writer : .reader
        do throws(SignetError) {
            try await account.notes { book throws(NotesError) in try await book.share(note, with: handle, as: role) }
        } catch .presence(.locked) { throw .presence(.locked) } catch {
            return try await share(note, request, await advice(error), status: error.family == .environment ? 503 : 422)
        }
        _ = await send(note)
        let may: HTML = role == .writer ? "may read and change it" : "may read it"
        request.session.say("\(Part.handle(handle)) \(may) from now on.")
        return .see(WebPath(.note(note), below: mount))
    }
}

/// A note as it was typed.
struct TypedNote: Sendable {
    let title: String
    let body: String
    let tags: [String]

    init(_ form: FormBody) {
        title = form["title"] ?? ""
        body = form["body"] ?? ""
        tags = (form["tags"] ?? "").split(separator: ",").map { String($0).trimmed }.filter { !$0.isEmpty }
    }

    func apply(to document: inout NoteDocument) {
        document.titleText = title
        document.bodyText = body
        document.tagTexts = tags
    }
}

extension NoteWords {
    /// For a page's title and a way back.
    static func plainTitle(_ note: NoteFacts) -> HTML {
        guard let title = note.titleText else { return "A note that stays closed" }
        return title.isEmpty ? "(no title)" : "\(title)"
    }
}

extension NoteFacts.Standing {
    /// Whether the person may read on, comment and star.
    var isMember: Bool { self == .owner || self == .writer || self == .reader }
}
