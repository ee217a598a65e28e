package import KeyDirectory
package import KeyTransparency
package import SignetAPI
package import SignetServer
package import TransparencyLog
import VRF

/// A real directory in front of which one lie stands: it holds the log's, the cosigner's and the VRF key,
/// so it can sign whatever it wants. A test product, part of no server.
package struct LyingDirectory: DirectoryAnswering {
    let honest: HonestDirectory
    let directory: Directory
    let keys: DirectoryKeys
    let attack: Attack
    let clock: @Sendable () -> UInt64

    /// Puts an attack in front of an open directory.
    package init(
        _ directory: Directory, keys: DirectoryKeys, attack: Attack, clock: @escaping @Sendable () -> UInt64
    ) {
        honest = HonestDirectory(directory)
        self.directory = directory
        self.keys = keys
        self.attack = attack
        self.clock = clock
    }

    /// Puts an attack in front of a data directory that was set up and opened.
    ///
    /// - Throws: whatever keeps the keys from being read.
    package init(_ stored: StoredDirectory, keysIn folder: String, attack: Attack) throws {
        guard let log = stored.profile.trust.policy.logs.first else { throw StoredDirectoryError.noLog }
        self.init(
            stored.directory, keys: try DirectoryKeys.read(from: folder, origin: log.name), attack: attack,
            clock: ServerClock.system.time)
    }

    package func lookup(_ request: LookupRequest) async throws(DirectoryError) -> [UInt8] {
        let answer = try await directory.lookup(request)
        do {
            return try await lie(about: request, answer)
        } catch let error as DirectoryError {
            throw error
        } catch { throw .refused(.unavailable) }
    }

    // MARK: Everything else is answered honestly

    package var origin: [UInt8] { honest.origin }

    package func eCallKeys(_ request: ECallRequest) async throws(DirectoryError) -> [UInt8] {
        try await honest.eCallKeys(request)
    }

    package func challenge(_ request: PossessionRequest) async throws(DirectoryError) -> PossessionChallenge {
        try await honest.challenge(request)
    }

    package func authenticate(
        _ signature: RequestSignature, _ content: RequestSignature.Content
    ) async throws(DirectoryError) -> Caller {
        try await honest.authenticate(signature, content)
    }

    package func register(
        _ submission: StateSubmission, _ signature: RequestSignature, _ content: RequestSignature.Content
    ) async throws(DirectoryError) -> StateReceipt {
        try await honest.register(submission, signature, content)
    }

    package func update(
        _ submission: StateSubmission, by caller: Caller
    ) async throws(DirectoryError) -> StateReceipt {
        try await honest.update(submission, by: caller)
    }

    package func addFriend(_ handle: Handle, by caller: Caller) async throws(DirectoryError) -> FriendAnswer {
        try await honest.addFriend(handle, by: caller)
    }

    package func acceptFriend(_ handle: Handle, by caller: Caller) async throws(DirectoryError) -> FriendAnswer {
        try await honest.acceptFriend(handle, by: caller)
    }

    package func friends(of caller: Caller) async throws(DirectoryError) -> FriendList {
        try await honest.friends(of: caller)
    }

    package func checkpoint() async throws(DirectoryError) -> [UInt8] { try await honest.checkpoint() }

    package func tile(_ tile: Tile) async throws(DirectoryError) -> [UInt8]? { try await honest.tile(tile) }

    package func condition() async -> LogCondition { await honest.condition() }

    package func awaitFailure() async throws(DirectoryError) { try await honest.awaitFailure() }

    package func republish() async throws(DirectoryError) { try await honest.republish() }

    // MARK: The lie

    private func lie(about request: LookupRequest, _ answer: LookupResponse) async throws -> [UInt8] {
        var forgery = Forgery(answer)
        let head = directory.log.published.head
        switch attack {
        case .swappedKey:
            let mallory = try Impostor()
            forgery.step = .state(
                .set, opening: mallory.opening, encoded: try mallory.state(as: request.handle).encoded)
        case .anotherUsersLabel:
            let mallory = try Handle(typed: Array("mallory@example.org".utf8))
            let impostor = try Impostor()
            return try await impostor.answer(
                to: request, with: impostor.state(as: mallory), kind: .set, in: directory, vrf: keys.vrf
            ).encoded
        case .editedRoot:
            forgery.note = try edited(answer.note, head: TreeHead(size: head.size, root: .emptyTree))
        case .editedSize:
            forgery.note = try edited(answer.note, head: TreeHead(size: head.size + 1, root: head.root))
        case .otherLogKey:
            let other = try NoteSigner(
                name: keys.log.verifierKey.name, algorithm: .ed25519, seed: Array(repeating: 0x66, count: 32))
            forgery.note = try sign(head, by: other)
        case .rollback:
            let size = answer.epoch.start
            forgery.note = try sign(TreeHead(size: size, root: directory.log.root(size: size)))
        case .splitView:
            forgery = try SecondLog(of: directory.log, after: request.knownSize, answer.epoch)
                .answer(answer, knowing: request.knownSize) { try sign($0) }
        case .staleCheckpoint:
            forgery.note = try sign(head, at: clock() - 2 * 86_400)
        case .omittedDevice:
            guard case .state(let kind, let opening, let encoded) = forgery.step else { break }
            forgery.step = .state(kind, opening: opening, encoded: try withoutLastDevice(encoded))
        case .oldState:
            guard let index = forgery.label?.inclusion.index else { break }
            forgery = try await Forgery(directory.lookup(request, stateWithin: index))
        case .replacedAccount:
            guard case .state(_, _, let encoded) = forgery.step else { break }
            let impostor = try Impostor()
            return try await impostor.answer(
                to: request, with: impostor.state(after: AccountState(decoding: encoded)), kind: .reset,
                in: directory, vrf: keys.vrf
            ).encoded
        case .garbage: return (0..<4096).map { _ in UInt8.random(in: 0...255) }
        case .truncated: return Array(answer.encoded.dropLast(17))
        case .surplus: return answer.encoded + Array("surplus\n".utf8)
        case .oversized: return answer.encoded + Array(repeating: 0, count: 4 * LookupResponse.maximumByteCount)
        case .errorPage: return Array("<!doctype html><title>502 Bad Gateway</title>".utf8)
        }
        return forgery.response.encoded
    }

    /// An account state with its last device cut out; only its owner could sign that.
    private func withoutLastDevice(_ encoded: [UInt8]) throws -> [UInt8] {
        let devices = try AccountState(decoding: encoded).devices.count
        let (signature, device) = (64, 2 + 8 + 1281)
        var fewer = Array(encoded.dropLast(signature + device)) + encoded.suffix(signature)
        fewer[encoded.count - signature - devices * device - 1] -= 1
        return fewer
    }

    /// A checkpoint under any head, signed with all of the server's keys.
    private func sign(_ head: TreeHead, at time: UInt64? = nil, by signer: NoteSigner? = nil) throws -> [UInt8] {
        let signer = signer ?? keys.log
        let text = try Checkpoint(origin: signer.verifierKey.name, head: head).text
        let time = time ?? clock()
        let cosignatures = try keys.cosigners.map { try $0.cosign(text, time: time) }
        return try SignedNote(text: text, signatures: [signer.sign(text)] + cosignatures).encoded
    }

    /// Another head over the signatures of the honest note.
    private func edited(_ note: [UInt8], head: TreeHead) throws -> [UInt8] {
        let honest = try SignedNote(decoding: note)
        let text = try Checkpoint(origin: keys.log.verifierKey.name, head: head).text
        return try SignedNote(text: text, signatures: honest.signatures).encoded
    }
}

