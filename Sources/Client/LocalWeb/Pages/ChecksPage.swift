// SPDX-License-Identifier: Apache-2.0

import Signet

extension WebPages {
    /// A lookup, made now, check by check. It needs no key of the person's.
    func checks(_ handle: Handle, _ request: WebRequest) async throws(SignetError) -> WebAnswer {
        let before = try await account.person(handle)
        let answer = try await account.look(at: handle)
        await account.keepProof(of: answer, about: handle)
        let entry = try await account.person(handle)
        let lookup =
            switch answer.result {
            case .success(let found): wording.checks(found, before.person.comparison, in: answer.home)
            case .failure(let refusal): wording.checks(refusal, in: answer.home)
            }
        let isRegistered = if case .success(.absent) = answer.result { false } else { true }
        let context = await context(request.session)
        let passed = lookup.lines.count { $0.mark == .passed }
        let title: HTML =
            passed == lookup.lines.count
            ? "\(lookup.lines.count) checks, all held" : "\(passed) of \(lookup.lines.count) checks held, one failed"
        let content: HTML = """
            \(Part.crumb("\(handle.description)", context.to(.person(handle))))<div class="head"><div><h1>How this was checked</h1>\
            <p class="lead">\(Part.handle(handle)), \(WebTime.words(context.now, context.now)), on this device. The directory was not \
            believed in anything.</p></div></div>\
            \(lookup.advice.map { Part.notice($0, entry.state == .alarm ? .alarm : .changed, context) } ?? .none)\
            <div class="cols"><section class="card" aria-labelledby="c1"><h2 id="c1">\(title)</h2>\
            <ol class="checks">\(lookup.lines.map(Self.line))</ol></section>\
            <div class="section"><section class="card"><h2>In short</h2>\(HTML.when(isRegistered, "<p>\(Part.badge(entry.state))</p>"))\
            <ul class="stack">\(lookup.summary.map { "<li>\($0)</li>" as HTML })</ul>\
            \(HTML.when(
                isRegistered && (entry.state == .known || entry.state == .new),
                "<a class=\"button main\" href=\"\(context.to(.compare(handle)))\">Compare with them</a>"))</section>\
            \(HTML.when(!lookup.unproven.isEmpty, Self.unproven(lookup.unproven)))\
            \(await account.proofs[handle] == nil ? .none : savingProof(of: handle, context))</div></div>\(Self.raw(lookup))
            """
        return .page(context.page("How \(handle.description) was checked", in: .people, content))
    }

    private static func line(_ line: CheckedLookup.Line) -> HTML {
        switch line.mark {
        case .passed:
            "<li class=\"pass\">\(Part.icon("check"))<span><span class=\"quiet\">Passed: </span>\(line.statement)</span></li>"
        case .failed:
            "<li class=\"fail\">\(Part.icon("cross"))<span><span class=\"quiet\">Failed: </span>\(line.statement)</span></li>"
        case .notReached:
            "<li class=\"idle\">\(Part.icon("dot"))<span><span class=\"quiet\">Not reached: </span>\(line.statement)</span></li>"
        }
    }

    private static func unproven(_ lines: [String]) -> HTML {
        """
        <section class="card"><h2>What this does not prove</h2><ul class="plain-list">\
        \(lines.map { "<li>\($0.sentence)</li>" as HTML })</ul></section>
        """
    }

    private static func raw(_ lookup: CheckedLookup) -> HTML {
        let facts = lookup.lines.flatMap(\.facts).map { "\($0.name): \($0.value)\n" as HTML }
        return "<details><summary>Raw values, for experts</summary><pre>\(facts)</pre></details>"
    }
}
