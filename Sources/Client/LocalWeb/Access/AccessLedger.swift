// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Who may see this process's pages: the links that open a session, each of them once, and the sessions that were opened.
///
/// Everything is in memory and random, so that nothing of another process, or of this one before it was started again, opens anything.
final class AccessLedger: Sendable {
    /// How long a link is valid, in seconds.
    static let linkSeconds: UInt64 = 300
    /// How long a session is valid, in seconds, no matter how much it is used.
    static let sessionSeconds: UInt64 = 43_200
    static let maximumLinkCount = 32
    static let maximumSessionCount = 8

    private struct State {
        var links: [TokenDigest: (expires: UInt64, isUsed: Bool)] = [:]
        var sessions: [TokenDigest: WebSession] = [:]
    }

    private let state = Mutex(State())

    /// The part of every path below which the pages are.
    ///
    /// Browsers send a cookie to every port of a host, but only below its path. No page of another port knows this path, so a program at
    /// another port of this machine does not get the cookie, even if the person is lured there.
    let mount = SecretToken(byteCount: 16).text

    /// A token for a link.
    func makeLink(at now: UInt64) -> SecretToken {
        let token = SecretToken()
        state.withLock { state in
            // Old links are kept, so that a browser that opens one is told that it was used or expired.
            if state.links.count >= Self.maximumLinkCount,
                let oldest = state.links.min(by: { $0.value.expires < $1.value.expires })
            {
                state.links[oldest.key] = nil
            }
            state.links[token.digest] = (now + Self.linkSeconds, false)
        }
        return token
    }

    /// Opens a session with a link's token, which opens no second session.
    ///
    /// - Returns: the session, and the value of its cookie.
    func open(with token: String, at now: UInt64) throws(LinkRefusal) -> (session: WebSession, cookie: SecretToken) {
        let digest = TokenDigest(of: token)
        try state.withLock { state throws(LinkRefusal) in
            guard let link = state.links[digest] else { throw .unknown }
            guard !link.isUsed else { throw .used }
            guard now < link.expires else { throw .late }
            state.links[digest]?.isUsed = true
        }
        return add(WebSession(until: now + Self.sessionSeconds))
    }

    private func add(_ session: WebSession) -> (WebSession, SecretToken) {
        let cookie = SecretToken()
        state.withLock { state in
            if state.sessions.count >= Self.maximumSessionCount,
                let oldest = state.sessions.min(by: { $0.value.expires < $1.value.expires })
            {
                state.sessions[oldest.key] = nil
            }
            state.sessions[cookie.digest] = session
        }
        return (session, cookie)
    }

    /// The session whose cookie this is; nil if there is none, or if its time is over.
    func session(of cookie: String, at now: UInt64) -> WebSession? {
        let session = state.withLock { $0.sessions[TokenDigest(of: cookie)] }
        guard let session, now < session.expires else { return nil }
        return session
    }
}

/// Why a link opens nothing.
enum LinkRefusal: Error, Hashable, Sendable {
    /// It opened a session before.
    case used
    /// It had expired.
    case late
    /// This process did not make it, or made it long ago.
    case unknown
}
