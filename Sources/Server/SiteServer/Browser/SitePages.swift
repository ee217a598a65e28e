// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import DeviceIdentity
import HTTPTypes
import Presentation
import QRCode
import StrictJSON

/// The pages of a site that asks for cards.
struct SitePages {
    private let host: String
    private let question: SiteQuestion

    init(host: VerifiedHost, question: SiteQuestion) {
        self.host = Self.escaped(host.text)
        self.question = question
    }

    /// Nobody is signed in.
    var start: SiteReply {
        page(
            title,
            """
            <p class="lead">\(Self.escaped(question.purpose.utf8)) Sign in with Signet, and show a card that proves it. This site sees that you \
            are the one whom it knows, that one answer, and who issued the card. It sees nothing else that the card says.</p>
            <form method="post" action="\(BrowserRoute.begin.path)" class="choices">
            <button name="device" value="this">My cards are on this device</button>
            <button name="device" value="other">My cards are on another device</button>
            </form>
            """)
    }

    /// The wallet has not answered.
    func waiting(_ waiting: WaitingPage) -> SiteReply {
        let address = Self.escaped(waiting.link)
        let command =
            "<code id=\"link\">signet show &quot;\(address)&quot;\(waiting.digits == nil ? " --open" : "")</code>"
        let status = """
            <p id="waiting" role="status" data-page="\(Self.escaped(waiting.secret.utf8))">Waiting for your answer. This takes at most five minutes.</p>
            """
        guard let digits = waiting.digits else {
            return page(
                "Show your card",
                """
                <p class="lead">Your device asks you before it shows anything. It brings you back here.</p>
                <p><a class="button" id="open" href="\(address)">Open my cards</a></p>
                <p>If nothing opens, give the link to the command: \(command)</p>
                \(status)
                """)
        }
        let picture =
            QRSymbol(waiting.link).map { String(decoding: Base64.encode($0.png(scale: 4)), as: UTF8.self) } ?? ""
        return page(
            "Show your card from another device",
            """
            <p class="lead">Read this code with the device that has your cards. It asks for these two digits:</p>
            <p class="digits" id="digits">\(Self.escaped(digits.utf8))</p>
            <p><img id="code" alt="Code for the device that has your cards" src="data:image/png;base64,\(picture)"></p>
            <p>Somebody could show you a code of theirs to be signed in as you. Go on only if you opened this page yourself, at <b>\(host)</b>.</p>
            <p>The code says: \(command)</p>
            \(status)
            <form method="post" action="\(BrowserRoute.arrive.path)" id="arrive"><input type="hidden" name="page" value="\(Self.escaped(waiting.secret.utf8))">
            <p><button>Go on</button>, once you have answered.</p></form>
            """)
    }

    /// A wallet on this device has sent the browser here, with the response code behind the `#`.
    var back: SiteReply {
        page(
            "Back from your cards",
            """
            <form method="post" action="\(BrowserRoute.finish.path)" id="arriving">
            <p><label for="response-code">Response code, from behind the # of the address</label> <input id="response-code" name="code" autocomplete="off" required></p>
            <button>Go on</button>
            </form>
            """)
    }

    /// The wallet on this device has answered, and the browser has not come back from it.
    var answered: SiteReply {
        page(
            "Almost there",
            """
            <p class="lead" id="answered">You have shown your card. Open the address that your cards named, in this browser.</p>
            <form method="post" action="\(BrowserRoute.signOut.path)"><button>Begin again</button></form>
            """)
    }

    /// A member is signed in, and has proved what is asked.
    var welcome: SiteReply {
        page(
            "Welcome",
            """
            <p class="lead" id="welcome">You are signed in as a member of \(host), and have proved: <b>\(proved)</b>.</p>
            <form method="post" action="\(BrowserRoute.signOut.path)"><button>Sign out</button></form>
            """)
    }

    /// A step that failed: the session has to begin again.
    func refused(_ fault: PresentationDeskFault) -> SiteReply {
        let what =
            switch fault {
            case .busy: "Too many people are signing in. Try again in five minutes."
            case .anotherSession:
                """
                This answer is for another browser, or for another window of this one. If you began there, begin again and come back to the same \
                one. If you did not begin at all, somebody wanted you to sign them in. Nobody was signed in, but this site has seen your card.
                """
            case .digits: "The digits were not those of the page, so nobody was signed in."
            case .withdrawn: "The issuer has withdrawn the card, so nobody was signed in."
            default: "The answer was not, or is no longer, good, so nobody was signed in."
            }
        var reply = page(
            "Not signed in",
            """
            <p class="lead" id="refused" data-check="\(fault.name)">\(what)</p>
            <p><a href="\(BrowserRoute.home.path)">Begin again</a></p>
            """)
        reply.status = fault == .busy ? .serviceUnavailable : .forbidden
        return reply
    }

