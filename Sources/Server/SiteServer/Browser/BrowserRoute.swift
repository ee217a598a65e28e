// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Presentation

/// What a site that asks for cards answers to browsers.
enum BrowserRoute: Hashable, CaseIterable {
    /// The site's one page.
    case home
    /// Begins a session: form field `device`, `this` or `other`. The answer is the page that waits for the wallet.
    case begin
    /// A word: whether the page with the secret in `Signet-Page` is to go on.
    case state
    /// The page to which a wallet on the same device sends the browser.
    case back
    /// Brings the response code: form field `code`.
    case finish
    /// The page that showed code and digits comes back: form field `page`.
    case arrive
    /// Ends the session.
    case signOut
    /// The pages' style.
    case style
    /// The pages' script.
    case script

    /// The route of a path, whatever its query; where a form is sent, a browser that only opens the address sees the page with the form.
    init?(_ method: HTTPRequest.Method, _ path: String) {
        let path = path.prefix { $0 != "?" }
        guard let route = Self.allCases.first(where: { $0.path == path }) else { return nil }
        switch (method, route.isForm) {
        case (.post, true), (.get, false): self = route
        case (.get, true): self = .home
        default: return nil
        }
    }

    /// The longest body, in bytes.
    static let maximumByteCount = 512

    private var isForm: Bool {
        switch self {
        case .begin, .finish, .arrive, .signOut: true
        case .home, .state, .back, .style, .script: false
        }
    }

    var path: String {
        switch self {
        case .home: "/"
        case .begin: "/begin"
        case .state: "/state"
        case .back: CardRoute.finish.path
        case .finish: "/finish"
        case .arrive: "/arrive"
        case .signOut: "/sign-out"
        case .style: "/style.css"
        case .script: "/script.js"
        }
    }
}
