// SPDX-License-Identifier: Apache-2.0

import TransparencyLog

/// What earlier logs, which have ended, held about a person, as far back as that is shown without a gap.
public struct FormerHistories: Sendable {
    /// What each held, the oldest first.
    public let histories: [VerifiedHistory]
    /// When the log ended before the first of these, in seconds since 1970; nil if there was none.
    public let end: UInt64?

    /// These, after a log that ended then.
    public init(_ histories: [VerifiedHistory] = [], after end: UInt64? = nil) {
        (self.histories, self.end) = (histories, end)
    }
}

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
    /// When each was logged; nil where that is not shown.
    private var moments: [LoggedMoment?]
    /// Whether entries before these were looked at before.
    private let hasKnownBeginning: Bool
    /// What the last log held.
    private var last: VerifiedHistory

    /// The last epoch of the log that goes on: the moment for which it holds.
    var epoch: EpochRecord { last.epoch.record }

    /// What one log holds.
    ///
    /// - Parameter end: when the log ended that it goes on from, in seconds since 1970; nil: it goes on from none, or that is not
    ///   known.
    init(_ history: VerifiedHistory, goingOnAfter end: UInt64? = nil) {
        (handle, last) = (history.handle, history)
        (entries, moments) = (history.entries, history.moments(after: end))
        hasKnownBeginning = history.known.size > 0
    }

    /// What several logs held.
    ///
    /// - Returns: nil if one of them does not begin with what the one before it ended with.
    init?(_ history: VerifiedHistory, after former: FormerHistories) {
        let all = former.histories + [history]
        self.init(all[0], goingOnAfter: former.end)
        for next in all.dropFirst() {
            guard case .registered(let lookup) = last.answer, next.begins(with: lookup) else { return nil }
            let count = Int(lookup.inheritedCount)
            entries += next.entries.dropFirst(count)
            moments += next.moments(after: last.end).dropFirst(count)
            last = next
        }
    }

    /// When the request was logged by which a takeover was asked for; nil if that is not shown.
    ///
    /// - Parameter place: which entry the takeover is.
    func moment(asking start: RecoveryStart, before place: Int) -> LoggedMoment? {
        self.place(asking: start, before: place).flatMap { moments[$0] }
    }

    private func place(asking start: RecoveryStart, before place: Int) -> Int? {
        entries.prefix(place).lastIndex { $0.start?.hash == start.hash }
    }

    /// Whether the log shows that this takeover waited.
    ///
    /// - Parameter place: which entry it is.
    func showsDelay(of succession: RecoverySuccession, at place: Int) -> Bool {
        guard let asked = moment(asking: succession.start, before: place), let taken = moments[place] else {
            return false
        }
        return RecoveryDelay.hasPassed(succession.start.commitment.delay, since: asked.seenAt, to: taken.absentAt)
    }

    /// Whether all guardians who were replaced before a takeover's request had their time: from each change on, those before it had
    /// their delay until the next change, or until the request, regardless of the times that the changes claim. Those
    /// who were replaced last may ask themselves before.
    ///
    /// A change that came before everything that is shown is as old as the first state that tells of it, and no older. One that
    /// was looked at before cannot be dated.
    ///
    /// - Parameter place: which entry the takeover is.
    func showsTimeOfFormer(in succession: RecoverySuccession, at place: Int) -> Bool {
        guard let request = self.place(asking: succession.start, before: place) else { return true }
        let changes = changes(until: request)
        let ends = changes.dropFirst().map(\.place) + [request]
        return zip(changes, ends).allSatisfy { change, end in
            let asksItself = end == request && change.former.commitment == succession.start.commitment
            let wasLookedAt = change.place == request && hasKnownBeginning
            return asksItself || wasLookedAt
                || RecoveryDelay.hasPassed(
                    change.former.commitment.delay, since: moments[change.place]?.seenAt, to: moments[end]?.absentAt)
        }
    }

    /// The states up to one that are the first to tell of other former guardians, and of whom.
    private func changes(until end: Int) -> [(place: Int, former: FormerRecovery)] {
        var (changes, last): ([(place: Int, former: FormerRecovery)], FormerRecovery?) = ([], nil)
        for (place, entry) in entries[...end].enumerated() {
            guard let state = entry.state else { continue }
            if let former = state.formerRecovery, former != last { changes.append((place, former)) }
            last = state.formerRecovery
        }
        return changes
    }
}

extension VerifiedHistory {
    /// When each entry was logged; nil where that is not shown.
    ///
    /// - Parameter end: when the log ended that this one goes on from, in seconds since 1970: an epoch from before counts as not
    ///   shown.
    fileprivate func moments(after end: UInt64?) -> [LoggedMoment?] {
        entries.indices.map { place in
            let moment = loggedIn[known.size + UInt64(place) + 1]
            guard let moment, let end else { return moment }
            return (try? EpochTimeRule.standard.check(moment.epoch, goingOnAfter: end)) == nil ? nil : moment
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
