import Crypto
public import DeviceIdentity
public import KeyTransparency
import SecretSharing
public import SignetAPI
public import SignetClient
public import SocialRecovery
import TransparencyLog

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
    public func duties() throws(RecoveryClientError) -> [GuardianDuty] { try files.keptDuties() }

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

    /// So many requests for one owner are kept that this guardian has only looked at.
    private static var looksPerOwner: Int { 16 }

    /// Requests for one owner stand side by side: a look at another one undoes nothing that was decided about this one. Of those
    /// that were only looked at the oldest goes.
    func keep(_ guardianCase: GuardianCase) throws(RecoveryClientError) {
        let (hash, now) = (guardianCase.request.hash, post.now())
        let rest = try cases().filter { $0.request.hash != hash && now < $0.request.expires }
        let looks = rest.filter { $0.owner == guardianCase.owner && $0.isUndecided }.map(\.request.hash)
        let gone = Set(looks.dropLast(Self.looksPerOwner - 1))
        let kept = rest.filter { !gone.contains($0.request.hash) } + [guardianCase]
        try files.write(list: kept.map(\.encoded), to: files.cases)
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
            case .objection(_, let objection):
                if objection.owner == owner { try take(objection, shownBy: person.lookup.state) }
            case .proof: continue
            }
        }
    }

    /// Takes an objection that came as a file, or in any other way. It is kept before the directory is asked who signed it: one
    /// that does not answer keeps it from nothing, for no part leaves before it was looked at again.
    ///
    /// - Returns: what became of the requests that it is about.
    /// - Throws: ``RecoveryClientError``; ``GuardianCaseError/invalidObjection``: it is not kept.
    @discardableResult
    public func take(_ objection: GuardianObjection) async throws(RecoveryClientError) -> ObjectionOutcome {
        _ = try duty(for: objection.owner)
        try keep(objection)
        let state = try await post.lookup(objection.owner).lookup.state
        guard objection.isSigned(by: state) else {
            try files.write(list: objections().filter { $0 != objection }.map(\.encoded), to: files.objections)
            throw .guardianCase(.invalidObjection)
        }
        try take(objection, shownBy: state)
        let about = try cases().filter { objection.covers($0.request, of: $0.owner, at: post.now()) }
        if about.contains(where: { $0.stage == .released }) { return .tooLate }
        return about.contains { $0.stage == .stopped } ? .stopped : .kept
    }

    /// Kept for requests that are yet to be seen, and taken to heart for one that was.
    private func take(
        _ objection: GuardianObjection, shownBy state: AccountState
    ) throws(RecoveryClientError) {
        guard objection.isSigned(by: state) else { return }
        guard try duties().contains(where: { $0.owner == objection.owner }) else { return }
        try keep(objection)
        for var found in try cases() { try heedObjections(&found, state) }
    }

    private func keep(_ objection: GuardianObjection) throws(RecoveryClientError) {
        let known = try objections().filter { $0 != objection }
        let own = known.filter { $0.owner == objection.owner }.suffix(Self.objectionsPerOwner - 1)
        let all = known.filter { $0.owner != objection.owner } + own + [objection]
        try files.write(list: all.map(\.encoded), to: files.objections)
    }

    /// Stops what is kept of a request if an objection is about it that a device in this state signed.
    private func heedObjections(_ found: inout GuardianCase, _ state: AccountState) throws(RecoveryClientError) {
        let before = found.stage
        for objection in try objections() { _ = try? found.objected(objection, state: state, at: post.now()) }
        if found.stage != before { try keep(found) }
    }

    /// So many objections of one owner are kept.
    private static var objectionsPerOwner: Int { 16 }

    private func objections() throws(RecoveryClientError) -> [GuardianObjection] {
        try files.list(in: files.objections) { try GuardianObjection(decoding: $0) }
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
            let named = try await named(by: owner.lookup.state) ?? Set(duty.epochs)
            guard (try? duty.keep(packet, sealed: sealed, beside: named)) != nil else { return }
            try keep(duty)
        } else {
            try keep(GuardianDuty(keeping: packet, sealed: sealed))
        }
        try await prove(packet, challenge, to: owner)
    }

    /// The epochs of the sets that the owner's log names; nil when that is not known, or a recovery is under way.
    private func named(by state: AccountState) async throws(RecoveryClientError) -> Set<UInt32>? {
        // A recovery that is under way may be by the set from before, although its time is over by now.
        guard state.olderCommitment == nil, state.pendingRecovery == nil else { return nil }
        var epochs: Set<UInt32> = []
        if let former = state.formerRecovery, post.now() < former.end { epochs.insert(former.commitment.epoch) }
        if let hash = state.recoveryCommitment {
            guard let promise = try await post.promise(of: state.handle, hash) else { return nil }
            epochs.insert(promise.commitment.epoch)
        }
        return epochs
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
            owner.lookup.state.pendingRecovery == nil,
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

/// What a guardian should know besides who asks.
public enum GuardianNotice: Sendable {
    /// Something failed for one person that a retry does not mend. Nobody else was kept waiting.
    case failed(Handle, RecoveryClientError)
    /// A person has other guardians since then, and the part kept for them helps until then; seconds since 1970. If they did
    /// not say so, somebody may have their device.
    case replaced(Handle, since: UInt64, until: UInt64)
}

// MARK: Requests

/// What became of the requests that an objection is about.
public enum ObjectionOutcome: Hashable, Sendable {
    /// This guardian does not help with any of them.
    case stopped
    /// This device knows of none; it is kept for those to come.
    case kept
    /// This guardian's part of one has left already.
    case tooLate
}

/// A request as the guardian's screen shows it.
public struct GuardianRequest: Sendable {
    /// How far it is.
    public let guardianCase: GuardianCase
    /// How the two met, as the owner entered it.
    public let meeting: MeetingEvidence
    /// Whether the code can be read by now.
    public var isRevealed: Bool { reveal != nil }
    /// When the owner's newest device was added, as the state in the log says; seconds since 1970.
    public let newestDevice: UInt64
    /// What the device revealed for the spoken code; nil before it did.
    let reveal: SpokenReveal?

    /// Whether the owner added a device in the thirty days before somebody asked: one that may still be theirs.
    public var followsActivity: Bool {
        let started = guardianCase.request.created
        return newestDevice > started || started - newestDevice <= 30 * 86_400
    }
}

extension GuardianSide {
    /// Deals with letters, looks for requests of everybody for whom something is kept, and sends what is due. What one of
    /// them does, or their account, stops nobody else's.
    ///
    /// - Parameter report: is told of what the guardian should know besides.
    /// - Throws: ``RecoveryClientError``; a failure of the network or the disk after everybody else was served.
    public func advance(
        reporting report: (GuardianNotice) -> Void = { _ in }
    ) async throws(RecoveryClientError) -> [GuardianRequest] {
        let (letters, done) = try await post.letters()
        try await take(letters)
        let owner = OwnerSide(post, files)
        for (sender, letter) in letters { try owner.take(letter, from: sender) }
        try await post.drop(done)
        var requests: [GuardianRequest] = []
        var failure: RecoveryClientError?
        for duty in try duties() {
            do {
                if let request = try await request(about: duty, reporting: report) { requests.append(request) }
            } catch {
                if error.isWorthARetry { failure = failure ?? error } else { report(.failed(duty.owner, error)) }
            }
        }
        if let failure { throw failure }
        return requests
    }

    /// The request for one owner that the log shows, or that a person named; nil when there is none.
    ///
    /// - Parameter wanted: which; nil for the request of the log, or the one that this guardian dealt with.
    func request(
        about duty: GuardianDuty, _ wanted: RecoveryQuery.Wanted? = nil,
        reporting report: (GuardianNotice) -> Void = { _ in }
    ) async throws(RecoveryClientError) -> GuardianRequest? {
        let lookup = try await post.lookup(duty.owner).lookup
        let state = lookup.state
        try await noteChange(of: duty, state, report)
        guard let asked = try await asked(duty, wanted, state),
            let request = try? RecoveryRequest(decoding: asked.request),
            let packet = try? packet(of: duty, epoch: request.scope.epoch, state),
            var found = try openCase(request, asked.commitment, packet, state)
        else { return nil }
        if let start = asked.start, (try? found.logged(start, state: state, at: post.now())) != nil { try keep(found) }
        if found.stage == .asked || found.stage == .numbered {
            var generator = SystemRandomNumberGenerator()
            let number: GuardianNumber
            do throws(GuardianCaseError) {
                number = try found.offerNumber(using: &generator) { try post.secrets.sign($0) }
            } catch { throw .guardianCase(error) }
            try keep(found)
            try await send(.number(number), to: found, packet)
        }
        if found.stage == .confirmed && found.start == nil { try await endorse(&found, packet, state) }
        if found.stage == .released || found.stage == .confirmed && found.start != nil {
            try await release(&found, packet, lookup)
        }
        return GuardianRequest(
            guardianCase: found, meeting: packet.meeting, newestDevice: state.devices.map(\.addedAt).max() ?? 0,
            reveal: asked.spoken(at: packet.place))
    }

    /// Whoever took the owner's device tells the guardians nothing: so this device sees for itself that others are in force. A
    /// part from before goes when nobody may ask for it any more, and nobody does.
    private func noteChange(
        of duty: GuardianDuty, _ state: AccountState, _ report: (GuardianNotice) -> Void
    ) async throws(RecoveryClientError) {
        if let former = state.formerRecovery, post.now() < former.end {
            guard duty.epochs.first == former.commitment.epoch else { return }
            return report(.replaced(duty.owner, since: former.since, until: former.end))
        }
        guard duty.epochs.count > 1, let inForce = try await named(by: state)?.max() else { return }
        var duty = duty
        if (try? duty.retire(before: inForce)) != nil { try keep(duty) }
    }

    /// The request that was named; else the one that the log shows; else the one that this guardian dealt with.
    private func asked(
        _ duty: GuardianDuty, _ wanted: RecoveryQuery.Wanted?, _ state: AccountState
    ) async throws(RecoveryClientError) -> RecoveryAsked? {
        var all = [wanted].compactMap(\.self)
        if wanted == nil {
            let cases = try cases().filter { $0.owner == duty.owner && $0.start == nil }
            let known = cases.last { $0.stage == .confirmed } ?? cases.last { $0.isUndecided } ?? cases.last
            all = (state.pendingRecovery == nil ? [] : [.logged]) + (known.map { [.request($0.request.hash)] } ?? [])
        }
        for wanted in all {
            guard let asked = try await find(wanted, duty, state),
                wanted != .logged || asked.start?.hash == state.pendingRecovery
            else { continue }
            return asked
        }
        return nil
    }

    /// Asks the server under the ask key of each set of which a part is kept: only the request's own opens it.
    func find(
        _ wanted: RecoveryQuery.Wanted, _ duty: GuardianDuty, _ state: AccountState
    ) async throws(RecoveryClientError) -> RecoveryAsked? {
        for epoch in duty.epochs {
            guard let packet = try? packet(of: duty, epoch: epoch, state) else { continue }
            let query = RecoveryQuery(
                wanted, for: duty.owner, from: post.secrets.handle, signing: packet.askKey.signature)
            guard let answer = try await post.find(.asked, query.encoded) else { continue }
            return try? RecoveryAsked(decoding: answer)
        }
        return nil
    }

    private func openCase(
        _ request: RecoveryRequest, _ commitment: RecoveryCommitment, _ packet: GuardianPacket, _ state: AccountState
    ) throws(RecoveryClientError) -> GuardianCase? {
        if var known = try cases().first(where: { $0.owner == packet.owner && $0.request.hash == request.hash }) {
            try heedObjections(&known, state)
            return known
        }
        guard
            let opened = try? GuardianCase(
                request, commitment: commitment, packet: packet, state: state, at: post.now())
        else { return nil }
        var found = opened
        for objection in try objections() { _ = try? found.objected(objection, state: state, at: post.now()) }
        try keep(found)
        return found
    }

    /// Sends an answer under the ask key; that it was not kept is said to the person.
    private func send(
        _ answer: GuardianAnswer, to found: GuardianCase, _ packet: GuardianPacket
    ) async throws(RecoveryClientError) {
        let answer = RecoveryAnswer(
            to: found.request.hash, body: answer.encoded, from: post.secrets.handle, signing: packet.askKey.signature)
        switch try await post.verdict(.answer, answer.encoded) {
        case .taken: return
        case .nobody: throw .nobodyAsks(found.owner)
        case .full, .notGuardian: throw .answerRefused(found.owner)
        }
    }

    /// Lets the request into the log.
    private func endorse(
        _ found: inout GuardianCase, _ packet: GuardianPacket, _ state: AccountState
    ) async throws(RecoveryClientError) {
        let endorsement: RecoveryEndorsement
        do throws(GuardianCaseError) {
            endorsement = try found.endorse(packet, state: state, at: post.now())
        } catch { throw .guardianCase(error) }
        try keep(found)
        try await send(.endorsement(endorsement), to: found, packet)
    }

    /// Sends the share when the delay is over; before, nothing happens.
    private func release(
        _ found: inout GuardianCase, _ packet: GuardianPacket, _ lookup: VerifiedLookup
    ) async throws(RecoveryClientError) {
        let release: ShareRelease
        do throws(GuardianCaseError) {
            release = try found.release(
                packet, state: lookup.state, shownAt: lookup.epoch.checkpoint.quorumTime, at: post.now()
            ) { try post.secrets.signAsIdentity($0) ?? [] }
        } catch {
            switch error {
            case .tooEarly, .viewTooOld: return
            default: throw .guardianCase(error)
            }
        }
        try keep(found)
        try await send(.release(release), to: found, packet)
    }

    /// Looks at a request that the person named, and sends this guardian's number for the spoken code.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func look(
        at number: RequestNumber, for owner: Handle
    ) async throws(RecoveryClientError) -> GuardianRequest {
        guard let request = try await request(about: duty(for: owner), .number(number)) else {
            throw .nobodyAsks(owner)
        }
        return request
    }

    /// The guardian typed the code that the person read to them, and confirms.
    ///
    /// - Parameter number: what the person read before; nil for the request that the log shows, or that was looked at.
    /// - Throws: ``RecoveryClientError``; ``GuardianCaseError/wrongCode`` closes the case.
    public func confirm(
        _ owner: Handle, number: RequestNumber? = nil, code: [UInt8], _ grant: consuming PresenceGrant
    ) async throws(RecoveryClientError) -> GuardianRequest {
        let duty = try duty(for: owner)
        guard let request = try await request(about: duty, number.map { .number($0) }) else {
            throw .nobodyAsks(owner)
        }
        guard let reveal = request.reveal else { throw .notRevealed }
        var found = request.guardianCase
        let hash = found.request.hash
        do throws(GuardianCaseError) {
            if found.stage == .numbered { try found.compare(typed: code, revealed: reveal) }
            try found.confirm(grant)
        } catch {
            try keep(found)
            throw .guardianCase(error)
        }
        try keep(found)
        return try await self.request(about: duty, .request(hash)) ?? request
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
    fileprivate func spoken(at place: UInt8) -> SpokenReveal? {
        reveal.flatMap { try? SpokenReveal.list(decoding: $0) }?.first { $0.place == place }
    }
}
