// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import ProtocolTesting
import Testing
import TransparencyLog
import VerifiableMap

/// What the index said of the owner at the end of past days' first epochs.
@Suite struct MilestoneTests {
    let scene: WatchScene
    /// The first epoch, which the owner checked when registering.
    private let start: MilestoneMark

    init() throws {
        scene = try WatchScene()
        let place = try #require(
            scene.directory.entries.firstIndex { if case .epoch = try? LogEntry(decoding: $0) { true } else { false } })
        start = MilestoneMark(index: UInt64(place), day: PaperDirectory.now / WatchScene.day)
    }

    private func verify(
        _ scene: WatchScene, since known: Int = 0, from mark: MilestoneMark? = nil, at now: UInt64 = WatchScene.now,
        _ edit: (inout MilestoneDraft) throws -> Void = { _ in }
    ) throws -> VerifiedMilestones {
        let history = try scene.verify(scene.answer(since: known, at: now), since: known, at: now)
        var draft = try scene.milestones(after: (mark ?? start).index)
        try edit(&draft)
        return try MilestoneVerifier(history).verify(draft.response.encoded, since: mark ?? start)
    }

    @Test func everyDaySinceTheLastCheckIsCompared() throws {
        let verified = try verify(scene)
        #expect(verified.count == 3 && verified.unseen == nil)
        #expect(verified.mark == MilestoneMark(index: scene.directory.tree.size - 1, day: start.day + 3))
        // Three entries were known before the second day: what the index says later goes on from there.
        #expect(try verify(scene, since: 3).count == 3)
    }

    @Test func fromTheLastEpochOnThereIsNothingToCompare() throws {
        let mark = try verify(scene).mark
        let again = try verify(scene, from: mark)
        #expect(again.count == 0 && again.mark == mark)
    }

    @Test func theWalkMayStartFromAnyEpochThatWasChecked() throws {
        for (number, place) in try scene.epochs().enumerated() {
            guard case .epoch(let record) = try LogEntry(decoding: scene.directory.entries[Int(place)]) else {
                throw PaperFault.notThere
            }
            let verified = try verify(scene, from: MilestoneMark(index: place, day: record.day))
            #expect(verified.count == [3, 3, 2, 1, 0, 0][number])
        }
    }

    @Test func aLogThatEndsInANewDayIsItsOwnMilestone() throws {
        var scene = scene
        try scene.publish(PaperPerson("erin@example.org", seed: 50), onDay: 4)
        let verified = try verify(scene, at: WatchScene.now + WatchScene.day)
        #expect(verified.count == 3)
        #expect(verified.mark == MilestoneMark(index: scene.directory.tree.size - 1, day: start.day + 4))
    }

    @Test func afterMoreDaysThanDirectoriesKeepTheRestIsNamed() throws {
        var scene = scene
        for day in 4...95 {
            try scene.directory.endEpoch(at: (PaperDirectory.now + UInt64(day) * WatchScene.day) * 1000)
        }
        let now = PaperDirectory.now + 95 * WatchScene.day
        let verified = try verify(scene, at: now)
        // The present day is not among the ninety; what was shown from the first day to the one before the last of them is.
        #expect(verified.count == 90)
        #expect(verified.unseen == start.day..<(start.day + 5))
        // Ninety days are enough for whoever looked on the fifth.
        let fifth = MilestoneMark(index: try scene.epochs()[6], day: start.day + 4)
        #expect(try verify(scene, from: fifth, at: now).unseen == nil)
    }

    // MARK: Attacks

    @Test func aKeyThatWasShownForADayAndTakenBackIsCaught() throws {
        let scene = try WatchScene(flashingOnDay: 2)
        #expect(throws: MilestoneFault.index(day: start.day + 2, .rootMismatch)) { try verify(scene) }
    }

    /// The rest of these: the index lied for days and is honest again, and nobody else vouches for the log. Records are the
    /// server's own, so each test lets only one of them lie.
    private func skipping(to milestone: UInt64) throws -> WatchScene {
        var scene = scene
        try scene.directory.endEpoch(at: WatchScene.now * 1000, lieInRecord: { $0.with(milestone: milestone) })
        return scene
    }

    @Test func aPointerToTheLastCheckSkipsNothing() throws {
        // The owner would ask for nothing, and nothing would be looked at.
        let lying = try skipping(to: start.index)
        #expect(throws: MilestoneFault.missesMark(day: start.day)) { try verify(lying) }
        #expect(throws: MilestoneFault.missesMark(day: start.day)) { try verify(skipping(to: 0)) }
    }

    @Test func aPointerToAnEarlierDaySkipsNothing() throws {
        let second = try scene.epochs()[2]
        #expect(throws: MilestoneFault.skipsDays(from: start.day + 1, to: start.day + 3)) {
            try verify(skipping(to: second))
        }
    }

    @Test func aPointerFromAMilestoneSkipsNothing() throws {
        // The lie is in the record of the fourth day, and the one after it is honest.
        var scene = scene
        let (first, later) = (try scene.epochs()[2], WatchScene.now + WatchScene.day)
        try scene.directory.endEpoch(at: later * 1000, lieInRecord: { $0.with(milestone: first) })
        try scene.directory.endEpoch(at: later * 1000)
        #expect(throws: MilestoneFault.skipsDays(from: start.day + 1, to: start.day + 3)) {
            try verify(scene, at: later)
        }
    }

    @Test func aLaterEpochOfADayIsNoMilestone() throws {
        // What the index said at the day's first epoch would stay unseen.
        let last = try scene.epochs()[5]
        #expect(throws: MilestoneFault.notFirstOfDay(start.day + 3)) { try verify(skipping(to: last)) }
    }

    @Test func milestone_refusesAnEpochThatIsNotRightBeforeIt() throws {
        let epochs = try scene.epochs()
        for place in [epochs[0], epochs[3], epochs[5]] {
            #expect(throws: MilestoneFault.notRightBefore(number: 6)) {
                try verify(scene) { $0.before = try scene.epoch(at: place) }
            }
        }
        #expect(throws: MilestoneFault.notRightBefore(number: 6)) { try verify(scene) { $0.before = nil } }
        #expect(throws: MilestoneFault.notRightBefore(number: 5)) {
            try verify(scene) { $0.answers[0] = $0.answers[0].with(before: .some(nil)) }
        }
    }

    @Test func milestone_refusesAPreviousEpochThatIsNotInTheLog() throws {
        let error = #expect(throws: MilestoneFault.self) {
            try verify(scene) { draft in
                let honest = try #require(draft.before)
                draft.before = PlacedEpoch(
                    index: honest.index, record: honest.record.with(time: honest.record.time - 1), path: honest.path)
            }
        }
        guard case .inclusion = error else { throw PaperFault.notThere }
    }

    @Test func aMilestoneLeftOutIsRefused() throws {
        #expect(throws: MilestoneFault.missing(before: start.day + 2)) { try verify(scene) { $0.answers.removeLast() } }
        #expect(throws: MilestoneFault.missing(before: start.day + 3)) { try verify(scene) { $0.answers = [] } }
    }

    @Test func milestonesInAnotherOrderOrTwiceAreRefused() throws {
        #expect(throws: MilestoneFault.self) { try verify(scene) { $0.answers.reverse() } }
        #expect(throws: MilestoneFault.surplus(1)) { try verify(scene) { $0.answers.append($0.answers[2]) } }
    }

    @Test func aRecordThatIsNotInTheLogIsRefused() throws {
        let error = #expect(throws: MilestoneFault.self) {
            try verify(scene) { draft in
                let honest = draft.answers[0]
                draft.answers[0] = honest.with(record: honest.epoch.record.with(labelCount: 99))
            }
        }
        guard case .inclusion = error else { throw PaperFault.notThere }
    }

    @Test func anotherCountThanTheIndexHasIsRefused() throws {
        for count in [0, 1, 3, 4, 6, .max] as [UInt64] {
            let error = #expect(throws: MilestoneFault.self) {
                try verify(scene) { draft in
                    guard let present = draft.answers[0].present else { throw PaperFault.notThere }
                    draft.answers[0] = draft.answers[0].with(present: .init(count: count, path: present.path))
                }
            }
            switch error {
            case .index, .anotherHistory: break
            default: Issue.record("count \(count): \(String(describing: error))")
            }
        }
    }

    @Test func aDeniedLabelIsRefused() throws {
        #expect(throws: MilestoneFault.anotherHistory(day: start.day + 3)) {
            try verify(scene, since: 3) { $0.answers[0] = $0.answers[0].with(present: .some(nil)) }
        }
        let error = #expect(throws: MilestoneFault.self) {
            try verify(scene) { $0.answers[0] = $0.answers[0].with(present: .some(nil)) }
        }
        guard case .index = error else { throw PaperFault.notThere }
    }

    // MARK: The form

    @Test func messagesAreWrittenAsTheyAreRead() throws {
        let response = try scene.milestones(after: 0).response
        #expect(response.answers.count == 4)
        #expect(try MilestonesResponse(decoding: response.encoded) == response)
        let request = MilestonesRequest(handle: scene.alice.handle, size: 9, after: 4)
        #expect(try MilestonesRequest(decoding: request.encoded) == request)
        #expect(throws: LookupMessageError.self) { try MilestonesResponse(decoding: response.encoded + [0]) }
        #expect(throws: LookupMessageError.self) { try MilestonesResponse(decoding: response.encoded.dropLast()) }
    }

    @Test func theFormBeforeIsRefusedByItsFirstLine() throws {
        let old = Array("signet-milestones/v1\n".utf8) + [0]
        #expect(throws: LookupMessageError.unknownFormat) { try MilestonesResponse(decoding: old) }
    }
}
