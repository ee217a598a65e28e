// SPDX-License-Identifier: Apache-2.0

package import KeyDirectory
package import KeyTransparency
package import SignetAPI
package import SignetServer
package import TransparencyLog

/// A real directory behind one lie. It holds the keys of the log, the cosigner and the VRF, so it can sign anything. It is a
/// test product and part of no server.
package struct LyingDirectory: DirectoryAnswering {
    let honest: DirectoryAdapter
    let directory: Directory
    let keys: DirectoryKeys
    let attack: Attack
    let conspiracy: Conspiracy?
    /// Whether all history requests go unanswered.
    let hidesHistory: Bool
    let clock: @Sendable () -> UInt64
    private let isLying: @Sendable () -> Bool
    private let forger = Forger()

    /// Puts an attack in front of an open directory.
    package init(
        _ directory: Directory, keys: DirectoryKeys, attack: Attack, with conspiracy: Conspiracy? = nil,
        hidingHistory: Bool = false, while isLying: @escaping @Sendable () -> Bool = { true },
        clock: @escaping @Sendable () -> UInt64
    ) {
        honest = DirectoryAdapter(directory)
        self.directory = directory
        self.keys = keys
        self.attack = attack
        self.conspiracy = conspiracy
        hidesHistory = hidingHistory
        self.isLying = isLying
        self.clock = clock
    }

    /// Puts an attack in front of a data directory that has been set up and opened.
    ///
    /// - Parameters:
    ///   - conspiracy: guardians who take part in ``Attack/replacedAccount``.
    ///   - hidingHistory: whether all history requests go unanswered.
    ///   - isLying: called at each request; every answer is honest until it returns true.
    /// - Throws: any error that prevents the keys from being read.
    package init(
        _ stored: StoredDirectory, keysIn folder: String, attack: Attack, with conspiracy: Conspiracy? = nil,
        hidingHistory: Bool = false, while isLying: @escaping @Sendable () -> Bool = { true }
    ) throws {
        guard let log = stored.profile.trust.policy.logs.first else { throw StoredDirectoryError.noLog }
        self.init(
            stored.directory, keys: try DirectoryKeys.read(from: folder, origin: log.name), attack: attack,
            with: conspiracy, hidingHistory: hidingHistory, while: isLying, clock: ServerClock.system.time)
    }

    package func lookup(_ request: LookupRequest) async throws(DirectoryError) -> [UInt8] {
        let answer = try await directory.lookup(request)
        guard isLying() else { return answer.encoded }
        do {
            return try await forger.lie(about: request, answer, for: self)
        } catch let error as DirectoryError {
            throw error
        } catch { throw .refused(.unavailable) }
    }

    package func history(_ request: HistoryRequest) async throws(DirectoryError) -> [UInt8] {
        guard !hidesHistory || !isLying() else { throw .refused(.unavailable) }
        guard isLying(), attack.changesHistory else { return try await honest.history(request) }
        let answer = try await directory.lookup(request.lookup)
        do { return try await forger.history(request, answer, for: self).encoded } catch {
            throw .refused(.unavailable)
        }
    }

    // MARK: Everything else is answered honestly

    package var origin: [UInt8] { honest.origin }

    package func milestones(_ request: MilestonesRequest) async throws(DirectoryError) -> [UInt8] {
        try await honest.milestones(request)
    }

    package func eCallKeys(_ request: ECallRequest) async throws(DirectoryError) -> [UInt8] {
        try await honest.eCallKeys(request)
    }

    package func challenge(_ request: PossessionRequest) async throws(DirectoryError) -> PossessionChallenge {
        try await honest.challenge(request)
    }

    package func expect(_ signature: RequestSignature) async throws(DirectoryError) {
        try await honest.expect(signature)
    }

    package func signer(
        of signature: RequestSignature, _ content: RequestSignature.Content
    ) async throws(DirectoryError) -> Signer {
        try await honest.signer(of: signature, content)
    }

    package func admit(_ signer: Signer, protectsAccount: Bool) throws(DirectoryError) -> Caller {
        try honest.admit(signer, protectsAccount: protectsAccount)
    }

    package func register(
        _ submission: StateSubmission, _ signature: RequestSignature, _ content: RequestSignature.Content,
        admitting admission: RegistrationRight, onNewHolder: @escaping @Sendable () async -> Void
    ) async throws(DirectoryError) -> StateReceipt {
        try await honest.register(submission, signature, content, admitting: admission, onNewHolder: onNewHolder)
    }

    package func update(
        _ submission: StateSubmission, by caller: Caller
    ) async throws(DirectoryError) -> StateReceipt {
        try await honest.update(submission, by: caller)
    }

    package func addFriend(
        _ handle: Handle, by caller: Caller, saying body: [UInt8], from network: [UInt8]
    ) async throws(DirectoryError) -> FriendAnswer {
        try await honest.addFriend(handle, by: caller, saying: body, from: network)
    }

    package func blockFriend(_ handle: Handle, by caller: Caller) async throws(DirectoryError) -> FriendAnswer {
        try await honest.blockFriend(handle, by: caller)
    }

    package func acceptFriend(
        _ handle: Handle, by caller: Caller, saying body: [UInt8]
    ) async throws(DirectoryError) -> FriendAnswer {
        try await honest.acceptFriend(handle, by: caller, saying: body)
    }

    package func signedFriendRequest(
        of handle: Handle, to caller: Caller
    ) async throws(DirectoryError) -> [UInt8] {
        try await honest.signedFriendRequest(of: handle, to: caller)
    }

    package func friends(of caller: Caller, after handle: Handle?) async throws(DirectoryError) -> FriendList {
        try await honest.friends(of: caller, after: handle)
    }

    package func checkpoint() async throws(DirectoryError) -> [UInt8] { try await honest.checkpoint() }

    package func tile(_ tile: Tile) async throws(DirectoryError) -> [UInt8]? { try await honest.tile(tile) }

    package func condition() async -> LogCondition { await honest.condition() }

    package func awaitFailure() async throws(DirectoryError) { try await honest.awaitFailure() }

    package func republish() async throws(DirectoryError) { try await honest.republish() }
}
