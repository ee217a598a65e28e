// SPDX-License-Identifier: Apache-2.0

import Signet

/// The pieces that pages are made of.
enum Part {
    static func icon(_ name: StaticString) -> HTML {
        "<span class=\"i i-\(word: name)\" aria-hidden=\"true\"></span>"
    }

    // MARK: People

    /// A handle, whole: where a person decides, nothing of it is cut off.
    static func handle(_ handle: Handle) -> HTML {
        let halves = handle.description.split(separator: "@", maxSplits: 1).map(String.init)
        guard halves.count == 2 else { return "<span class=\"handle\" dir=\"ltr\">\(handle.description)</span>" }
        return "<span class=\"handle\" dir=\"ltr\">\(halves[0])<wbr>@\(halves[1])</span>"
    }

    /// The person's letter in the ring of their state. The badge beside it says it in words.
    static func ring(_ handle: Handle, _ state: TrustState, isBig: Bool = false) -> HTML {
        let big = HTML.when(isBig, " ring-big")
        let letter = handle.description.prefix(1).uppercased()
        return "<span class=\"ring ring-\(word: state.name)\(big)\" aria-hidden=\"true\">\(letter)</span>"
    }

    static func badge(_ state: TrustState) -> HTML {
        "<span class=\"badge is-\(word: state.name)\">\(icon(state.name))\(word: state.word)</span>"
    }

    // MARK: What is said

    enum Tone {
        case good, known, changed, alarm

        var name: StaticString {
            switch self {
            case .good: "good"
            case .known: "known"
            case .changed: "changed"
            case .alarm: "alarm"
            }
        }

        var icon: StaticString {
            switch self {
            case .good: "check"
            case .known: "info"
            case .changed: "changed"
            case .alarm: "alarm"
            }
        }
    }

    /// What happened, what it means, what to do.
    ///
    /// - Parameter isPage: whether it is all that the page says.
    static func notice(
        _ advice: Advice, _ tone: Tone, _ context: PageContext, isPage: Bool = false, instead: HTML? = nil,
        _ more: HTML = .none
    ) -> HTML {
        let heading: HTML = isPage ? "<h1>\(advice.what)</h1>" : "<h2>\(advice.what)</h2>"
        let means: HTML = advice.means.map { "<p><b>What it means.</b> \($0)</p>" } ?? .none
        let todo = HTML.when(
            !advice.remedy.isEmpty, "<p><b>What to do.</b> \(remedy(advice.remedy, context, instead: instead))</p>")
        return """
            <section class="notice notice-\(word: tone.name)"\(HTML.when(tone == .alarm, " role=\"alert\""))>\(icon(tone.icon))<div>\
            \(heading)\(means)\(todo)\(more)</div></section>
            """
    }

    /// A remedy, with its commands as links.
    ///
    /// - Parameter instead: what stands for the link to a change on a page that has it.
    static func remedy(_ text: String, _ context: PageContext, instead: HTML? = nil) -> HTML {
        let parts = RemedyText.parts(of: text)
        return HTML(
            parts.enumerated().map { place, part in
                switch part {
                case .text(let text): "\(text)"
                case .command(let command, nil): "<code>\(command)</code>"
                case .command(_, .change) where instead != nil: "\(instead)\(HTML.when(place == parts.count - 1, "."))"
                case .command(_, let route?): "<a href=\"\(context.to(route))\">\(act(route))</a>"
                }
            })
    }

    /// What a page is for, as a link says it.
    private static func act(_ route: WebRoute) -> HTML {
        switch route {
        case .change(let handle): "look at the change of \(handle.description)"
        case .compare(let handle): "compare with \(handle.description)"
        case .checks(let handle): "see how \(handle.description) was checked"
        case .guardian(let owner): "help \(owner.description)"
        case .guardians: "your guardians"
        case .recovery: "stop it"
        case .devices: "your devices"
        case .notes, .sync: "your notes"
        case .sites: "do it under Sites"
        case .cards: "your cards"
        case .ownCard: "your business card"
        case .meet: "meet"
        case .calls: "your calls"
        default: "your people"
        }
    }

    // MARK: Forms

    /// A field of one line.
    static func field(
        _ label: HTML, name: StaticString, value: String = "", help: HTML = .none, kind: StaticString = "text",
        more: HTML = .none
    ) -> HTML {
        """
        <div class="field"><label for="\(word: name)">\(label)</label>\
        <input id="\(word: name)" name="\(word: name)" type="\(word: kind)" value="\(typed: value)" autocomplete="off"\
        \(more)>\(hint(help))</div>
        """
    }

    /// A text of many lines. A browser drops the first line feed behind the tag, and no other.
    static func text(
        _ label: HTML, name: StaticString, value: String, rows: Int, help: HTML = .none, more: HTML = .none
    ) -> HTML {
        """
        <div class="field"><label for="\(word: name)">\(label)</label>\
        <textarea id="\(word: name)" name="\(word: name)" rows="\(rows)"\(more)>
        \(typed: value)</textarea>\(hint(help))</div>
        """
    }

    /// The passphrase, for one act: it is never given back.
    static func passphrase(_ help: HTML) -> HTML {
        """
        <div class="field"><label for="passphrase">Passphrase</label><input id="passphrase" name="passphrase" type="password" \
        autocomplete="current-password" required>\(hint(help))</div>
        """
    }

    private static func hint(_ help: HTML) -> HTML {
        HTML.when(!help.text.isEmpty, "<p class=\"help\">\(help)</p>")
    }

    static func button(_ label: HTML, as kind: StaticString = "button") -> HTML {
        "<button class=\"\(word: kind)\" type=\"submit\">\(label)</button>"
    }

    static func crumb(_ label: HTML, _ path: WebPath) -> HTML {
        "<a class=\"crumb\" href=\"\(path)\">\(icon("back"))\(label)</a>"
    }

    static func fact(_ name: HTML, _ value: HTML) -> HTML { "<div><dt>\(name)</dt><dd>\(value)</dd></div>" }

    static func empty(_ icon: StaticString, _ content: HTML) -> HTML {
        "<div class=\"empty\">\(Part.icon(icon))\(content)</div>"
    }
}

extension TrustState {
    /// As the style sheet names it.
    var name: StaticString {
        switch self {
        case .compared: "compared"
        case .known: "known"
        case .new: "new"
        case .changed: "changed"
        case .alarm: "alarm"
        }
    }

    var word: StaticString {
        switch self {
        case .compared: "Compared"
        case .known: "Known"
        case .new: "New"
        case .changed: "Changed"
        case .alarm: "Alarm"
        }
    }
}
