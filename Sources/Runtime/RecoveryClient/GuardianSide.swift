import Crypto
public import DeviceIdentity
public import KeyTransparency
import SecretSharing
import SignetAPI
public import SignetClient
public import SocialRecovery

/// The guardian's side: what is kept for others, and who asks to recover.
public struct GuardianSide<Store: ClientStore>: Sendable {
    let post: RecoveryPost<Store>
    let files: RecoveryFiles

    /// The guardian on the device to which packets are sealed: the first of their account.
    public init(_ client: Client<Store>, _ secrets: DeviceSecrets, _ files: RecoveryFiles) {
        self.init(RecoveryPost(client, secrets), files)
    }

    init(_ post: RecoveryPost<Store>, _ files: RecoveryFiles) {
        self.post = post
        self.files = files
    }

    /// What is kept for others.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func duties() throws(RecoveryClientError) -> [GuardianDuty] {
        try files.list(in: files.duties) { try GuardianDuty(decoding: $0) }
    }

    /// Requests that were seen.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func cases() throws(RecoveryClientError) -> [GuardianCase] {
        try files.list(in: files.cases) { bytes in
            do { return [try GuardianCase(decoding: bytes)] } catch RecoveryFormatError.anotherVersion { return [] }
        }.flatMap(\.self)
    }

    func keep(_ duty: GuardianDuty) throws(RecoveryClientError) {
        let rest = try duties().filter { $0.owner != duty.owner }
        try files.write(list: (rest + [duty]).map(\.encoded), to: files.duties)
    }

    /// The newest case of an owner takes the place of any before.
    func keep(_ guardianCase: GuardianCase) throws(RecoveryClientError) {
        let rest = try cases().filter { $0.owner != guardianCase.owner }
        try files.write(list: (rest + [guardianCase]).map(\.encoded), to: files.cases)
    }

    // MARK: Letters of owners

    /// Takes owners' letters. Those of strangers, and those that do not hold, are passed over.
    func take(_ letters: [(Handle, GuardianLetter)]) async throws(RecoveryClientError) {
        for (owner, letter) in letters {
            if case .proof = letter { continue }
            guard let person = try await known(owner) else { continue }
            switch letter {
            case .packet(let scope, let sealed, let challenge):
                try await take(sealed, scope, challenge, from: person)
            case .check(let scope, let challenge): try await answer(challenge, scope, to: person)
            case .inForce(let scope, let commitment): try retire(before: scope, commitment, of: person)
            case .proof: continue
            }
        }
    }

    private func known(_ owner: Handle) async throws(RecoveryClientError) -> LookupVerdict? {
        do { return try await post.person(owner) } catch {
            guard case .notAccepted = error else { throw error }
            return nil
        }
    }

    private func take(
        _ sealed: [UInt8], _ scope: RecoveryScope, _ challenge: [UInt8], from owner: LookupVerdict
    ) async throws(RecoveryClientError) {
        guard scope.label == LabelIndex(owner.lookup.label) else { return }
        let packet = try? post.secrets.withSealingKey { key in
            try GuardianPacket(
                opening: sealed, with: key, scope: scope, as: post.secrets.handle, from: owner.handle,
                identityKey: owner.lookup.state.identityKey)
        }
        guard let packet else { return }
        if var duty = try duties().first(where: { $0.owner == owner.handle }) {
            guard (try? duty.keep(packet, sealed: sealed)) != nil else { return }
            try keep(duty)
        } else {
            try keep(GuardianDuty(keeping: packet, sealed: sealed))
        }
        try await prove(packet, challenge, to: owner)
    }

    private func answer(
        _ challenge: [UInt8], _ scope: RecoveryScope, to owner: LookupVerdict
    ) async throws(RecoveryClientError) {
        guard let duty = try duties().first(where: { $0.owner == owner.handle }),
            let packet = try? packet(of: duty, epoch: scope.epoch, owner.lookup.state)
        else { return }
        try await prove(packet, challenge, to: owner)
    }

    private func prove(
        _ packet: GuardianPacket, _ challenge: [UInt8], to owner: LookupVerdict
    ) async throws(RecoveryClientError) {
        guard let proof = try? packet.proveHolding(of: challenge) else { return }
        try await post.send(.proof(packet.scope, challenge: challenge, proof), to: owner)
    }

    /// Older packets go once the log says that the account committed to this set.
    private func retire(
        before scope: RecoveryScope, _ commitment: RecoveryCommitment, of owner: LookupVerdict
    ) throws(RecoveryClientError) {
        guard owner.lookup.state.recoveryCommitment == commitment.hash, commitment.epoch == scope.epoch,
            var duty = try duties().first(where: { $0.owner == owner.handle }),
            owner.lookup.state.formerRecovery.map({ $0.end <= post.now() }) ?? true,
            (try? duty.retire(before: scope.epoch)) != nil
        else { return }
        try keep(duty)
    }

    func packet(
        of duty: GuardianDuty, epoch: UInt32, _ owner: AccountState
    ) throws(RecoveryClientError) -> GuardianPacket {
        do {
            return try post.secrets.withSealingKey { key in
                try duty.packet(
                    epoch: epoch, with: key, as: post.secrets.handle, identityKey: owner.identityKey)
            }
        } catch let error as GuardianDutyError { throw .duty(error) } catch { throw .damaged }
    }
}

// MARK: Requests

