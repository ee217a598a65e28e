// SPDX-License-Identifier: Apache-2.0

public import KeyTransparency
import SignetAPI
import TransparencyLog

extension Client {
    /// Asks the directory for a person's keys, verifies the answer, and compares it with what was pinned.
    ///
    /// The first verified answer about a person whom the user added is pinned. The log's new checkpoint is stored before any
    /// key is returned.
    ///
    /// - Returns: what was proved, which may be that the handle is not registered.
    /// - Throws: ``ClientError``. Evidence of a log's misbehaviour has been stored by then, or the error says why it could not
    ///   be (``LookupRefusal/evidenceNotKept``).
    public func lookup(_ handle: Handle) async throws(ClientError) -> LookupAnswer {
        let found = try await verifiedAnswer(handle)
        switch found.answer {
        case .registered(let lookup):
            return .registered(
                try await compare(StoredLookup(lookup: lookup, known: found.known, response: found.response)))
        case .closed(let closure):
            try await remember(closure)
            return .closed(closure, known: found.known)
        case .absent(let absence): return .absent(absence, known: found.known)
        }
    }

    /// Accepts a change of a person's devices or identity.
    ///
    /// Looks the person up again: the change must still be exactly the one that the user saw.
    ///
    /// - Parameter stateHash: ``LookupVerdict/stateHash`` of the verdict that showed the change.
    /// - Throws: ``ClientError``: ``ClientMisuse/changeHasMoved`` if there is another change by now.
    public func trust(
        _ handle: Handle, accepting stateHash: [UInt8]
    ) async throws(ClientError) -> LookupVerdict {
        let found = try await verifiedLookup(handle)
        let lookup = found.lookup
        let pinned = try await pinnedPeer(handle)
        switch PeerTrustDecision(lookup, comparedWith: pinned, met: try await comparisonKept(with: handle)) {
        case .match: throw .misuse(.nothingToAccept)
        case .noCache: throw .misuse(.nothingPinned)
        case .contradiction(let contradiction): throw .contradicted(contradiction)
        case .mismatch: break
        }
        guard lookup.state.hash == stateHash, try await pin(lookup, replacing: pinned) else {
            throw .misuse(.changeHasMoved)
        }
        if handle == owner?.handle { try await rememberAct(lookup) }
        return try await used(found, .accepted(PeerKeys(lookup)))
    }

    /// A change of the user's own account that the user accepted counts as one made on this device.
    private func rememberAct(_ lookup: VerifiedLookup) async throws(ClientError) {
        let record = try await ownRecord()
        try await setOwnRecord(
            record.acting(OwnAct(lookup.state, lookup.record.commitment)), replacing: record)
    }

    /// A lookup of a person who must be registered, after the view of the log has been stored.
    func verifiedLookup(_ handle: Handle) async throws(ClientError) -> StoredLookup {
        let found = try await verifiedAnswer(handle)
        switch found.answer {
        case .registered(let lookup): return StoredLookup(lookup: lookup, known: found.known, response: found.response)
        case .closed(let closure): throw .accountClosed(closure)
        case .absent(let absence): throw .notRegistered(absence)
        }
    }

    /// A verified answer whose view of the log has been stored.
    ///
    /// - Parameter size: how large a log the directory said to have published; nil: the client knows of none beyond its view.
    package func verifiedAnswer(
        _ handle: Handle, published size: UInt64? = nil
    ) async throws(ClientError) -> StoredAnswer {
        let inheritance = try await inheritance(of: handle)
        let keys = try await deviceKeys(of: handle)
        var wantsKeys = keys.isEmpty
        for _ in 0..<8 {
            let (known, pinned) = (try await logView(), try await pinnedPeer(handle)?.history)
            let request = LookupRequest(
                handle: handle, knownSize: known?.head.size ?? 0,
                knownCount: inheritance?.lookup.inheritedCount ?? pinned?.count ?? 0, wantsKeys: wantsKeys)
            let bytes = try await response(to: request, knowing: known, published: size)
            let history = inheritance.map { verifier.inheritance(of: $0.lookup, in: bytes) } ?? pinned
            let answer: VerifiedAnswer
            do { answer = try await verify(bytes, handle, known, history).completed { keys[$0] } } catch {
                throw inheritance == nil ? error : error.afterHandover
            }
            let isStored = try await stored { () throws(StoreError) in
                try await store.advance(to: answer.epoch.view, from: known)
            }
            guard isStored else { continue }
            if !answer.hasAllKeys {
                // A device was added, or has other keys, since the keys were sent.
                guard !wantsKeys else { throw .deviceKeysWithheld(handle) }
                wantsKeys = true
                continue
            }
            if let inheritance { try await settle(inheritance, answer) }
            return StoredAnswer(answer: answer, known: known, response: bytes)
        }
        throw .viewKeepsMoving
    }

