// SPDX-License-Identifier: Apache-2.0

import KeyDirectory
import KeyTransparency
import LogEngine
import SignetAPI
import SignetServer
import Synchronization
import TransparencyLog

/// Answers without a disk: the limits act before the directory does.
final class MadeUpDirectory: DirectoryAnswering {
    let origin = Array("example.org/signet".utf8)
    private let isHolding: Bool
    private let failure: DirectoryError?
    private let isReady: Bool
    private let displaced: Mutex<[String]>
    private let conditions = Atomic<Int>(0)
    private let lookups = Mutex((open: 0, most: 0))

    /// The most lookups that were worked on at once.
    var mostLookups: Int { lookups.withLock { $0.most } }

    /// How often its condition was asked.
    var askedConditions: Int { conditions.load(ordering: .relaxed) }

    /// Puts the files of the log back.
    func putBack() { displaced.withLock { $0 = [] } }

    /// - Parameters:
    ///   - isHolding: whether lookups are never answered.
    ///   - failure: what lookups throw.
    ///   - isReady: whether lookups and the checkpoint are in memory; then their texts begin with `ready`.
    ///   - displaced: files of the log that are not in their places.
    init(
        isHolding: Bool = false, failure: DirectoryError? = nil, isReady: Bool = false, displaced: [String] = []
    ) {
        self.displaced = Mutex(displaced)
        self.isHolding = isHolding
        self.failure = failure
        self.isReady = isReady
    }

    func ready(_ question: OpenQuestion) -> ReadyAnswer? {
        guard isReady else { return nil }
        let failure = failure
        return { () throws(DirectoryError) in
            if let failure { throw failure }
            return Array("ready\n".utf8)
        }
    }

    func lookup(_ request: LookupRequest) async throws(DirectoryError) -> [UInt8] {
        lookups.withLock { $0 = ($0.open + 1, max($0.most, $0.open + 1)) }
        defer { lookups.withLock { $0.open -= 1 } }
        if isHolding { for await _ in AsyncStream<Void>.makeStream().stream {} }
        if let failure { throw failure }
        return Array("found".utf8)
    }

    func history(_ request: HistoryRequest) async throws(DirectoryError) -> [UInt8] { [] }
    func milestones(_ request: MilestonesRequest) async throws(DirectoryError) -> [UInt8] { [] }
    func eCallKeys(_ request: ECallRequest) async throws(DirectoryError) -> [UInt8] { Array("[]".utf8) }
    func challenge(_ request: PossessionRequest) async throws(DirectoryError) -> PossessionChallenge {
        throw .refused(.unavailable)
    }
    func expect(_ signature: RequestSignature) async throws(DirectoryError) { throw .refused(.notYourAccount) }
    func signer(
        of signature: RequestSignature, _ content: RequestSignature.Content
    ) async throws(DirectoryError) -> Signer { throw .refused(.notYourAccount) }
    func admit(_ signer: Signer, protectsAccount: Bool) throws(DirectoryError) -> Caller {
        throw .refused(.notYourAccount)
    }
    func register(
        _ submission: StateSubmission, _ signature: RequestSignature, _ content: RequestSignature.Content,
        admitting admission: RegistrationRight, onNewHolder: @escaping @Sendable () async -> Void
    ) async throws(DirectoryError) -> StateReceipt { throw .refused(.handleTaken) }
    func update(_ submission: StateSubmission, by caller: Caller) async throws(DirectoryError) -> StateReceipt {
        throw .refused(.versionConflict)
    }
    func addFriend(
        _ handle: Handle, by caller: Caller, saying body: [UInt8], from network: [UInt8]
    ) async throws(DirectoryError) -> FriendAnswer { throw .refused(.notFound) }
    func blockFriend(
        _ handle: Handle, by caller: Caller
    ) async throws(DirectoryError) -> FriendAnswer { throw .refused(.notFound) }
    func acceptFriend(
        _ handle: Handle, by caller: Caller, saying body: [UInt8]
    ) async throws(DirectoryError) -> FriendAnswer { throw .refused(.notFound) }
    func signedFriendRequest(
        of handle: Handle, to caller: Caller
    ) async throws(DirectoryError) -> [UInt8] { throw .refused(.notFound) }
    func friends(of caller: Caller, after handle: Handle?) async throws(DirectoryError) -> FriendList {
        FriendList(friends: [])
    }
    func checkpoint() async throws(DirectoryError) -> [UInt8] { Array("a checkpoint\n".utf8) }
    func tile(_ tile: Tile) async throws(DirectoryError) -> [UInt8]? { nil }
    func condition() async -> LogCondition {
        conditions.add(1, ordering: .relaxed)
        var displaced = DisplacedFiles()
        displaced.open = self.displaced.withLock { $0 }
        return LogCondition(
            isAlive: failure != .stopped, size: 3, publishedSize: 2, checkpointTime: 100, displaced: displaced)
    }
    func republish() async throws(DirectoryError) { if let failure { throw failure } }
}

/// The body of a lookup that is well-formed.
let anyLookup: [UInt8] = {
    let handle = try? Handle(typed: Array("alice@example.org".utf8))
    return handle.map { LookupRequest(handle: $0, knownSize: 0).encoded } ?? []
}()
