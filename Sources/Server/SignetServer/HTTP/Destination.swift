// SPDX-License-Identifier: Apache-2.0

import CallSignalling
import SignetAPI
import TransparencyLog

/// Where a request is going: a route, or a file of the log. Paths have one spelling and no query.
enum Destination {
    case route(Route)
    case part(PartTable.Entry)
    case checkpoint
    case tile(Tile)
    /// A page of the explorer, or a file of it.
    case page(ExplorerFiles.Page)
    /// The WebSocket that carries the signals of calls.
    case signals
    /// There is such a path, but not for this method.
    case methodNotAllowed(allowed: String)
    case nothing

    /// The bounded set of names under which requests are counted.
    enum Name: String, CaseIterable, Hashable, Sendable {
        case lookup, history, milestones, eCallKeys = "ecall_keys", succession, possession, register, update
        case addFriend = "add_friend", acceptFriend = "accept_friend", blockFriend = "block_friend", friends
        case signedFriendRequest = "signed_friend_request"
        case health, ready, metrics, checkpoint, tile, part, page, signals, other
        case addCheckpoint = "add_checkpoint"

        /// What a directory's server answers.
        static let ofDirectory = allCases.filter { $0 != .addCheckpoint }
        /// What a witness's server answers.
        static let ofWitness: [Name] = [.addCheckpoint, .checkpoint, .health, .other]
    }

    init(method: String, path: String, parts: PartTable) {
        if let route = Self.routes[path] {
            self = method == route.method ? .route(route) : .methodNotAllowed(allowed: route.method)
            return
        }
        if let entry = parts[path] {
            self = method == "POST" ? .part(entry) : .methodNotAllowed(allowed: "POST")
            return
        }
        if path == RelayAddress.path {
            self = method == "GET" ? .signals : .methodNotAllowed(allowed: "GET")
            return
        }
        if let page = parts.explorer?[path] {
            self = method == "GET" ? .page(page) : .methodNotAllowed(allowed: "GET")
            return
        }
        guard path.utf8.starts(with: Self.logPrefix) else {
            self = .nothing
            return
        }
        let file = Array(path.utf8.dropFirst(Self.logPrefix.count))
        if file == Self.checkpointName {
            self = .checkpoint
        } else if let tile = try? Tile(decodingPath: file) {
            self = .tile(tile)
        } else {
            self = .nothing
            return
        }
        if method != "GET" { self = .methodNotAllowed(allowed: "GET") }
    }

    /// Whether a path is answered by a directory that is mounted in another server: health, metrics and signals are not.
    static func isMounted(_ path: String, parts: PartTable) -> Bool {
        switch routes[path] {
        case .health, .ready, .metrics: false
        case .some: true
        case nil: parts[path] != nil || path.utf8.starts(with: logPrefix)
        }
    }

    var name: Name {
        switch self {
        case .route(let route): Self.name(route)
        case .checkpoint: .checkpoint
        case .tile: .tile
        case .part: .part
        case .page: .page
        case .signals: .signals
        case .methodNotAllowed, .nothing: .other
        }
    }

    /// How many tokens a request costs its address: what makes the server sign, prove or write costs more.
    var cost: UInt64 {
        switch self {
        case .route(.register), .route(.updateState): 10
        case .route(.possession), .route(.history), .route(.milestones): 5
        case .part(let entry): entry.route.cost
        default: 1
        }
    }

    /// Whether only a signed request is answered. The WebSocket judges its own.
    var isSigned: Bool {
        switch self {
        case .route(.register), .route(.updateState), .route(.addFriend), .route(.acceptFriend), .route(.blockFriend),
            .route(.listFriends), .route(.listFriendsAfter), .route(.signedFriendRequest):
            true
        case .part(let entry): entry.route.access == .signed
        default: false
        }
    }

    /// Whether a suspended account is answered, too: revocations, objections and recoveries always have room.
    var protectsAccount: Bool {
        switch self {
        case .route(.updateState): true
        case .part(let entry): entry.route.protectsAccount
        default: false
        }
    }

    /// Whether a signed request that comes again later changes nothing, whatever happened since: a friendship that ended must not be made
    /// again by a request of before, nor one that was made be ended.
    var isRepeatable: Bool {
        switch self {
        case .route(.addFriend), .route(.acceptFriend), .route(.blockFriend): false
        case .part(let entry): entry.route.isRepeatable
        default: true
        }
    }

    /// The longest body of a request, in bytes.
    ///
    /// - Parameter limit: that of the directory's own routes.
    func bodyByteCount(limit: Int) -> Int {
        if case .part(let entry) = self { entry.route.maximumRequestByteCount } else { limit }
    }

    private static let logPrefix = Array("\(Route.logPrefix)/".utf8)
    private static let checkpointName = Array("checkpoint".utf8)

    private static let routes = Dictionary(uniqueKeysWithValues: Route.allCases.map { ($0.path, $0) })

    private static func name(_ route: Route) -> Name {
        switch route {
        case .lookup: .lookup
        case .history: .history
        case .milestones: .milestones
        case .eCallKeys: .eCallKeys
        case .succession: .succession
        case .possession: .possession
        case .register: .register
        case .updateState: .update
        case .addFriend: .addFriend
        case .acceptFriend: .acceptFriend
        case .blockFriend: .blockFriend
        case .listFriends, .listFriendsAfter: .friends
        case .signedFriendRequest: .signedFriendRequest
        case .health: .health
        case .ready: .ready
        case .metrics: .metrics
        }
    }
}
