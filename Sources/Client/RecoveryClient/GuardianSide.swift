// SPDX-License-Identifier: Apache-2.0

import Crypto
import DeviceIdentity
import KeyTransparency
import SecretSharing
import SignetAPI
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

    /// At most this many requests for one owner that this guardian has only looked at are kept.
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

    /// Takes what lies in the box for either side of this device, each letter by itself, and drops what was dealt with.
    ///
    /// - Parameter report: is told of letters that failed, and of those that wait for the guardian's word.
    /// - Throws: ``RecoveryClientError``; a failure of the network or the disk: what was not dealt with stays in the box.
    func takeLetters(reporting report: (GuardianNotice) -> Void = { _ in }) async throws(RecoveryClientError) {
        let box = try await post.letters()
        let owner = OwnerSide(post, files)
        var (waiting, done): (Set<Handle>, [UInt64]) = ([], box.unreadable)
        for (number, sender, letter) in box.letters {
            do {
                try owner.take(letter, from: sender)
                if try await take(letter, from: sender) { done.append(number) } else { waiting.insert(sender) }
            } catch {
                if error.isWorthARetry { throw error }
                report(.failed(sender, error))
                done.append(number)
            }
        }
        try await post.drop(done.sorted())
        for sender in waiting.sorted(by: { $0.description < $1.description }) { report(.changed(sender)) }
    }

    /// Takes a letter of an owner's. Strangers', and what does not hold, is ignored.
    ///
    /// - Returns: false if it has to wait: the owner changed, and the guardian has not accepted that yet.
    private func take(_ letter: GuardianLetter, from owner: Handle) async throws(RecoveryClientError) -> Bool {
        if case .proof = letter { return true }
        let person = try await post.lookup(owner)
        if case .objection(_, let objection) = letter {
            // A device that the log lists stops a recovery, accepted or not.
            if objection.owner == owner { try take(objection, shownBy: person.lookup.state) }
            return true
        }
        guard person.keys != nil else { return person.isFirstContact }
        switch letter {
        case .packet(let scope, let sealed, let challenge): try await take(sealed, scope, challenge, from: person)
        case .check(let scope, let challenge): try await answer(challenge, scope, to: person)
        case .inForce(let scope, let commitment): try retire(before: scope, commitment, of: person)
        case .objection, .proof: break
        }
        return true
    }

    /// Takes an objection that came as a file, or in any other way. It is kept before the directory is asked who signed it: one
    /// that does not answer keeps it from nothing, for no part leaves before it was looked at again.
    ///
    /// - Returns: the outcome of the requests that it is about.
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
        for var found in try cases() { try applyObjections(&found, state) }
    }

    private func keep(_ objection: GuardianObjection) throws(RecoveryClientError) {
        let known = try objections().filter { $0 != objection }
        let own = known.filter { $0.owner == objection.owner }.suffix(Self.objectionsPerOwner - 1)
        let all = known.filter { $0.owner != objection.owner } + own + [objection]
        try files.write(list: all.map(\.encoded), to: files.objections)
    }

    /// Stops what is kept of a request if an objection is about it that a device in this state signed.
    func applyObjections(_ found: inout GuardianCase, _ state: AccountState) throws(RecoveryClientError) {
        let before = found.stage
        for objection in try objections() { _ = try? found.objected(objection, state: state, at: post.now()) }
        if found.stage != before { try keep(found) }
    }

    /// At most this many objections of one owner are kept.
    private static var objectionsPerOwner: Int { 16 }

    func objections() throws(RecoveryClientError) -> [GuardianObjection] {
        try files.list(in: files.objections) { try GuardianObjection(decoding: $0) }
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
    func named(by state: AccountState) async throws(RecoveryClientError) -> Set<UInt32>? {
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
        } catch let error as GuardianDutyError { throw .duty(error) } catch { throw .damaged("guardian-duties") }
    }
}

/// The outcome of the requests that an objection is about.
public enum ObjectionOutcome: Hashable, Sendable {
    /// This guardian does not help with any of them.
    case stopped
    /// This device knows of none; it is kept for those to come.
    case kept
    /// This guardian's part of one has left already.
    case tooLate
}
