// SPDX-License-Identifier: Apache-2.0

package import ConnectionLimits
package import KeyDirectory
package import KeyTransparency
package import SignetAPI

/// A part of the server beside the directory, such as the notes.
package protocol PartAnswering: Sendable {
    /// What it answers.
    var routes: [any PartRoute] { get }
    /// The native body of an answer. Signatures and rates are checked before.
    func answer(_ request: PartRequest) async throws(PartRefusal) -> [UInt8]
    /// Does what is due from time to time: called when the server begins to serve, and at every interval at which the
    /// checkpoint is signed again.
    func keepUp() async
    /// Erases what it has of an account that is closed for good, also what a request in progress would still write.
    ///
    /// - Throws: what kept it from doing so; repeating the call completes it.
    func erase(_ handle: Handle) async throws
    /// Keeps something for a handle again that has another holder since what it had was erased.
    func admit(_ handle: Handle) async
    /// How many bytes of room an account uses here.
    func usedByteCount(of handle: Handle) async throws -> UInt64
    /// The quota of bytes that was set for an account alone; nil for none.
    func quota(of handle: Handle) async throws -> UInt64?
    /// Sets it; nil for that of all accounts.
    func setQuota(_ byteCount: UInt64?, of handle: Handle) async throws
    /// Ends what it has open; called once, after the last answer.
    func close() async
}

extension PartAnswering {
    /// Nothing is due.
    package func keepUp() async {}
    /// Keeps nothing of an account.
    package func erase(_ handle: Handle) async throws {}
    /// Refuses none.
    package func admit(_ handle: Handle) async {}
    /// Takes no room.
    package func usedByteCount(of handle: Handle) async throws -> UInt64 { 0 }
    /// Has no quotas.
    package func quota(of handle: Handle) async throws -> UInt64? { nil }
    /// The same.
    package func setQuota(_ byteCount: UInt64?, of handle: Handle) async throws {}
}

/// A request for a part.
package struct PartRequest: Sendable {
    /// Which of its routes.
    package let route: any PartRoute
    /// The native body, not longer than the route allows.
    package let body: [UInt8]
    /// The device that signed the request; nil if the route is open.
    package let caller: Caller?
    /// Whence it came, for limits only.
    package let client: ClientAddress

    /// A request.
    package init(route: any PartRoute, body: [UInt8], caller: Caller?, client: ClientAddress) {
        self.route = route
        self.body = body
        self.caller = caller
        self.client = client
    }
}

/// The part does not answer. What its own rules refuse is said in an answer instead.
package struct PartRefusal: Error, Hashable, Sendable {
    /// The word that the client gets.
    package let code: ErrorCode

    /// A refusal.
    package init(_ code: ErrorCode) { self.code = code }
}

extension PartRefusal {
    /// Why the directory did not answer: a front end that is behind says so, and all else may pass.
    init(waiting error: DirectoryError) { self.init(error == .refused(.behind) ? .behind : .unavailable) }
}

/// Which part answers a path, or which page of the explorer it is.
struct PartTable: Sendable {
    /// A route and who answers it.
    struct Entry: Sendable {
        let route: any PartRoute
        let part: any PartAnswering
    }

    let all: [any PartAnswering]
    /// The pages for visitors' browsers; nil: there are none.
    let explorer: ExplorerFiles?
    private let entries: [String: Entry]

    init(_ parts: [any PartAnswering], explorer: ExplorerFiles? = nil) {
        self.all = parts
        self.explorer = explorer
        let routes = parts.flatMap { part in part.routes.map { ($0.path, Entry(route: $0, part: part)) } }
        entries = Dictionary(routes) { first, _ in first }
    }

    subscript(path: String) -> Entry? { entries[path] }
}
