import TransparencyLog

/// What one log after another held of a handle: those that ended, and the one that goes on.
///
/// A log that goes on begins with a copy of what the one before ended with (``VerifiedLookup/inherited(under:)``). The copy is
/// left out here, so that each step is there once, in the epoch in which it was logged first. An epoch of a log that goes on
/// counts for nothing if it is from before the other one's end. So a handover makes nothing newer or older than it is.
struct JoinedHistory {
    /// Whose history.
    let handle: Handle
    /// The entries, in order.
    private(set) var entries: [HistoryEntry]
    /// In which epoch each was logged; nil where that is not shown.
    private var epochs: [EpochRecord?]
    /// Whether entries before these were looked at before.
    private let hasKnownBeginning: Bool
    /// What the last log held.
    private var last: VerifiedHistory

    /// The last epoch of the log that goes on: the moment for which it holds.
    var epoch: EpochRecord { last.epoch.record }

    /// What one log holds.
    init(_ history: VerifiedHistory) {
        (handle, last) = (history.handle, history)
        (entries, epochs) = (history.entries, history.entryEpochs)
        hasKnownBeginning = history.known.size > 0
    }

    /// What several logs held, the oldest first.
    ///
    /// - Returns: nil if one of them does not begin with what the one before it ended with.
    init?(_ history: VerifiedHistory, after former: [VerifiedHistory]) {
        let all = former + [history]
        self.init(all[0])
        for next in all.dropFirst() {
            guard case .registered(let lookup) = last.answer, next.begins(with: lookup) else { return nil }
            let count = Int(lookup.inheritedCount)
            entries += next.entries.dropFirst(count)
            epochs += next.entryEpochs(after: last.end).dropFirst(count)
            last = next
        }
    }

    /// The epoch in which the request was logged by which a takeover was asked for; nil if that is not shown.
    ///
    /// - Parameter place: which entry the takeover is.
    func epoch(asking start: RecoveryStart, before place: Int) -> EpochRecord? {
        self.place(asking: start, before: place).flatMap { epochs[$0] }
    }

    private func place(asking start: RecoveryStart, before place: Int) -> Int? {
        entries.prefix(place).lastIndex { $0.start == start }
    }

    /// Whether the log shows that this takeover waited.
    ///
    /// - Parameter place: which entry it is.
    func showsDelay(of succession: RecoverySuccession, at place: Int) -> Bool {
        guard let asked = epoch(asking: succession.start, before: place), let taken = epochs[place] else {
            return false
        }
        return RecoveryDelay.hasPassed(succession.start.commitment.delay, from: asked, to: taken)
    }

    /// Whether those whom the guardians in force replaced had their time: a request by the ones named last was logged no sooner
    /// after the change than the delay of those before, whatever time the change claims.
    ///
    /// A change that came before everything that is shown is as old as the first state that tells of it, and no older. One that
    /// was looked at before cannot be dated.
    ///
    /// - Parameter place: which entry the takeover is.
    func showsTimeOfFormer(in succession: RecoverySuccession, at place: Int) -> Bool {
        guard let place = self.place(asking: succession.start, before: place),
            case .state(_, let asked) = entries[place],
            asked.recoveryCommitment == succession.start.commitment.hash, let former = asked.formerRecovery
        else { return true }
        let change = entries.prefix(place).firstIndex { $0.state?.formerRecovery == former }
        if change == nil, hasKnownBeginning { return true }
        guard let changed = epochs[change ?? place], let asked = epochs[place] else { return false }
        return RecoveryDelay.hasPassed(former.commitment.delay, from: changed, to: asked)
    }
}

extension VerifiedHistory {
    /// In which epoch each entry was logged; nil where that is not shown.
    fileprivate var entryEpochs: [EpochRecord?] { entries.indices.map { loggedIn[known.size + UInt64($0) + 1] } }

    /// The same in a log that goes on from one that ended then, in seconds since 1970: an epoch from before counts as not shown.
    fileprivate func entryEpochs(after end: UInt64) -> [EpochRecord?] {
        entryEpochs.map { epoch in
            guard let epoch, (try? EpochTimeRule.standard.check(epoch, goingOnAfter: end)) != nil else { return nil }
            return epoch
        }
    }

    /// When the log ended of which this is the history, in seconds since 1970: the quorum's time, or the last epoch's.
    fileprivate var end: UInt64 { max(epoch.checkpoint.quorumTime ?? 0, epoch.record.time / 1000) }

    /// Whether this is the whole history in a log, and goes on from what another one ended with.
    fileprivate func begins(with lookup: VerifiedLookup) -> Bool {
        known.size == 0 && handle == lookup.handle
            && head(count: lookup.inheritedCount) == lookup.inherited(under: label)
    }
}

extension HistoryEntry {
    /// The state that this entry shows, if it does.
    var state: AccountState? { if case .state(_, let state) = self { state } else { nil } }

    /// The request that this entry logs, if it does.
    var start: RecoveryStart? {
        if case .state(_, let state) = self, case .started(let start, _, _) = state.step { start } else { nil }
    }
}
