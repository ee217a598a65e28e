// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// What another identity key than the pinned one means.
public enum IdentityChange: Hashable, Sendable {
    /// It is the same.
    case none
    /// Amber: the person recovered their identity with their guardians, at this time in seconds since 1970, and the log
    /// shows that the delay for objections passed. Compare again when you meet.
    case recovered(at: UInt64)
    /// Red: guardians gave the identity to another device, and the log does not show that the delay passed, or that of the
    /// guardians whom they had replaced before, or the request claims to be older than the last look at which it was not there, or
    /// less than the delay has passed on this device since then.
    /// The person had no chance to object.
    case rushed
    /// Red: no logged and verified recovery leads from the pinned key to this one.
    case unexplained

    /// Judges the identity key of a state: the checks in their order, one line each.
    ///
    /// - Parameters:
    ///   - pinned: what was accepted.
    ///   - history: everything of the handle, from before the pinned state on; nil explains nothing.
    ///   - look: the last time that the person was seen without a recovery under way; nil if that is not known.
    ///   - now: this device's clock, in seconds since 1970; nil compares nothing with it.
    init(
        from pinned: PinnedPeer, to state: AccountState, by history: JoinedHistory?, lookedAt look: PeerLook?,
        at now: UInt64?
    ) {
        guard state.identityKey != pinned.identityKey else {
            self = .none
            return
        }
        self = .unexplained
        guard let history, history.handle == pinned.handle else { return }
        guard let steps = Self.steps(from: pinned.stateHash, to: state.hash, in: history) else { return }
        guard zip(steps, steps.dropFirst()).allSatisfy({ $0.state.isFollowed(by: $1.state) }) else { return }
        let takeovers = steps.dropFirst().compactMap(\.takeover)
        guard let last = takeovers.last?.succession.time,
            takeovers.allSatisfy({ $0.succession.time <= history.epoch.time / 1000 })
        else { return }
        self = .rushed
        guard takeovers.allSatisfy({ history.showsDelay(of: $0.succession, at: $0.place) }) else { return }
        guard takeovers.allSatisfy({ history.showsTimeOfFormer(in: $0.succession, at: $0.place) }) else { return }
        guard takeovers.allSatisfy({ $0.isNew(in: history, to: pinned, look) }) else { return }
        guard takeovers.allSatisfy({ $0.hadTime(since: look, of: pinned, at: now) }) else { return }
        self = .recovered(at: last)
    }

    /// A state and which of the entries it is.
    private struct Step {
        let place: Int
        let state: AccountState

        /// How this step handed the account to another identity key, if it did.
        var takeover: Takeover? {
            if case .recovered(let succession) = state.step {
                Takeover(place: place, succession: succession)
            } else {
                nil
            }
        }
    }

    private struct Takeover {
        let place: Int
        let succession: RecoverySuccession

        /// Whether what this contact has seen of the person leaves room for the request.
        func isNew(in history: JoinedHistory, to pinned: PinnedPeer, _ look: PeerLook?) -> Bool {
            guard let look, look.handle == pinned.handle else { return true }
            let asked = history.moment(asking: succession.start, before: place)
            return RecoveryDelay.isNew(succession.start, absentAt: asked?.absentAt, sinceLookAt: look.epochTime)
        }

        /// Whether this device's clock leaves room for the delay.
        func hadTime(since look: PeerLook?, of pinned: PinnedPeer, at now: UInt64?) -> Bool {
            guard let look, look.handle == pinned.handle, let seenAt = look.seenAt, let now else { return true }
            return RecoveryDelay.couldHavePassed(succession.start.commitment.delay, sinceLookAt: seenAt, at: now)
        }
    }

    /// The states that are shown, from one to the other; nil when one of the two is not among them, or one after the first is a
    /// reset. How the first came does not matter: it was accepted, and is known by its hash.
    private static func steps(
        from first: [UInt8], to last: [UInt8], in history: JoinedHistory
    ) -> [Step]? {
        var steps: [Step] = []
        for (place, entry) in history.entries.enumerated() {
            switch entry {
            // A step that is closed or not shown leaves a gap: the state after it names one that is not here.
            case .device, .withheld, .closed: continue
            case .state(let record, let state):
                guard !steps.isEmpty || state.hash == first else { continue }
                guard steps.isEmpty || record.kind == .set else { return nil }
                steps.append(Step(place: place, state: state))
            }
        }
        return steps.last?.state.hash == last ? steps : nil
    }
}
