public import TransparencyLog
public import VerifiableMap

/// Walks the milestones back from the present, and demands that at each one the index said of the owner's label what it
/// should have said: nothing can have been shown for a while and taken back.
///
/// Whoever looked the owner up in an epoch in between was shown an index that some milestone extends; owner and contact meet
/// at the milestones.
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
    ///   - last: the milestone that was checked last.
    /// - Returns: how many milestones were checked, and the mark to remember.
    /// - Throws: ``MilestoneFault``.
    public func verify(
        _ bytes: [UInt8], since last: MilestoneMark
    ) throws(MilestoneFault) -> VerifiedMilestones {
        let response: MilestonesResponse
        do { response = try MilestonesResponse(decoding: bytes) } catch { throw .envelope(error) }
        return try walk(response.answers, since: last)
    }

    private func walk(
        _ answers: [MilestoneAnswer], since last: MilestoneMark
    ) throws(MilestoneFault) -> VerifiedMilestones {
        var (wanted, later, first) = (newest, history.epoch.record, MilestoneMark?.none)
        var count = 0
        while let index = wanted, index > last.index {
            guard count < answers.count else {
                // Directories keep this many milestones; older ones can no longer be asked for.
                guard count >= MilestonesResponse.maximumCount else { throw .missing(before: later.day) }
                break
            }
            let record = try check(answers[count], at: index, before: later, isFirst: first == nil)
            first = first ?? MilestoneMark(index: index, day: record.day)
            (later, count) = (record, count + 1)
            wanted = record.number == 1 ? nil : record.milestone
        }
        guard count == answers.count else { throw .surplus(answers.count - count) }
        let size = history.epoch.checkpoint.checkpoint.head.size
        let mark = MilestoneMark(endingIn: history.epoch.record, size: size, after: first ?? last)
        return VerifiedMilestones(count: count, isComplete: wanted.map { $0 <= last.index } ?? true, mark: mark)
    }

    /// One milestone: in its place in the log, on an earlier day, and with the label's history of then.
    private func check(
        _ answer: MilestoneAnswer, at index: UInt64, before later: EpochRecord, isFirst: Bool
    ) throws(MilestoneFault) -> EpochRecord {
        let record = answer.record
        guard answer.index == index else { throw .order(index: answer.index) }
        let isEarlier = isFirst ? record.day <= later.day : record.day < later.day
        guard record.number < later.number, isEarlier else { throw .order(index: index) }
        let inclusion = InclusionProof(index: index, hashes: answer.path)
        let head = history.epoch.checkpoint.checkpoint.head
        do { try inclusion.verify(leaf: .leaf(record.entry), in: head) } catch {
            throw .inclusion(index: index, error)
        }
        try checkLabel(answer)
        return record
    }

    private func checkLabel(_ answer: MilestoneAnswer) throws(MilestoneFault) {
        guard let head = history.head(count: answer.present?.count ?? 0) else {
            throw .anotherHistory(day: answer.record.day)
        }
        let proof: MapProof
        switch answer.present {
        case .some(let present) where present.count > 0: proof = .present(value: head.value, path: present.path)
        case .some: throw .anotherHistory(day: answer.record.day)
        case nil: proof = answer.absence
        }
        do { _ = try proof.verify(LabelIndex(history.label).key, in: answer.record.root) } catch {
            throw .index(day: answer.record.day, error)
        }
        if answer.present == nil, case .present = proof { throw .anotherHistory(day: answer.record.day) }
    }
}

/// Milestones that said what they should.
public struct VerifiedMilestones: Hashable, Sendable {
    /// How many were checked besides the present epoch.
    public let count: Int
    /// Whether none is missing since the last one that was checked; old ones can no longer be asked for.
    public let isComplete: Bool
    /// The newest milestone there is; what to remember.
    public let mark: MilestoneMark
}

/// What is wrong with a milestone, or with the answer about it.
public enum MilestoneFault: Error, Hashable, Sendable {
    /// The answer is malformed.
    case envelope(LookupMessageError)
    /// A milestone is not the one that the record after it names, or not on an earlier day.
    case order(index: UInt64)
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
