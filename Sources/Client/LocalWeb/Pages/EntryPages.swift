// SPDX-License-Identifier: Apache-2.0

/// The pages that everybody may see: they say nothing of the person.
enum EntryPages {
    /// A link opened a session; the browser goes on by itself.
    static func opened(_ home: WebPath) -> HTML {
        page(
            "Opening", head: "<meta http-equiv=\"refresh\" content=\"0;url=\(home)\">",
            """
            <div class="head"><div><h1>This browser is let in</h1><p class="lead">It goes on by itself.</p></div></div>\
            <p><a class="button main" href="\(home)">Go on</a></p>
            """)
    }

    static func refused(_ refusal: LinkRefusal) -> HTML {
        switch refusal {
        case .used:
            explained(
                "This link was used before", "It has opened the app already. A link opens one browser, once.",
                "If that was you, go back to the page that it opened. If it was not, another person who can read this machine’s "
                    + "screen or history has opened the app: end signet in the terminal with Ctrl-C.", again)
        case .late:
            explained("This link is too old", "A link is good for five minutes.", "Nothing was opened.", again)
        case .unknown:
            explained(
                "This link is not one of this program’s",
                "It was cut off when it was copied, or signet was started again since.", "Nothing was opened.", again)
        }
    }

    static let noSession = explained(
        "This browser is not let in",
        "The app shows its pages only to a browser that opened a link of it, and for twelve hours.",
        "Nothing was shown or changed. What you had sent with this page was not taken.", again)

    static let fromElsewhere = explained(
        "Another page asked for this",
        "A page of another site, or of another program on this machine, sent your browser here.",
        "Nothing was shown or changed.", "Open the app from its own pages, or with a link from the terminal.")

    static let staleForm = explained(
        "This form is not of this session",
        "The page with the form was opened before this browser was last let in.",
        "Nothing was changed.", "Go back, copy what you typed, open the page again, and send it from there.")

    private static let again =
        "Go to the terminal in which signet ui runs and press Enter there: it shows a new link. If it has ended, start it again."

    private static func explained(_ title: String, _ what: String, _ means: String, _ todo: String) -> HTML {
        page(
            "\(title)", head: .none,
            """
            <section class="notice notice-known">\(Part.icon("info"))<div><h1>\(title)</h1>\
            <p><b>What happened.</b> \(what)</p><p><b>What it means.</b> \(means)</p>\
            <p><b>What to do.</b> \(todo)</p></div></section>
            """)
    }

    /// A page without the app's navigation.
    static func page(_ title: HTML, head: HTML = .none, _ content: HTML) -> HTML {
        """
        <!doctype html>
        <html lang="en" dir="ltr"><head><meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
        <title>\(title) · Signet</title>\(head)
        <link rel="stylesheet" href="\(WebPath(asset: "signet.css"))">
        <link rel="icon" href="\(WebPath(asset: "icons/seal.svg"))" type="image/svg+xml"></head>
        <body><header class="top"><span class="brand">\(Part.icon("seal"))Signet</span></header>
        <main id="main" class="page"><div class="bare roomy">\(content)</div></main></body></html>
        """
    }
}
