/// What another identity key than the pinned one means.
public enum IdentityChange: Hashable, Sendable {
    /// It is the same.
    case none
    /// Amber: the person recovered their identity with their guardians, at this time in seconds since 1970. Compare
    /// again when you meet.
    case recovered(at: UInt64)
    /// Red: no logged and verified recovery leads from the pinned key to this one.
    case unexplained

    /// Judges the identity key of a state: the checks in their order, one line each.
    ///
    /// - Parameters:
    ///   - pinned: what was accepted.
    ///   - history: everything under the label, from before the pinned state on; nil explains nothing.
    init(from pinned: PinnedPeer, to state: AccountState, by history: VerifiedHistory?) {
        guard state.identityKey != pinned.identityKey else {
            self = .none
            return
        }
        self = .unexplained
        guard let history, history.handle == pinned.handle else { return }
        guard let steps = Self.steps(from: pinned.stateHash, to: state.hash, in: history.entries) else { return }
        guard zip(steps, steps.dropFirst()).allSatisfy({ $0.isFollowed(by: $1) }) else { return }
        let times = steps.dropFirst().compactMap(\.recoveryTime)
        guard let last = times.last, times.allSatisfy({ $0 <= history.epoch.record.time / 1000 }) else { return }
        self = .recovered(at: last)
    }

    /// The states that are shown, from one to the other; nil when one of the two is not among them, or one is a reset.
    private static func steps(
        from first: [UInt8], to last: [UInt8], in entries: [HistoryEntry]
    ) -> [AccountState]? {
        var steps: [AccountState] = []
        for entry in entries {
            switch entry {
            // A step that is closed or not shown leaves a gap: the state after it names one that is not here.
            case .device, .withheld, .closed: continue
            case .state(let record, let state):
                guard !steps.isEmpty || state.hash == first else { continue }
                guard record.kind == .set else { return nil }
                steps.append(state)
            }
        }
        return steps.last?.hash == last ? steps : nil
    }
}

extension AccountState {
    /// When this step handed the account to another identity key, if it did.
    fileprivate var recoveryTime: UInt64? {
        if case .recovered(let succession) = step { succession.time } else { nil }
    }
}
