// SPDX-License-Identifier: Apache-2.0

package import KeyTransparency
package import SignetAPI
import TransparencyLog

/// A state is written to the store before it is sent, and is removed only when the log shows it or can no longer come to show
/// it. So a crash or a lost answer never leaves the user with a state whose fate is unknown.
extension Client {
    package func submit(
        _ body: AccountStateBody, cards: [DeviceCard], by secrets: DeviceSecrets, with proof: RegistrationProof? = nil
    ) async throws(ClientError) -> LookupVerdict {
        try await submit(try Self.sign(body, secrets), cards: cards, by: secrets, with: proof)
    }

    /// Submits a signed state, and waits until the log shows it.
    ///
    /// - Throws: ``ClientError``.
    package func submit(
        _ state: AccountState, cards: [DeviceCard], by secrets: DeviceSecrets, with proof: RegistrationProof? = nil
    ) async throws(ClientError) -> LookupVerdict {
        let submission: StateSubmission
        do { submission = try StateSubmission(state: state, opening: surroundings.randomBytes(32), cards: cards) } catch
        {
            throw .submission(error)
        }
        let record = try await ownRecord()
        let highest = max(record.highestDeviceNumber, state.devices.last?.number ?? 0)
        let next = OwnRecord(
            pending: submission.encoded, highestDeviceNumber: highest, acts: record.acts,
            watch: record.watch ?? (state.version == 1 ? .beginning : nil),
            pendingSignature: try calls.signatureForLater(of: submission, by: secrets))
        try await setOwnRecord(next.acting(submission.act), replacing: record)
        guard let verdict = try await send(submission, by: secrets, with: proof) else {
            throw .notWhatWasSent
        }
        return verdict
    }

    /// Finishes an interrupted submission: either the log confirms it (the verdict), or it is abandoned (nil).
    package func finishPending(
        _ secrets: DeviceSecrets, with proof: RegistrationProof? = nil
    ) async throws(ClientError) -> LookupVerdict? {
        let record = try await ownRecord()
        guard let bytes = record.pending else { return nil }
        guard let submission = try? StateSubmission(decoding: bytes),
            submission.state.handle == secrets.handle
        else { throw .store(.damaged) }
        do { return try await send(submission, by: secrets, with: proof) } catch {
            // The server's refusal is final: this state will no longer be logged.
            guard case .refused(let code, _) = error, Self.isFinal(code) else { throw error }
            return nil
        }
    }

    /// If the lookup shows the pending state, it confirms the submission.
    func confirmPending(_ found: StoredLookup) async throws(ClientError) -> LookupVerdict? {
        let lookup = found.lookup
        guard lookup.handle == owner?.handle else { return nil }
        let record = try await ownRecord()
        guard let bytes = record.pending, let submission = try? StateSubmission(decoding: bytes),
            submission.state.hash == lookup.state.hash
        else { return nil }
        let pinned = try await pinnedPeer(lookup.handle)
        guard pinned != nil || submission.state.isHonestBeginning(as: lookup.kind) else { throw .notWhatWasSent }
        guard try await pin(lookup, replacing: pinned) else { throw .viewKeepsMoving }
        try await settle(record, as: lookup, submission: bytes)
        let keys = PeerKeys(lookup)
        return verdict(found, pinned == nil ? .firstPinned(keys) : .accepted(keys))
    }

    private func send(
        _ submission: StateSubmission, by secrets: DeviceSecrets, with proof: RegistrationProof?
    ) async throws(ClientError) -> LookupVerdict? {
        let isFirst = try await pinnedPeer(secrets.handle) == nil
        let receipt: StateReceipt
        do { receipt = try await calls.submit(submission, isFirst: isFirst, by: secrets, with: proof) } catch {
            guard case .refused(let code, _) = error, Self.isFinal(code) else { throw error }
            // This may be the second copy of a submission that did arrive.
            if let verdict = try await logged(submission) { return verdict }
            try await giveUpPending()
            throw error
        }
        // Another front end may not have come as far as the one that took it.
        return try await logged(submission, published: receipt.size)
    }

    /// The verdict on the user's own account if the log shows exactly this state; nil if it provably shows another one or none.
    private func logged(
        _ submission: StateSubmission, published size: UInt64? = nil
    ) async throws(ClientError) -> LookupVerdict? {
        let found = try await verifiedAnswer(submission.state.handle, published: size)
        guard case .registered(let lookup) = found.answer else { return nil }
        let stored = StoredLookup(lookup: lookup, known: found.known, response: found.response)
        if let verdict = try await confirmPending(stored) { return verdict }
        // Another task of this device, such as the daily check, has seen it in the log first. It has pinned it by then.
        guard lookup.state.hash == submission.state.hash,
            try await pinnedPeer(lookup.handle)?.version == lookup.state.version
        else { return nil }
        return verdict(stored, .accepted(PeerKeys(lookup)))
    }

    private static func isFinal(_ code: ErrorCode) -> Bool {
        switch code {
        case .unavailable, .unwitnessed, .tooManyRequests, .wrongTime, .notYet, .replayed, .behind: false
        default: true
        }
    }

    private static func sign(
        _ body: AccountStateBody, _ secrets: DeviceSecrets
    ) throws(ClientError) -> AccountState {
        do throws(AccountStateError) {
            return try AccountState(signing: body) { try secrets.signAsIdentity($0) ?? [] }
        } catch { throw .account(error) }
    }

    private func giveUpPending() async throws(ClientError) {
        let record = try await ownRecord()
        try await setOwnRecord(record.settled(), replacing: record)
    }

    /// Nothing is pending any more, and what the log has shown is kept, to be brought again if the directory loses it.
    private func settle(
        _ record: OwnRecord, as lookup: VerifiedLookup, submission: [UInt8]
    ) async throws(ClientError) {
        guard let signature = record.pendingSignature else {
            return try await setOwnRecord(record.settled(), replacing: record)
        }
        let kept = KeptSubmission(
            version: lookup.state.version, index: lookup.inclusion.index, submission: submission,
            signature: signature)
        let isSet = try await stored { () throws(StoreError) in
            try await store.setOwnRecord(record.settled(), keeping: kept, of: origin, replacing: record)
        }
        guard isSet else { throw .viewKeepsMoving }
    }

    func ownRecord() async throws(ClientError) -> OwnRecord {
        try await stored { () throws(StoreError) in try await store.ownRecord() }
    }

    func setOwnRecord(_ record: OwnRecord, replacing expected: OwnRecord) async throws(ClientError) {
        let isSet = try await stored { () throws(StoreError) in
            try await store.setOwnRecord(record, replacing: expected)
        }
        guard isSet else { throw .viewKeepsMoving }
    }
}

extension AccountState {
    /// Whether the log may call the first state that this device makes of an account so: what takes the handle from somebody
    /// else has to be logged as that, for all who read the log.
    fileprivate func isHonestBeginning(as kind: StateKind) -> Bool {
        version == 1 || step != .ordinary || kind == .reset
    }
}

extension StateSubmission {
    /// The step that the submission makes.
    fileprivate var act: OwnAct {
        OwnAct(state, StateCommitment(to: state, opening: opening))
    }
}
