// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Presentation

/// What a site that asks for cards answers to browsers.
enum BrowserRoute: Hashable, CaseIterable {
    /// The site's one page.
    case home
    /// Begins a session: form field `device`, `this` or `other`.
    case begin
    /// The page that waits for the wallet's answer.
    case waiting
    /// A word: whether that page is to go on.
    case state
    /// The page to which a wallet on the same device sends the browser.
    case arrive
    /// Brings the response code: form field `code`.
    case finish
    /// Ends the session.
    case signOut
    /// The pages' style.
    case style
    /// The pages' script.
    case script

    init?(_ method: HTTPRequest.Method, _ path: String) {
        guard let route = Self.allCases.first(where: { $0.method == method && $0.path == path }) else { return nil }
        self = route
    }

    /// The longest body, in bytes.
    static let maximumByteCount = 512

    private var method: HTTPRequest.Method {
        switch self {
        case .begin, .finish, .signOut: .post
        default: .get
        }
    }

    var path: String {
        switch self {
        case .home: "/"
        case .begin: "/begin"
        case .waiting: "/waiting"
        case .state: "/state"
        case .arrive: CardRoute.finish.path
        case .finish: "/finish"
        case .signOut: "/sign-out"
        case .style: "/style.css"
        case .script: "/script.js"
        }
    }
}
