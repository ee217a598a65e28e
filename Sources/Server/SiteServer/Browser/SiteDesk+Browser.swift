// SPDX-License-Identifier: Apache-2.0

import Presentation
import StrictJSON

/// What a page shows while it waits for a wallet.
struct WaitingPage {
    /// What the wallet opens.
    let link: [UInt8]
    /// For a wallet on another device.
    let digits: JSONText?
    /// What only this page knows.
    let secret: JSONText
}

extension SiteDesk {
    /// Begins a session that a wallet can answer for.
    ///
    /// - Parameters:
    ///   - token: the value of its cookie.
    ///   - page: a secret for the page.
    ///   - isOtherDevice: whether the wallet is on another device than the browser.
    ///   - challenge: of the site, 32 bytes.
    ///   - random: 80 unpredictable bytes.
    func begin(
        _ token: JSONText, page: JSONText, isOtherDevice: Bool, challenge: [UInt8], random: [UInt8], at now: UInt64
    ) throws(PresentationDeskFault) -> WaitingPage {
        var generator = SystemRandomNumberGenerator()
        let number = Int.random(in: 0..<100, using: &generator)
        let digits = isOtherDevice ? JSONText(number < 10 ? "0\(number)" : "\(number)") : nil
        let key = BrowserSessions.key(token)
        guard sessions.hasRoom(at: now), let question = BrowserQuestion(challenge: challenge, digits: digits) else {
            throw .busy
        }
        let link = try desk.ask(key, for: question, random: random, at: Int64(clamping: now))
        sessions.set(.asked(page: page), for: key, until: now + UInt64(PresentationDesk.lifetime))
        return WaitingPage(link: link, digits: digits, secret: page)
    }

    /// How far the session of a cookie is; nil if there is none.
    func state(of token: JSONText?, at now: UInt64) -> BrowserSessions.State? {
        token.flatMap { sessions.state(of: BrowserSessions.key($0), at: now) }
    }

    /// The wallet has signed in as a member, for the session that it answers. Either all of it is kept, or the session ends.
    func answered(_ received: ReceivedCard, by account: [UInt8], at now: UInt64) async throws {
        do {
            if received.address == nil { try await keep(shownBy: account, at: now) }
            guard case .asked(let page) = sessions.state(of: received.asker, at: now) else {
                throw PresentationDeskFault.unknownRequest
            }
            // The browser comes within the time that the request has.
            sessions.set(
                received.address == nil ? .confirmed(account: account, page: page) : .answered(account: account),
                for: received.asker, until: now + UInt64(PresentationDesk.lifetime))
        } catch {
            refuse(received)
            throw error
        }
    }

    /// Nobody has signed in for the session.
    func refuse(_ received: ReceivedCard) {
        desk.close(received.asker)
        sessions.end(received.asker)
    }

    /// The browser brings the response code. It must be the browser whose session the wallet answered: otherwise a person could be brought
    /// to sign another's browser in.
    ///
    /// - Parameter next: the value of the cookie from now on.
    func finish(_ code: JSONText, in token: JSONText, next: JSONText, at now: UInt64) async throws {
        let key = BrowserSessions.key(token)
        _ = try desk.finish(code, by: key, at: Int64(clamping: now))
        guard case .answered(let account) = sessions.state(of: key, at: now) else {
            throw PresentationDeskFault.unknownRequest
        }
        sessions.end(key)
        try await keep(shownBy: account, at: now)
        sessions.set(.signedIn(account: account), for: BrowserSessions.key(next), until: now + BrowserSessions.lifetime)
    }

    /// The page that showed code and digits comes back with its secret, and gets another cookie: whoever saw the first cookie, or set it,
    /// is not signed in.
    ///
    /// - Parameter next: the value of the cookie from now on.
    func arrive(page: JSONText, in token: JSONText, next: JSONText, at now: UInt64) throws(PresentationDeskFault) {
        let key = BrowserSessions.key(token)
        guard case .confirmed(let account, page) = sessions.state(of: key, at: now) else { throw .unknownRequest }
        sessions.end(key)
        sessions.set(.signedIn(account: account), for: BrowserSessions.key(next), until: now + BrowserSessions.lifetime)
    }

    /// Ends a session.
    func end(_ token: JSONText) {
        let key = BrowserSessions.key(token)
        desk.close(key)
        sessions.end(key)
    }
}
