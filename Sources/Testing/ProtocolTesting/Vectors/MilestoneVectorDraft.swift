// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import TransparencyLog

/// A case of milestones in the making: an honest answer to an owner who last looked on the first day.
struct MilestoneVectorDraft {
    /// The directory and what happened in it.
    var scene: WatchScene
    /// The owner's clock.
    var now = WatchScene.now
    /// What the owner checked last.
    var last: MilestoneMark
    /// The epoch right before the last one.
    var before: PlacedEpoch?
    /// The milestones.
    var answers: [MilestoneAnswer] = []
    /// A last change, of the encoded answer.
    var edit: (inout [UInt8]) -> Void = { _ in }

    init(_ scene: WatchScene, since last: MilestoneMark) throws {
        (self.scene, self.last) = (scene, last)
        try answerHonestly()
    }

    /// Answers as an honest directory would, with any log.
    mutating func answerHonestly() throws {
        let honest = try scene.milestones(after: last.index)
        (before, answers) = (honest.before, honest.answers)
    }

    /// Ends an epoch on a day, counted from 0, with a record that may lie; from then on the owner asks on that day.
    mutating func endEpoch(
        onDay day: UInt64 = 3, _ lie: (EpochRecord) -> EpochRecord = { $0 }
    ) throws {
        now = PaperDirectory.now + day * WatchScene.day
        try scene.directory.endEpoch(at: now * 1000, lieInRecord: lie)
        try answerHonestly()
    }

    func vector(_ name: String, _ why: String, _ verdict: MilestoneVector.Verdict) throws -> MilestoneVector {
        var bytes = MilestonesResponse(before: before, answers: answers).encoded
        edit(&bytes)
        return MilestoneVector(
            kind: MilestoneVector.kind, name: name, why: why, handle: scene.alice.handle.description,
            directory: try VectorTrust(scene.directory), now: now,
            history: LookupVector.hex(try scene.answer(at: now)), last: .init(last),
            answer: LookupVector.hex(bytes), verdict: verdict)
    }
}

/// The honest four days from which each case starts.
struct MilestoneVectorBench {
    let scene: WatchScene
    /// The first epoch, which the owner checked when registering.
    let start: MilestoneMark

    var firstDay: UInt64 { start.day }

    init() throws {
        scene = try WatchScene(recorded: LookupVectorSignatures.table())
        start = MilestoneMark(index: try scene.epochs()[0], day: PaperDirectory.now / WatchScene.day)
    }

    /// A case that must be accepted, after so many milestones.
    func good(
        _ name: String, _ covers: String, count: Int, _ change: (inout MilestoneVectorDraft) throws -> Void
    ) throws -> MilestoneVector {
        var draft = try MilestoneVectorDraft(scene, since: start)
        try change(&draft)
        try draft.answerHonestly()
        guard let record = draft.scene.directory.lastRecord else { throw PaperFault.notThere }
        let mark = MilestoneMark(index: draft.scene.directory.tree.size - 1, day: record.day)
        return try draft.vector(
            name, covers, .init(outcome: "accepted", count: count, mark: .init(mark)))
    }

    /// A case with one fault.
    func bad(
        _ check: String, _ name: String, _ fault: String, _ change: (inout MilestoneVectorDraft) throws -> Void
    ) throws -> MilestoneVector {
        var draft = try MilestoneVectorDraft(scene, since: start)
        try change(&draft)
        return try draft.vector("\(check)-\(name)", fault, .init(outcome: "refused", check: check))
    }
}
