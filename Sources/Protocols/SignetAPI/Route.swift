// SPDX-License-Identifier: Apache-2.0

/// Everything `signetd` answers, and how it is asked.
public enum Route: Hashable, Sendable, CaseIterable {
    /// Native lookup: body `LookupRequest`, answer `LookupResponse`. Open to anyone, limited by address.
    case lookup
    /// Everything under a label: body `HistoryRequest`, answer `HistoryResponse`. Open to anyone, limited by address.
    case history
    /// The index of past days: body `MilestonesRequest`, answer `MilestonesResponse`. Open to anyone, limited by address.
    case milestones
    /// The eCall lookup: JSON ``ECallRequest``, answer a JSON list of ``ECallEntry``.
    case eCallKeys
    /// Every change of the directory's keys: answer `SuccessionChain`; `notFound` before the first.
    case succession
    /// Challenge for proof of possession: body ``PossessionRequest``, answer ``PossessionChallenge``.
    case possession
    /// Registration: body ``StateSubmission``, request signed by the new device; answer ``StateReceipt``.
    case register
    /// Next state of an account: body ``StateSubmission``, request signed by a device of the account.
    case updateState
    /// JSON ``FriendRequest``, signed; answer JSON ``FriendAnswer``.
    case addFriend
    /// JSON ``FriendRequest``, signed; answer JSON ``FriendAnswer``.
    case acceptFriend
    /// Rejects a request for good: the requester is not told, and asking again changes nothing. JSON ``FriendRequest``,
    /// signed; answer JSON ``FriendAnswer`` without keys. `notFound`: nothing waits of them.
    case blockFriend
    /// The first page of the caller's people: signed, empty body; answer JSON ``FriendList``.
    case listFriends
    /// The page behind a handle: JSON ``FriendRequest``, signed; answer JSON ``FriendList``.
    case listFriendsAfter
    /// What another person signed when they asked the caller, or agreed: JSON ``FriendRequest``, signed; answer
    /// ``SignedFriendRequest``. `notFound`: they did neither, or the directory kept nothing of it.
    case signedFriendRequest
    /// Is the process up and the log writable.
    case health
    /// Whether the server will go on as it should: 200, or 503 and a line for each thing that is to be done.
    case ready
    /// Counters in the Prometheus text format.
    case metrics

    /// The HTTP method.
    public var method: String {
        switch self {
        case .listFriends, .succession, .health, .ready, .metrics: "GET"
        default: "POST"
        }
    }

    /// The path, without a query.
    public var path: String {
        switch self {
        case .lookup: "/v1/lookup"
        case .history: "/v1/history"
        case .milestones: "/v1/milestones"
        case .eCallKeys: "/api/get-public-keys"
        case .succession: "/v1/succession"
        case .possession: "/v1/possession"
        case .register: "/v1/accounts"
        case .updateState: "/v1/accounts/state"
        case .addFriend: "/v1/friends/add"
        case .acceptFriend: "/v1/friends/accept"
        case .blockFriend: "/v1/friends/block"
        case .listFriends: "/v1/friends"
        case .listFriendsAfter: "/v1/friends/after"
        case .signedFriendRequest: "/v1/friends/signed"
        case .health: "/health"
        case .ready: "/ready"
        case .metrics: "/metrics"
        }
    }

    /// Where the tlog-tiles read path starts: `/log/checkpoint`, `/log/tile/...`.
    public static let logPrefix = "/log"

    /// Media type of the native messages.
    public static let nativeMediaType = "application/vnd.signet"

    /// The largest request body any route takes, in bytes.
    public static let maximumRequestByteCount = 65_536
}