    /// A form that no page of this site has sent so.
    func problem(_ status: HTTPResponse.Status) -> SiteReply {
        var reply = page(
            "This did not come from a page of this site",
            "<p class=\"lead\">Nothing was done.</p><p><a href=\"\(BrowserRoute.home.path)\">Begin at its first page</a></p>"
        )
        reply.status = status
        return reply
    }

    static var goHome: SiteReply {
        var reply = SiteReply(status: .seeOther)
        reply.fields = [(.location, BrowserRoute.home.path)]
        return reply
    }

    // MARK: What they share

    private var title: String {
        switch question {
        case .member: "For members"
        case .over18: "For people of age"
        }
    }

    private var proved: String {
        switch question {
        case .member: "that you are a member"
        case .over18: "that you are at least 18 years old"
        }
    }

    private func page(_ title: String, _ content: String) -> SiteReply {
        let text = """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title) · \(host)</title><link rel="icon" href="data:,"><link rel="stylesheet" href="\(BrowserRoute.style.path)">
            <script src="\(BrowserRoute.script.path)" defer></script></head>
            <body><header><p>\(host)</p></header><main><h1>\(title)</h1>
            \(content)
            </main></body></html>

            """
        var reply = SiteReply(mediaType: "text/html; charset=utf-8", Array(text.utf8))
        reply.fields = Self.protection
        return reply
    }

    private static func escaped(_ text: [UInt8]) -> String {
        String(decoding: text, as: UTF8.self).reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.append(character)
            }
        }
    }

    /// The pages load what is the site's own, and stand in no frame. A form's origin is stated only under a policy that keeps the referrer.
    private static let protection: [(name: HTTPField.Name, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; connect-src 'self'; form-action 'self'; "
                + "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
        ),
        ("Referrer-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    ].compactMap { name, value in HTTPField.Name(name).map { ($0, value) } }

    static let style = SiteReply(
        mediaType: "text/css; charset=utf-8",
        Array(
            """
            :root { color-scheme: light dark; --ink: #1b1f2a; --paper: #f6f5f1; --card: #fff; --main: #2f3e9e; --on-main: #fff; --muted: #555b68; }
            @media (prefers-color-scheme: dark) { :root { --ink: #eceae4; --paper: #14171c; --card: #1d2027; --main: #aab6ff; --on-main: #14171c; --muted: #a9adb8; } }
            body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.6 system-ui, sans-serif; }
            header { padding: .75rem 1.5rem; background: var(--card); font-weight: 700; } header p { margin: 0; }
            main { max-width: 40rem; margin: 0 auto; padding: 2rem 1.5rem; overflow-wrap: anywhere; }
            .lead { color: var(--muted); } .lead b { color: var(--ink); }
            .choices { display: grid; gap: 1rem; }
            button, .button { display: inline-block; box-sizing: border-box; min-height: 2.75rem; padding: .5rem 1.25rem; border: 0; border-radius: .5rem; background: var(--main);
              color: var(--on-main); font: inherit; font-weight: 600; text-decoration: none; cursor: pointer; }
            a { color: var(--main); } a.button { color: var(--on-main); }
            input { min-height: 2.5rem; padding: 0 .5rem; font: inherit; }
            .digits { font: 700 3rem/1 ui-monospace, monospace; letter-spacing: .25em; }
            img { box-sizing: border-box; width: min(100%, 22rem); background: #fff; padding: 1rem; image-rendering: pixelated; }

            """.utf8))

    static let script = SiteReply(
        mediaType: "text/javascript; charset=utf-8",
        Array(
            """
            const form = document.getElementById('arriving');
            if (form) {
              const code = new URLSearchParams(location.hash.slice(1)).get('response_code');
              history.replaceState(null, '', location.pathname);
              if (code) { document.getElementById('response-code').value = code; form.submit(); }
            }
            const waiting = document.getElementById('waiting');
            if (waiting) {
              const look = setInterval(async () => {
                const answer = await fetch('\(BrowserRoute.state.path)', { headers: { 'Signet-Page': waiting.dataset.page } });
                const word = answer.ok ? await answer.text() : 'wait';
                if (word === 'wait') return;
                clearInterval(look);
                if (word === 'arrive') document.getElementById('arrive').submit();
                else location.assign('\(BrowserRoute.home.path)');
              }, 3000);
            }

            """.utf8))
}