/// A request as the guardian's screen shows it.
public struct GuardianRequest: Sendable {
    /// How far it is.
    public let guardianCase: GuardianCase
    /// How the two met, as the owner entered it.
    public let meeting: MeetingEvidence
    /// Whether the code can be read by now.
    public let isRevealed: Bool
    /// When the owner's newest device was added, as the state in the log says; seconds since 1970.
    public let newestDevice: UInt64

    /// Whether the owner added a device in the thirty days before somebody asked: one that may still be theirs.
    public var followsActivity: Bool {
        let started = guardianCase.start.started
        return newestDevice > started || started - newestDevice <= 30 * 86_400
    }
}

extension GuardianSide {
    /// Deals with letters, looks for requests of everybody for whom something is kept, and sends what is due.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func advance() async throws(RecoveryClientError) -> [GuardianRequest] {
        let (letters, last) = try await post.letters()
        try await take(letters)
        let owner = OwnerSide(post, files)
        for (sender, letter) in letters { try owner.take(letter, from: sender) }
        try await post.drop(upTo: last)
        var requests: [GuardianRequest] = []
        for duty in try duties() {
            if let request = try await request(about: duty) { requests.append(request) }
        }
        return requests
    }

    /// The request under way for one owner; nil when there is none.
    func request(about duty: GuardianDuty) async throws(RecoveryClientError) -> GuardianRequest? {
        let state = try await post.lookup(duty.owner).lookup.state
        guard let pending = state.pendingRecovery,
            let answer = try await post.find(.asked, duty.owner.bytes),
            let asked = try? RecoveryAsked(decoding: answer), asked.start.hash == pending,
            let request = try? RecoveryRequest(decoding: asked.request),
            let packet = try? packet(of: duty, epoch: request.scope.epoch, state)
        else { return nil }
        guard var found = try openCase(request, asked.start, packet, state) else { return nil }
        if found.stage == .asked || found.stage == .numbered {
            var generator = SystemRandomNumberGenerator()
            let number: GuardianNumber
            do throws(GuardianCaseError) {
                number = try found.offerNumber(using: &generator) { try post.secrets.sign($0) }
            } catch { throw .guardianCase(error) }
            try keep(found)
            _ = try await post.verdict(
                .answer, RecoveryAnswer(to: request.hash, body: GuardianAnswer.number(number).encoded).encoded)
        }
        if found.stage == .confirmed || found.stage == .released {
            try await release(&found, packet, state)
        }
        return GuardianRequest(
            guardianCase: found, meeting: packet.meeting, isRevealed: asked.reveal(at: packet.place) != nil,
            newestDevice: state.devices.map(\.addedAt).max() ?? 0)
    }

    private func openCase(
        _ request: RecoveryRequest, _ start: RecoveryStart, _ packet: GuardianPacket, _ state: AccountState
    ) throws(RecoveryClientError) -> GuardianCase? {
        if let known = try cases().first(where: { $0.owner == packet.owner && $0.request.hash == request.hash }) {
            return known
        }
        guard
            let opened = try? GuardianCase(request, start: start, packet: packet, state: state, at: post.now())
        else { return nil }
        try keep(opened)
        return opened
    }

    /// Sends the share when the delay is over; before, nothing happens.
    private func release(
        _ found: inout GuardianCase, _ packet: GuardianPacket, _ state: AccountState
    ) async throws(RecoveryClientError) {
        let release: ShareRelease
        do throws(GuardianCaseError) {
            release = try found.release(packet, state: state, at: post.now()) {
                try post.secrets.signAsIdentity($0) ?? []
            }
        } catch {
            if case .tooEarly = error { return }
            throw .guardianCase(error)
        }
        try keep(found)
        _ = try await post.verdict(
            .answer,
            RecoveryAnswer(to: found.request.hash, body: GuardianAnswer.release(release).encoded).encoded)
    }

    /// The guardian typed the code that the person read to them, and confirms.
    ///
    /// - Throws: ``RecoveryClientError``; ``GuardianCaseError/wrongCode`` closes the case.
    public func confirm(
        _ owner: Handle, code: [UInt8], _ grant: consuming PresenceGrant
    ) async throws(RecoveryClientError) -> GuardianRequest {
        let duty = try duty(for: owner)
        guard let request = try await request(about: duty) else { throw .nobodyAsks(owner) }
        guard let answer = try await post.find(.asked, owner.bytes),
            let reveal = try? RecoveryAsked(decoding: answer).reveal(at: request.guardianCase.place)
        else { throw .notRevealed }
        var found = request.guardianCase
        do throws(GuardianCaseError) {
            if found.stage == .numbered { try found.compare(typed: code, revealed: reveal) }
            try found.confirm(grant)
        } catch {
            try keep(found)
            throw .guardianCase(error)
        }
        try keep(found)
        return try await self.request(about: duty) ?? request
    }

    /// The guardian does not help, or says that somebody pretends to be the owner.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func decline(_ owner: Handle, reporting: Bool) async throws(RecoveryClientError) {
        guard let request = try await request(about: try duty(for: owner)) else { throw .nobodyAsks(owner) }
        var found = request.guardianCase
        if reporting { found.report() } else { found.decline() }
        try keep(found)
    }

    private func duty(for owner: Handle) throws(RecoveryClientError) -> GuardianDuty {
        guard let duty = try duties().first(where: { $0.owner == owner }) else { throw .notTheirGuardian(owner) }
        return duty
    }
}

extension RecoveryAsked {
    /// What the device revealed to the guardian of a place; nil when it did not, or when that cannot be read.
    fileprivate func reveal(at place: UInt8) -> SpokenReveal? {
        (try? SpokenReveal.list(decoding: reveal))?.first { $0.place == place }
    }
}
