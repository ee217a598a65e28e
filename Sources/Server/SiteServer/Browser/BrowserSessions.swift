// SPDX-License-Identifier: Apache-2.0

import Crypto
import Presentation
import StrictJSON

/// The sessions of browsers at a site: each was asked for a card, and is signed in once a wallet has answered for it.
///
/// A cookie's value is 32 random bytes; the site knows it by its hash. Everything is forgotten when the site stops.
struct BrowserSessions {
    /// For how long a session stays signed in, in seconds.
    static let lifetime: UInt64 = 3600
    /// So many sessions are remembered.
    static let maximumCount = 4096
    /// In bytes, before base64url.
    static let tokenByteCount = 32

    /// How far a session is.
    enum State: Hashable {
        /// The wallet has not answered. The digits are those of a wallet on another device.
        case asked(link: [UInt8], digits: JSONText?)
        /// The wallet has answered for this member, and the browser has not brought the response code.
        case answered(account: [UInt8])
        /// This member is signed in. A new one gets another cookie at the next page, so that nobody shares it who saw the first.
        case signedIn(account: [UInt8], isNew: Bool)
    }

    private struct Session {
        var state: State
        let expiry: UInt64
    }

    private var sessions: [[UInt8]: Session] = [:]

    /// What stands for the session of a cookie.
    static func key(_ token: JSONText) -> [UInt8] { Array(SHA256.hash(data: token.utf8)) }

    /// Whether one more can begin; what has expired is forgotten when there is no room.
    mutating func hasRoom(at now: UInt64) -> Bool {
        if sessions.count >= Self.maximumCount { sessions = sessions.filter { now < $0.value.expiry } }
        return sessions.count < Self.maximumCount
    }

    /// The state of a session; nil if there is none, or no longer.
    func state(of key: [UInt8], at now: UInt64) -> State? {
        sessions[key].flatMap { now < $0.expiry ? $0.state : nil }
    }

    /// Puts a session into a state.
    mutating func set(_ state: State, for key: [UInt8], until expiry: UInt64) {
        sessions[key] = Session(state: state, expiry: expiry)
    }

    /// Forgets a session.
    mutating func end(_ key: [UInt8]) { sessions[key] = nil }
}
