// SPDX-License-Identifier: Apache-2.0

package import KeyDirectory
package import KeyTransparency
package import LogEngine
package import SignetAPI
package import TransparencyLog

/// What the HTTP layer asks of a directory. `signetd` puts the real one here; tests put a lying one.
///
/// The lookups and the log's files are bytes, so that a lie can have any form.
package protocol DirectoryAnswering: Sendable {
    /// The log's origin: part of what clients sign.
    var origin: [UInt8] { get }

    /// The body of a native lookup's answer.
    func lookup(_ request: LookupRequest) async throws(DirectoryError) -> [UInt8]
    /// The body of the answer to a question that anyone may ask, if it is in memory; nil if it has to be waited for.
    ///
    /// The proofs of a lookup are made only when the answer is asked for, after the address has paid; a tile is copied before.
    func ready(_ question: OpenQuestion) -> ReadyAnswer?
    /// The body of the answer to a question for a history.
    func history(_ request: HistoryRequest) async throws(DirectoryError) -> [UInt8]
    /// The body of the answer to a question for milestones.
    func milestones(_ request: MilestonesRequest) async throws(DirectoryError) -> [UInt8]
    /// The JSON body of an eCall lookup's answer.
    func eCallKeys(_ request: ECallRequest) async throws(DirectoryError) -> [UInt8]

    /// Every change of the directory's keys, encoded; nil before the first.
    func succession() async throws(DirectoryError) -> [UInt8]?
    /// A challenge to prove possession of a device's keys.
    func challenge(_ request: PossessionRequest) async throws(DirectoryError) -> PossessionChallenge
    /// Refuses what can be refused of a signed request before its body is there.
    func expect(_ signature: RequestSignature) async throws(DirectoryError)
    /// Whether a key is an active device of a published state.
    func isDevice(_ key: [UInt8]) async throws(DirectoryError) -> Bool
    /// The active device that signed.
    func signer(
        of signature: RequestSignature, _ content: RequestSignature.Content
    ) async throws(DirectoryError) -> Signer
    /// The same as the caller, once per nonce; of a suspended account only if the request protects it.
    func admit(_ signer: Signer, protectsAccount: Bool) throws(DirectoryError) -> Caller
    /// Opens an account, if it may be opened; the request is signed by its first device. Says so if it is another holder's of a released handle.
    func register(
        _ submission: StateSubmission, _ signature: RequestSignature, _ content: RequestSignature.Content,
        admitting admission: RegistrationRight, onNewHolder: @escaping @Sendable () async -> Void
    ) async throws(DirectoryError) -> StateReceipt
    /// The next state of the caller's account.
    func update(_ submission: StateSubmission, by caller: Caller) async throws(DirectoryError) -> StateReceipt
    /// Asks for a friendship, with the body that the caller's device signed.
    func addFriend(
        _ handle: Handle, by caller: Caller, saying body: [UInt8], from network: [UInt8]
    ) async throws(DirectoryError) -> FriendAnswer
    /// Accepts one, with the body that the caller's device signed.
    func acceptFriend(
        _ handle: Handle, by caller: Caller, saying body: [UInt8]
    ) async throws(DirectoryError) -> FriendAnswer
    /// Puts a request away for good.
    func blockFriend(_ handle: Handle, by caller: Caller) async throws(DirectoryError) -> FriendAnswer
    /// A page of the caller's friends, behind a handle.
    func friends(of caller: Caller, after handle: Handle?) async throws(DirectoryError) -> FriendList
    /// What another person signed when they asked the caller or agreed, encoded.
    func signedFriendRequest(of handle: Handle, to caller: Caller) async throws(DirectoryError) -> [UInt8]

    /// Waits until as much is published here as the client knows, where this is one of several front ends.
    func catchUp(to size: UInt64) async throws(DirectoryError)
    /// The newest published checkpoint, a signed note.
    func checkpoint() async throws(DirectoryError) -> [UInt8]
    /// A published tile or entry bundle; nil if the log has not published it.
    func tile(_ tile: Tile) async throws(DirectoryError) -> [UInt8]?
    /// How the log is.
    func condition() async -> LogCondition
    /// Waits; throws ``KeyDirectory/DirectoryError/stopped`` when the log fails for good, and returns when the task
    /// is cancelled or the log is closed.
    func awaitFailure() async throws(DirectoryError)
    /// Signs the checkpoint again with the current time.
    func republish() async throws(DirectoryError)
}

/// What anyone may ask, and a directory often has in memory.
package enum OpenQuestion: Sendable {
    case lookup(LookupRequest), checkpoint, tile(Tile)
}

/// Makes a body without waiting.
package typealias ReadyAnswer = () throws(DirectoryError) -> [UInt8]

extension DirectoryAnswering {
    /// Has nothing in memory.
    package func ready(_ question: OpenQuestion) -> ReadyAnswer? { nil }

    /// Is the only one, and never behind itself.
    package func catchUp(to size: UInt64) async throws(DirectoryError) {}

    /// No change of keys yet.
    package func succession() async throws(DirectoryError) -> [UInt8]? { nil }

    /// Knows no devices.
    package func isDevice(_ key: [UInt8]) async throws(DirectoryError) -> Bool { throw .refused(.unavailable) }

    /// Never fails by itself.
    package func awaitFailure() async throws(DirectoryError) {}
}

/// How the log is, for `/health` and `/metrics`.
package struct LogCondition: Hashable, Sendable {
    /// Whether it takes entries.
    package let isAlive: Bool
    /// Durable entries.
    package let size: UInt64
    /// Entries that the published checkpoint covers.
    package let publishedSize: UInt64
    /// When the published checkpoint was signed, in seconds since 1970.
    package let checkpointTime: UInt64
    /// When the log's last epoch ended, in seconds since 1970; nil if that is not known here.
    package let epochTime: UInt64?
    /// Files of the log and the accounts that are not under their names any more, as paths in the data directory.
    package let displaced: DisplacedFiles

    /// A condition.
    package init(
        isAlive: Bool, size: UInt64, publishedSize: UInt64, checkpointTime: UInt64, epochTime: UInt64? = nil,
        displaced: DisplacedFiles = DisplacedFiles()
    ) {
        self.isAlive = isAlive
        self.size = size
        self.publishedSize = publishedSize
        self.checkpointTime = checkpointTime
        self.epochTime = epochTime
        self.displaced = displaced
    }
}