    private func response(
        to request: LookupRequest, knowing known: LogView?, published size: UInt64?
    ) async throws(ClientError) -> [UInt8] {
        do { return try await calls.lookup(request, published: size) } catch {
            // A claim that the handle is not registered has to be proved.
            guard case .refused(.notFound, _) = error else {
                throw error.judged(knowing: known, at: surroundings.now())
            }
            throw .withheld(request.handle)
        }
    }

    private func verify(
        _ bytes: [UInt8], _ handle: Handle, _ known: LogView?, _ history: LabelHead?
    ) async throws(ClientError) -> VerifiedAnswer {
        let now = surroundings.now()
        do {
            return try verifier.verify(bytes, for: handle, knowing: known, history: history, at: now)
        } catch { throw await refusal(of: handle, error, bytes, known, at: now) }
    }

    /// The error for a refused lookup, after any evidence in it has been stored.
    func refusal(
        of handle: Handle, _ error: LookupError, _ bytes: [UInt8], _ known: LogView?, at now: UInt64
    ) async -> ClientError {
        // A failing store must not hide what the directory did.
        var fault: StoreError?
        if case .consistency(let contradiction) = error { fault = await keep(contradiction) }
        return .lookup(
            LookupRefusal(
                handle: handle, error: error, response: bytes, known: known, time: now, evidenceNotKept: fault))
    }

    /// Stores evidence.
    ///
    /// - Returns: why it could not be stored; nil if it was.
    func keep(_ evidence: LogContradiction) async -> StoreError? {
        do throws(StoreError) { try await store.keep(evidence, at: surroundings.now()) } catch { return error }
        return nil
    }

    /// The last decision before keys are used.
    func compare(_ found: StoredLookup) async throws(ClientError) -> LookupVerdict {
        if let confirmed = try await confirmPending(found) { return confirmed }
        let lookup = found.lookup
        let met = try await comparisonKept(with: lookup.handle)
        for _ in 0..<8 {
            let pinned = try await pinnedPeer(lookup.handle)
            switch PeerTrustDecision(lookup, comparedWith: pinned, met: met) {
            case .contradiction(let contradiction): return verdict(found, .contradicted(contradiction))
            // Only a pinned state is the beginning of a history that could explain another identity.
            case .mismatch(let change) where pinned == nil: return verdict(found, .changed(change))
            case .mismatch(let change) where change.identityKeyChanged:
                return try await explained(change, found, pinned)
            case .mismatch(let change): return verdict(found, .changed(change))
            case .match:
                let isNewer = lookup.state.authored.version > (pinned?.version ?? 0)
                if isNewer, try await !pin(lookup, replacing: pinned) { continue }
                return try await used(found, .matched(PeerKeys(lookup)))
            case .noCache:
                guard try await mayPinFirst(lookup) else { return verdict(found, .stranger) }
                guard try await pin(lookup, replacing: nil) else { continue }
                return try await used(found, .firstPinned(PeerKeys(lookup)))
            }
        }
        throw .viewKeepsMoving
    }

    /// What another identity key means, judged by everything that this log and the logs that ended before it hold under the
    /// label.
    private func explained(
        _ change: PeerKeyChange, _ found: StoredLookup, _ pinned: PinnedPeer?
    ) async throws(ClientError) -> LookupVerdict {
        let handle = found.lookup.handle
        let look = try await stored { () throws(StoreError) in try await store.lastLook(at: handle) }
        guard let history = try await history(of: handle, since: OwnWatch.beginning.history),
            case .registered(let lookup) = history.answer,
            case .mismatch(let explained) = PeerTrustDecision(
                lookup, comparedWith: pinned, by: history, after: try await formerHistories(of: handle), lookedAt: look,
                at: surroundings.now())
        else { return verdict(found, .changed(change)) }
        return verdict(StoredLookup(lookup: lookup, known: found.known, response: found.response), .changed(explained))
    }

