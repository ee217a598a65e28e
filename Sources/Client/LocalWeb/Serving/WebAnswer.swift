// SPDX-License-Identifier: Apache-2.0

/// An answer, with the header fields that keep other pages out.
struct WebAnswer: Sendable {
    var status: Int
    var mediaType: String
    var body: [UInt8]
    /// Fields besides those that every answer has.
    var fields: [(name: String, value: String)] = []
    /// Whether a browser may keep it, because its name says which bytes it has.
    var isLasting = false
    /// Whether the page has the program's script. No page with a text that other people wrote has it.
    var isLive = false

    static func page(_ markup: HTML, status: Int = 200) -> WebAnswer {
        WebAnswer(status: status, mediaType: "text/html; charset=utf-8", body: Array(markup.text.utf8))
    }

    /// A page that keeps itself up to date, by the one script of this program.
    static func live(_ markup: HTML) -> WebAnswer {
        var answer = page(markup)
        answer.isLive = true
        return answer
    }

    /// The browser gets another page after a form, so that loading it again sends nothing again.
    static func see(_ path: WebPath) -> WebAnswer {
        WebAnswer(status: 303, mediaType: "text/plain; charset=utf-8", body: [], fields: [("location", path.text)])
    }

    /// For a terminal, in plain text: requests that no browser of the person sends.
    static func plain(_ status: Int, _ text: StaticString) -> WebAnswer {
        WebAnswer(status: status, mediaType: "text/plain; charset=utf-8", body: Array("\(text)\n".utf8))
    }

    /// Sets the session's cookie: no script reads it, no other site's page sends it, and no other port gets it.
    mutating func set(cookie: SecretToken, named name: String, below mount: String) {
        fields.append(("set-cookie", "\(name)=\(cookie.text); Path=/\(mount)/; HttpOnly; SameSite=Strict"))
    }

    /// All fields.
    var allFields: [(name: String, value: String)] {
        fields + Self.always + [
            (
                "content-security-policy",
                isLive ? Self.policy(scripts: "script-src 'self'; connect-src 'self'; ") : Self.policy()
            ),
            ("content-type", mediaType), ("content-length", "\(body.count)"),
            ("cache-control", isLasting ? "public, max-age=31536000, immutable" : "no-store"),
        ]
    }

    private static func policy(scripts: String = "") -> String {
        "default-src 'none'; \(scripts)style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; "
            + "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    }

    /// No other page frames this one or reads it, and nothing is told to others.
    ///
    /// `Referrer-Policy: no-referrer` would tell no more and no less to others, but makes browsers send `Origin: null` with this app's own
    /// forms (Fetch 3.2), and then `null` could not be refused.
    static let always: [(name: String, value: String)] = [
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), microphone=(), geolocation=(), usb=(), serial=(), clipboard-read=()"),
    ]
}
