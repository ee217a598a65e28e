// SPDX-License-Identifier: Apache-2.0

import Signet

/// Which notes a list shows.
enum NoteChoice: String, CaseIterable {
    case all, mine, shared, starred

    var name: HTML {
        switch self {
        case .all: "All posts"
        case .mine: "My posts"
        case .shared: "Shared with me"
        case .starred: "Starred"
        }
    }

    func has(_ note: NoteFacts, of reader: Handle?) -> Bool {
        switch self {
        case .all: note.standing != .deleted
        case .mine: note.standing == .owner
        case .shared: note.standing != .owner && note.standing != .deleted
        case .starred: reader.map { note.stars.contains($0) } ?? false
        }
    }
}

extension WebPages {
    func notes(_ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let choice = request.query["show"].flatMap { NoteChoice(rawValue: $0) } ?? .all
        let term = (request.query["q"] ?? "").trimmed
        let handle = await account.handle
        let notes = try await found(term).filter { choice.has($0, of: handle) }
        let context = await context(request.session)
        let last = await account.lastSync
        let paging = ListPage(notes.count, page: request.query["page"])
        let content: HTML = """
            <div class="head"><div><h1>Notes</h1><p class="lead">The server keeps them and can read none.</p></div><div class="line">\
            \(context.form(.sync, as: "line", Part.button("Send and fetch")))\
            <a class="button main" href="\(context.to(.newNote))">\(Part.icon("plus"))New note</a></div></div>\
            <nav class="tabs" aria-label="Which notes">\(tabs(choice, context))</nav>\
            <form class="line" role="search" action="\(context.to(.notes))"><label class="quiet" for="q">Search notes</label>\
            <span class="grow"><input id="q" type="search" name="q" value="\(typed: term)" \
            placeholder="Words or #tag, searched on this device" autocomplete="off"></span>\
            <button class="button" type="submit">\(Part.icon("search"))Search</button></form>\
            \(list(Array(notes[paging.range]), term, choice, handle, context))\(paging.links(context, .notes, [("show", choice.rawValue), ("q", term)]))\
            <p class="small muted">\(Self.count(notes.count, "note", "notes")). \
            \(last.map { "Sent and fetched \(WebTime.words($0.time, context.now))." as HTML } ?? "Not fetched since this program was started.") \
            <a href="\(context.to(.exportNotes))">Export</a></p>
            """
        return .page(context.page("Notes", in: .notes, content))
    }

    /// The notes with a term, or with a tag.
    private func found(_ term: String) async throws(SignetError) -> [NoteFacts] {
        let tag = term.hasPrefix("#") ? Array(term.dropFirst().utf8) : nil
        return try await account.notes { book throws(NotesError) in
            guard !term.isEmpty else { return await book.notes() }
            if let tag { return await book.notes().filter { $0.document?.tags.contains(tag) ?? false } }
            let hits = Set(await book.search(term).map(\.note))
            return await book.notes().filter { hits.contains($0.note) }
        }
    }

    private func tabs(_ current: NoteChoice, _ context: PageContext) -> [HTML] {
        NoteChoice.allCases.map { choice in
            let here = HTML.when(choice == current, " aria-current=\"page\"")
            return "<a href=\"\(context.to(.notes, [("show", choice.rawValue)]))\"\(here)>\(choice.name)</a>"
        }
    }

    private func list(
        _ notes: [NoteFacts], _ term: String, _ choice: NoteChoice, _ reader: Handle?, _ context: PageContext
    ) -> HTML {
        guard notes.isEmpty else {
            return "<ul class=\"list\">\(notes.map { row($0, reader, context) })</ul>"
        }
        guard term.isEmpty else { return "<p class=\"muted\">No note here has that.</p>" }
        return choice == .all || choice == .mine
            ? Part.empty(
                "note",
                "<p>What you write stands here.</p><a class=\"button\" href=\"\(context.to(.newNote))\">Write the first note</a>"
            )
            : Part.empty(
                "note",
                choice == .shared
                    ? "<p>What others share with you stands here.</p>" : "<p>The notes that you star stand here.</p>")
    }

    private func row(_ note: NoteFacts, _ reader: Handle?, _ context: PageContext) -> HTML {
        let isStarred = reader.map { note.stars.contains($0) } ?? false
        let icon: StaticString = note.lock != nil ? "lock" : isStarred ? "starred" : "note"
        let mark: HTML =
            note.isPending ? "\(Part.icon("clock"))<span class=\"quiet\">Not sent yet</span>" : Part.icon("next")
        return """
            <li><a class="row" href="\(context.to(.note(note.note)))">\(Part.icon(icon))<span class="grow"><span class="strong">\
            \(NoteWords.title(note))</span><span class="small muted">\(NoteWords.line(note, context.now))</span></span>\(mark)</a></li>
            """
    }

    func takeSync(_ request: WebRequest) async throws(SignetError) -> WebAnswer {
        _ = try await account.needed()
        request.session.say(await send(nil) ?? "Everything is sent, and what is new is here.")
        return .see(WebPath(.notes, below: mount))
    }

    /// Sends what was written. Without a network it waits, which is no failure.
    ///
    /// - Parameter note: the one that was written.
    /// - Returns: why it is not sent; nil if it is.
    func send(_ note: NoteID?) async -> HTML? {
        do throws(SignetError) {
            let report = try await account.sync()
            let problem = note.map { report.refused[$0] } ?? report.refused.values.first
            guard let problem else { return nil }
            return "It is kept here, but not sent: \(wording.advice(problem).what)"
        } catch {
            return "It is kept here, sealed, and not sent yet: \(await advice(error).what)"
        }
    }
}

/// What is said of a note in a line.
enum NoteWords {
    static func title(_ note: NoteFacts) -> HTML {
        guard let document = note.document else { return "A note that stays closed" }
        return document.title.isEmpty ? "(no title)" : "<bdi>\(document.titleText)</bdi>"
    }

    /// `By you, with ana@example.org · today, 09:14 · 2 comments`.
    static func line(_ note: NoteFacts, _ now: UInt64) -> String {
        var parts = [standing(note)]
        if note.modified > 0 { parts.append(WebTime.words(note.modified, now)) }
        if !note.stars.isEmpty { parts.append("starred by \(note.stars.count)") }
        if !note.comments.isEmpty { parts.append(WebPages.count(note.comments.count, "comment", "comments")) }
        if let files = note.document?.attachments, !files.isEmpty {
            parts.append(WebPages.count(files.count, "file", "files"))
        }
        if note.document?.conflictOf != nil { parts.append("the other side of a conflict") }
        if note.isPending { parts.append("not sent yet") }
        return parts.joined(separator: " · ")
    }

    static func standing(_ note: NoteFacts) -> String {
        let owner = note.owner?.description ?? "an unknown person"
        return switch note.standing {
        case .owner where note.members.isEmpty: "By you, not shared"
        case .owner where note.members.count == 1: "By you, with \(note.members[0].handle)"
        case .owner: "By you, with \(note.members.count) people"
        case .writer: "By \(owner), with you; you may change it"
        case .reader: "By \(owner), with you, to read"
        case .removed: "By \(owner), not shared with you any more"
        case .left: "By \(owner), left by you"
        case .deleted: "Deleted"
        case .unknown: "Owner uncertain"
        }
    }
}