    /// Records that the history of a pinned person has ended, so that no later answer may go back behind the end.
    private func remember(_ closure: VerifiedClosure) async throws(ClientError) {
        guard let pinned = try await pinnedPeer(closure.handle), pinned.history.count < closure.history.count
        else { return }
        let peer = pinned.extended(to: closure.history)
        // Another process was faster; the next lookup does it.
        _ = try await stored { () throws(StoreError) in try await store.pin(peer, replacing: pinned) }
    }

    /// People whom the user chose, and the user's own account if this device holds its identity key. On a linked device, the
    /// user has to confirm the account (``acceptCompared(_:)``): the server knows the device's card, and can show the device
    /// any account that lists it.
    private func mayPinFirst(_ lookup: VerifiedLookup) async throws(ClientError) -> Bool {
        if let owner, owner.handle == lookup.handle {
            return owner.identityKey == lookup.state.identityKey
                && lookup.state.devices.contains { $0.keys.signing == owner.deviceKey }
        }
        return try await stored { () throws(StoreError) in
            try await store.people().contains { $0.handle == lookup.handle }
        }
    }

    func pinnedPeer(_ handle: Handle) async throws(ClientError) -> PinnedPeer? {
        try await stored { () throws(StoreError) in try await store.pinnedPeer(handle) }
    }

    func pin(_ lookup: VerifiedLookup, replacing pinned: PinnedPeer?) async throws(ClientError) -> Bool {
        let peer = PinnedPeer(lookup, at: surroundings.now())
        return try await stored { () throws(StoreError) in try await store.pin(peer, replacing: pinned) }
    }

    /// A verdict that gives out keys. What was shown is recorded before anyone can use the keys, so that it can be looked for
    /// again (``checkShownKeys(isAccepting:)``).
    private func used(_ found: StoredLookup, _ outcome: TrustOutcome) async throws(ClientError) -> LookupVerdict {
        let (lookup, now, origin) = (found.lookup, surroundings.now(), origin)
        try await keepDeviceKeys(of: lookup)
        guard lookup.handle != owner?.handle else { return verdict(found, outcome) }
        let shown = ShownKeys(lookup, response: found.response, at: now)
        let look = PeerLook(handle: lookup.handle, epochTime: lookup.epoch.record.time / 1000, seenAt: now)
        try await stored { () throws(StoreError) in
            try await store.keep(shown, in: origin)
            // A recovery that was under way during a look may have begun before it.
            if lookup.state.pendingRecovery == nil { try await store.keep(look) }
        }
        return verdict(found, outcome)
    }

    private func deviceKeys(of handle: Handle) async throws(ClientError) -> [[UInt8]: [UInt8]] {
        try await stored { () throws(StoreError) in try await store.deviceKeys(of: handle) }
    }

    /// Stores the X-Wing keys of a person whose keys are used, so that the next lookup need not transfer them.
    private func keepDeviceKeys(of lookup: VerifiedLookup) async throws(ClientError) {
        let keys = lookup.state.keysByHash
        guard try await deviceKeys(of: lookup.handle) != keys else { return }
        try await stored { () throws(StoreError) in try await store.keep(deviceKeys: keys, of: lookup.handle) }
    }

    func verdict(_ found: StoredLookup, _ outcome: TrustOutcome) -> LookupVerdict {
        LookupVerdict(
            found, outcome: outcome, isOwn: found.lookup.handle == owner?.handle,
            warningAge: profile.trust.freshness.warningAge)
    }
}

/// A verified answer after its view of the log was stored.
package struct StoredAnswer {
    package let answer: VerifiedAnswer
    /// The view before it.
    package let known: LogView?
    /// The answer as received.
    let response: [UInt8]
}

/// A verified lookup of a registered person, after its view of the log was stored.
struct StoredLookup {
    let lookup: VerifiedLookup
    /// The view before it.
    let known: LogView?
    /// The answer as received.
    let response: [UInt8]
}
