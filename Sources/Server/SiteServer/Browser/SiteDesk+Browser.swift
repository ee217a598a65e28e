// SPDX-License-Identifier: Apache-2.0

import Presentation
import StrictJSON

extension SiteDesk {
    /// Begins a session that a wallet can answer for.
    ///
    /// - Parameters:
    ///   - token: the value of its cookie.
    ///   - isOtherDevice: whether the wallet is on another device than the browser.
    ///   - challenge: of the site, 32 bytes.
    ///   - random: 80 unpredictable bytes.
    func begin(
        _ token: JSONText, isOtherDevice: Bool, challenge: [UInt8], random: [UInt8], at now: UInt64
    ) throws(PresentationDeskFault) {
        var generator = SystemRandomNumberGenerator()
        let number = Int.random(in: 0..<100, using: &generator)
        let digits = isOtherDevice ? JSONText(number < 10 ? "0\(number)" : "\(number)") : nil
        let key = BrowserSessions.key(token)
        guard sessions.hasRoom(at: now), let question = BrowserQuestion(challenge: challenge, digits: digits) else {
            throw .busy
        }
        let link = try desk.ask(key, for: question, random: random, at: Int64(clamping: now))
        sessions.set(.asked(link: link, digits: digits), for: key, until: now + UInt64(PresentationDesk.lifetime))
    }

    /// How far the session of a cookie is; nil if there is none.
    func state(of token: JSONText?, at now: UInt64) -> BrowserSessions.State? {
        token.flatMap { sessions.state(of: BrowserSessions.key($0), at: now) }
    }

    /// The wallet has signed in as a member, for the session that it answers.
    func answered(_ received: ReceivedCard, by account: [UInt8], at now: UInt64) async throws {
        guard case .asked = sessions.state(of: received.asker, at: now) else {
            desk.close(received.asker)
            throw PresentationDeskFault.unknownRequest
        }
        guard received.address == nil else {
            // The browser brings the response code within the time that the request has.
            return sessions.set(
                .answered(account: account), for: received.asker, until: now + UInt64(PresentationDesk.lifetime))
        }
        sessions.set(
            .signedIn(account: account, isNew: true), for: received.asker, until: now + BrowserSessions.lifetime)
        try await keep(shownBy: account, at: now)
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
        sessions.set(
            .signedIn(account: account, isNew: false), for: BrowserSessions.key(next),
            until: now + BrowserSessions.lifetime)
        try await keep(shownBy: account, at: now)
    }

    /// Gives a session that was just signed in another cookie.
    ///
    /// - Returns: whether it was.
    func renew(_ token: JSONText, as next: JSONText, at now: UInt64) -> Bool {
        let key = BrowserSessions.key(token)
        guard case .signedIn(let account, isNew: true) = sessions.state(of: key, at: now) else { return false }
        sessions.end(key)
        sessions.set(
            .signedIn(account: account, isNew: false), for: BrowserSessions.key(next),
            until: now + BrowserSessions.lifetime)
        return true
    }

    /// Ends a session.
    func end(_ token: JSONText) {
        let key = BrowserSessions.key(token)
        desk.close(key)
        sessions.end(key)
    }
}