/// An answer in the making, with every part replaceable.
struct Forgery {
    var vrfProof: VRFProof
    var epoch: EpochRecord
    var epochPath: [TreeHash]
    var answer: LookupResponse.Answer
    var consistency: ConsistencyProof
    var note: [UInt8]

    init(_ answer: LookupResponse) {
        vrfProof = answer.vrfProof
        epoch = answer.epoch
        epochPath = answer.epochPath
        self.answer = answer.answer
        consistency = answer.consistency
        note = answer.note
    }

    /// What is said of a label that is in the index.
    var label: LabelAnswer? {
        if case .present(let label) = answer { label } else { nil }
    }

    /// The label's last step; a step for a label that is not in the index is ignored.
    var step: LabelAnswer.Step? {
        get { label?.step }
        set {
            guard let label, let newValue else { return }
            answer = .present(
                LabelAnswer(
                    indexPath: label.indexPath, head: label.head, lastPath: label.lastPath,
                    historyConsistency: label.historyConsistency, inclusion: label.inclusion, step: newValue))
        }
    }

    /// Where the state record is said to stand in the log.
    var inclusion: InclusionProof? {
        get { label?.inclusion }
        set {
            guard let label, let newValue else { return }
            answer = .present(
                LabelAnswer(
                    indexPath: label.indexPath, head: label.head, lastPath: label.lastPath,
                    historyConsistency: label.historyConsistency, inclusion: newValue, step: label.step))
        }
    }

    var response: LookupResponse {
        LookupResponse(
            vrfProof: vrfProof, epoch: epoch, epochPath: epochPath, answer: answer, consistency: consistency,
            note: note)
    }
}
