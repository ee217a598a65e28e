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
    /// So many sessions that wait are remembered, and as many that are signed in: whoever only begins takes no place of these.
    static let maximumCount = 4096
    /// In bytes, before base64url.
    static let tokenByteCount = 32

    /// How far a session is.
    enum State: Equatable {
        /// The wallet has not answered. `page` is a secret of the page that was shown, and of no other.
        case asked(page: JSONText)
        /// The wallet has answered for this member, and the browser has not brought the response code.
        case answered(account: [UInt8])
        /// A wallet on another device has answered for this member, and the page has not come back with its secret: whoever has only the
        /// cookie is not signed in.
        case confirmed(account: [UInt8], page: JSONText)
        /// This member is signed in.
        case signedIn(account: [UInt8])
        /// The wallet's answer was refused, which the page is to say.
        case refused(PresentationDeskFault)
    }

    private struct Session {
        var state: State
        let expiry: UInt64

        var isSignedIn: Bool { if case .signedIn = state { true } else { false } }
    }

    private var sessions: [[UInt8]: Session] = [:]

    /// What stands for the session of a cookie.
    static func key(_ token: JSONText) -> [UInt8] { Array(SHA256.hash(data: token.utf8)) }

    /// Whether one more can begin; what has expired is forgotten when there is no room.
    mutating func hasRoom(at now: UInt64) -> Bool {
        if waitingCount >= Self.maximumCount { sessions = sessions.filter { now < $0.value.expiry } }
        return waitingCount < Self.maximumCount
    }

    private var waitingCount: Int { sessions.values.count { !$0.isSignedIn } }

    /// The state of a session; nil if there is none, or no longer.
    func state(of key: [UInt8], at now: UInt64) -> State? {
        sessions[key].flatMap { now < $0.expiry ? $0.state : nil }
    }

    /// Puts a session into a state. Of too many that are signed in, the one that ends first is forgotten.
    mutating func set(_ state: State, for key: [UInt8], until expiry: UInt64) {
        sessions[key] = Session(state: state, expiry: expiry)
        let signedIn = sessions.filter(\.value.isSignedIn)
        if signedIn.count > Self.maximumCount, let first = signedIn.min(by: { $0.value.expiry < $1.value.expiry }) {
            sessions[first.key] = nil
        }
    }

    /// Forgets a session.
    mutating func end(_ key: [UInt8]) { sessions[key] = nil }
}
