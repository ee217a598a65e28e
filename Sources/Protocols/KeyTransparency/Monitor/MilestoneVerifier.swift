// SPDX-License-Identifier: Apache-2.0

public import TransparencyLog
public import VerifiableMap

/// Walks the milestones back from the present, and demands that at each one the index said of the owner's label what it
/// should have said: nothing can have been shown for a while and taken back.
///
/// A contact who looked the owner up in an epoch in between was shown an index that some milestone extends; owner and
/// contact meet at the milestones.
public struct MilestoneVerifier: Sendable {
    /// The present, verified, with every entry since what the owner knew.
    public let history: VerifiedHistory

    /// A verifier for one history.
    public init(_ history: VerifiedHistory) { self.history = history }

    /// The index of the first milestone to ask for: the one before the log's last entry; nil in the first epoch.
    public var newest: UInt64? {
        let record = history.epoch.record
        return record.number == 1 ? nil : record.milestone
    }

    /// Checks an answer.
    ///
    /// - Parameters:
    ///   - bytes: the body as received, ``MilestonesResponse``.
    ///   - last: the last epoch at which the label was checked.
    /// - Returns: how many milestones were checked, and the mark to remember.
    /// - Throws: ``MilestoneFault``.
    public func verify(
        _ bytes: [UInt8], since last: MilestoneMark
    ) throws(MilestoneFault) -> VerifiedMilestones {
        let response: MilestonesResponse
        do { response = try MilestonesResponse(decoding: bytes) } catch { throw .envelope(error) }
        return try walk(response, since: last)
    }

    /// From the present back to the mark: each milestone is of the day of the epoch before the one that names it, and the
    /// first of that day, so no day lies between the two.
    private func walk(
        _ response: MilestonesResponse, since last: MilestoneMark
    ) throws(MilestoneFault) -> VerifiedMilestones {
        var (later, wanted, count) = (history.epoch.record, newest, 0)
        var before = try check(response.before, rightBefore: later)
        while let index = wanted, index > last.index {
            guard count < response.answers.count else {
                // Directories keep this many milestones; older ones can no longer be asked for.
                guard count >= MilestonesResponse.maximumCount else { throw .missing(before: later.day) }
                return VerifiedMilestones(count: count, unseen: last.day..<max(last.day, later.day), mark: mark)
            }
            let answer = response.answers[count]
            try check(answer, at: index, onDayOf: before)
            later = answer.epoch.record
            before = try check(answer.before, rightBefore: later)
            try checkFirstOfDay(later, after: before)
            try checkLabel(answer)
            (wanted, count) = (later.number == 1 ? nil : later.milestone, count + 1)
        }
        guard count == response.answers.count else { throw .surplus(response.answers.count - count) }
        try checkMeets(last, later, before)
        return VerifiedMilestones(count: count, unseen: nil, mark: mark)
    }

    /// The present: what to remember.
    private var mark: MilestoneMark { MilestoneMark(history.epoch) }

    /// The epoch whose number is one less, which ended where `later` begins.
    private func check(
        _ epoch: PlacedEpoch?, rightBefore later: EpochRecord
    ) throws(MilestoneFault) -> EpochRecord? {
        if epoch == nil, later.number == 1 { return nil }
        guard let epoch, later.start > 0, epoch.index == later.start - 1, epoch.record.number == later.number - 1 else {
            throw .notRightBefore(number: later.number)
        }
        try checkInLog(epoch)
        return epoch.record
    }

    /// The milestone that was named, on the day of the epoch right before the one that names it.
    private func check(
        _ answer: MilestoneAnswer, at index: UInt64, onDayOf before: EpochRecord?
    ) throws(MilestoneFault) {
        guard answer.epoch.index == index else { throw .order(index: answer.epoch.index) }
        try checkInLog(answer.epoch)
        guard let before, answer.epoch.record.day == before.day else {
            throw .skipsDays(from: answer.epoch.record.day, to: before?.day ?? 0)
        }
    }

    private func checkInLog(_ epoch: PlacedEpoch) throws(MilestoneFault) {
        do { try epoch.verify(in: history.epoch.checkpoint.checkpoint.head) } catch {
            throw .inclusion(index: epoch.index, error)
        }
    }

    private func checkFirstOfDay(_ record: EpochRecord, after before: EpochRecord?) throws(MilestoneFault) {
        guard before.map({ $0.day < record.day }) ?? true else { throw .notFirstOfDay(record.day) }
    }

    /// Between the mark and the last epoch that the walk came to lies no milestone: the epoch right before that one is of the
    /// mark's day. So the walk ends at the mark, and not somewhere before it.
    private func checkMeets(
        _ last: MilestoneMark, _ later: EpochRecord, _ before: EpochRecord?
    ) throws(MilestoneFault) {
        if mark == last { return }
        guard let before, before.day == last.day, later.start > last.index else { throw .missesMark(day: last.day) }
    }

    private func checkLabel(_ answer: MilestoneAnswer) throws(MilestoneFault) {
        let record = answer.epoch.record
        guard let head = history.head(count: answer.present?.count ?? 0) else {
            throw .anotherHistory(day: record.day)
        }
        let proof: MapProof
        switch answer.present {
        case .some(let present) where present.count > 0: proof = .present(value: head.value, path: present.path)
        case .some: throw .anotherHistory(day: record.day)
        case nil: proof = answer.absence
        }
        do { _ = try proof.verify(LabelIndex(history.label).key, in: record.root) } catch {
            throw .index(day: record.day, error)
        }
        if answer.present == nil, case .present = proof { throw .anotherHistory(day: record.day) }
    }
}

/// Milestones that said what they should.
public struct VerifiedMilestones: Hashable, Sendable {
    /// How many were checked besides the present epoch.
    public let count: Int
    /// The days since 1970 from the mark on of which nothing can be asked for any more: directories keep
    /// ``MilestonesResponse/maximumCount`` milestones. nil if nothing was left out.
    public let unseen: Range<UInt64>?
    /// The present; what to remember.
    public let mark: MilestoneMark
}

/// What is wrong with a milestone, or with the answer about it.
public enum MilestoneFault: Error, Hashable, Sendable {
    /// The answer is malformed.
    case envelope(LookupMessageError)
    /// A milestone is not the one that the record after it names.
    case order(index: UInt64)
    /// What is shown as the epoch right before the one of this number is none, or another one.
    case notRightBefore(number: UInt64)
    /// A record names a milestone of one day, and the epoch right before the record is of another: days are skipped.
    case skipsDays(from: UInt64, to: UInt64)
    /// What is shown as the milestone of this day is not its first epoch.
    case notFirstOfDay(UInt64)
    /// The milestones lead past the epoch that was checked last, on this day.
    case missesMark(day: UInt64)
    /// More milestones than there are to check.
    case surplus(Int)
    /// A milestone that should still be there is missing: the one before that of this day.
    case missing(before: UInt64)
    /// The record is not in the log.
    case inclusion(index: UInt64, InclusionProofError)
    /// The index of that day is not shown to say what it should of the label.
    case index(day: UInt64, MapProofError)
    /// On that day the label had a history that is not a part of the present one.
    case anotherHistory(day: UInt64)
}
