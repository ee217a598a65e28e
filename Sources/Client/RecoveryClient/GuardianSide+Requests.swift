// SPDX-License-Identifier: Apache-2.0

public import DeviceIdentity
public import KeyTransparency
public import SignetAPI
import SignetClient
public import SocialRecovery
import TransparencyLog

/// What a guardian should know besides the requests.
public enum GuardianNotice: Sendable {
    /// Something failed for one person that a retry does not mend. The other people were served.
    case failed(Handle, RecoveryClientError)
    /// A person wrote whom the guardian accepted as they were before: what they sent waits until the change is accepted.
    case changed(Handle)
    /// A person has other guardians since then, and the part kept for them helps until then; seconds since 1970. If
    /// they did not announce it, a thief may have their device.
    case replaced(Handle, since: UInt64, until: UInt64)
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
    /// Whether that is the device with which the account began: the owner has added none since.
    let isNewestTheFirst: Bool
    /// What the device revealed for the spoken code; nil before it did.
    let reveal: SpokenReveal?

    /// Whether the owner added a device in the thirty days before the request: one that may still be theirs.
    public var followsActivity: Bool {
        guard !isNewestTheFirst else { return false }
        let started = guardianCase.request.created
        return newestDevice > started || started - newestDevice <= 30 * 86_400
    }
}

extension GuardianSide {
    /// Handles letters, looks for requests for every person for whom this guardian keeps a part, and sends what is due.
    /// A failure for one person or account does not stop the others.
    ///
    /// - Parameter report: is told of what the guardian should know besides.
    /// - Throws: ``RecoveryClientError``; a failure of the network or the disk, or an answer that fails a check, after
    ///   all other people were served.
    public func advance(
        reporting report: (GuardianNotice) -> Void = { _ in }
    ) async throws(RecoveryClientError) -> [GuardianRequest] {
        _ = try cases()
        try await takeLetters(reporting: report)
        var requests: [GuardianRequest] = []
        var failure: RecoveryClientError?
        for duty in try duties() {
            do {
                if let request = try await request(about: duty, reporting: report) { requests.append(request) }
            } catch {
                let isOfOne = !error.isWorthARetry && !error.convictsTheDirectory
                if isOfOne { report(.failed(duty.owner, error)) } else { failure = failure ?? error }
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
        // Device 1 is in the account's first state; numbers rise with each device that is added, and none comes twice.
        let newest = state.devices.max { ($0.addedAt, $0.number) < ($1.addedAt, $1.number) }
        return GuardianRequest(
            guardianCase: found, meeting: packet.meeting, newestDevice: newest?.addedAt ?? 0,
            isNewestTheFirst: newest?.number == 1,
            reveal: asked.spoken(at: packet.place))
    }

    /// The thief of an owner's device does not tell the guardians, so this device checks for itself whether others are
    /// in force. An earlier part is deleted when no one may ask for it any more and no one does.
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
        let known = try cases().first { $0.owner == packet.owner && $0.request.hash == request.hash }
        let opened =
            try? known
            ?? GuardianCase(request, commitment: commitment, packet: packet, state: state, at: post.now())
        guard var found = opened else { return nil }
        if known == nil { try keep(found) }
        try applyObjections(&found, state)
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
            throw .noSuchNumber(owner)
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
            throw number == nil ? .nobodyAsks(owner) : .noSuchNumber(owner)
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

    /// The guardian does not help, or reports an impostor of the owner.
    ///
    /// - Throws: ``RecoveryClientError``.
    public func decline(_ owner: Handle, reporting: Bool) async throws(RecoveryClientError) {
        guard let request = try await request(about: try duty(for: owner)) else { throw .nobodyAsks(owner) }
        var found = request.guardianCase
        if reporting { found.report() } else { found.decline() }
        try keep(found)
    }

    func duty(for owner: Handle) throws(RecoveryClientError) -> GuardianDuty {
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
