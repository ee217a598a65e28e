// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One browser that was let in.
final class WebSession: Sendable {
    /// When it ends, in seconds since 1970.
    let expires: UInt64
    /// A field of every form of the session: a program that has the cookie and has seen no page cannot send a form.
    let formToken = SecretToken().text

    private struct State {
        var message: HTML?
        var typed: (route: WebRoute, form: FormBody)?
    }

    private let state = Mutex(State())

    init(until expires: UInt64) { self.expires = expires }

    /// Whether a form came from one of the session's pages.
    func isOwn(_ token: String?) -> Bool { token.map { TokenDigest(of: $0) == TokenDigest(of: formToken) } ?? false }

    /// Keeps a sentence, which the next page shows.
    func say(_ message: HTML) { state.withLock { $0.message = message } }

    /// The sentence for this page.
    func takeMessage() -> HTML? {
        state.withLock { state in
            defer { state.message = nil }
            return state.message
        }
    }

    /// Keeps what was typed into a form that could not be accepted now, until its page is shown again.
    func keep(_ form: FormBody, of route: WebRoute) { state.withLock { $0.typed = (route, form) } }

    /// What was typed into the form of a page.
    func takeTyped(of route: WebRoute) -> FormBody? {
        state.withLock { state in
            guard let typed = state.typed, typed.route == route else { return nil }
            state.typed = nil
            return typed.form
        }
    }
}
