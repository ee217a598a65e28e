import KeyTransparency
import KeyTransparencyTesting
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
        _ scene: WatchScene, since known: Int = 0, _ edit: (inout [MilestoneAnswer]) throws -> Void = { _ in }
    ) throws -> VerifiedMilestones {
        let history = try scene.verify(scene.answer(since: known), since: known)
        var answers = try scene.milestones(after: start.index)
        try edit(&answers)
        return try MilestoneVerifier(history).verify(MilestonesResponse(answers: answers).encoded, since: start)
    }

    @Test func everyDaySinceTheLastCheckIsCompared() throws {
        let verified = try verify(scene)
        #expect(verified.count == 3 && verified.isComplete)
        #expect(verified.mark.day == start.day + 3)
        // Three entries were known before the second day: what the index says later goes on from there.
        #expect(try verify(scene, since: 3).count == 3)
    }

    @Test func fromTheNewestMilestoneOnThereIsNothingToCompare() throws {
        let history = try scene.verify(scene.answer())
        let mark = try verify(scene).mark
        let again = try MilestoneVerifier(history).verify(MilestonesResponse(answers: []).encoded, since: mark)
        #expect(again.count == 0 && again.mark == mark)
    }

    @Test func aLogThatEndsInANewDayIsItsOwnMilestone() throws {
        var scene = scene
        try scene.publish(PaperPerson("erin@example.org", seed: 50), onDay: 4)
        let history = try HistoryVerifier(trust: scene.directory.trust()).verify(
            answerOfTomorrow(scene), for: scene.alice.handle, knowing: nil, since: MerkleFrontier(),
            at: WatchScene.now + WatchScene.day)
        let answers = MilestonesResponse(answers: try scene.milestones(after: start.index))
        let verified = try MilestoneVerifier(history).verify(answers.encoded, since: start)
        #expect(verified.count == 3)
        #expect(verified.mark == MilestoneMark(index: scene.directory.tree.size - 1, day: start.day + 4))
    }

    private func answerOfTomorrow(_ scene: WatchScene) throws -> [UInt8] {
        let response = try HistoryResponse(decoding: scene.answer())
        var lookup = try scene.directory.answer(about: scene.alice)
        lookup.note = try scene.directory.note(at: WatchScene.now + WatchScene.day).encoded
        return HistoryResponse(lookup: lookup.response.encoded, entries: response.entries).encoded
    }

    // MARK: Attacks

    @Test func aKeyThatWasShownForADayAndTakenBackIsCaught() throws {
        let scene = try WatchScene(flashingOnDay: 2)
        #expect(throws: MilestoneFault.index(day: start.day + 2, .rootMismatch)) { try verify(scene) }
    }

    @Test func aMilestoneLeftOutIsRefused() throws {
        #expect(throws: MilestoneFault.missing(before: start.day + 2)) { try verify(scene) { $0.removeLast() } }
        #expect(throws: MilestoneFault.missing(before: start.day + 3)) { try verify(scene) { $0 = [] } }
    }

    @Test func milestonesInAnotherOrderOrTwiceAreRefused() throws {
        #expect(throws: MilestoneFault.self) { try verify(scene) { $0.reverse() } }
        #expect(throws: MilestoneFault.surplus(1)) { try verify(scene) { $0.append($0[2]) } }
    }

    @Test func aRecordThatIsNotInTheLogIsRefused() throws {
        let error = #expect(throws: MilestoneFault.self) {
            try verify(scene) { answers in
                let honest = answers[0]
                let other = EpochRecord(
                    number: honest.record.number, time: honest.record.time, start: honest.record.start,
                    labelCount: honest.record.labelCount + 1, milestone: honest.record.milestone,
                    root: honest.record.root)
                answers[0] = MilestoneAnswer(
                    index: honest.index, record: other, path: honest.path, present: honest.present)
            }
        }
        guard case .inclusion = error else { throw PaperFault.notThere }
    }

    @Test func anotherCountThanTheIndexHasIsRefused() throws {
        for count in [0, 1, 3, 4, 6, .max] as [UInt64] {
            let error = #expect(throws: MilestoneFault.self) {
                try verify(scene) { answers in
                    guard let present = answers[0].present else { throw PaperFault.notThere }
                    answers[0] = MilestoneAnswer(
                        index: answers[0].index, record: answers[0].record, path: answers[0].path,
                        present: .init(count: count, path: present.path))
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
            try verify(scene, since: 3) { answers in
                answers[0] = MilestoneAnswer(
                    index: answers[0].index, record: answers[0].record, path: answers[0].path, present: nil)
            }
        }
        let error = #expect(throws: MilestoneFault.self) {
            try verify(scene) { answers in
                answers[0] = MilestoneAnswer(
                    index: answers[0].index, record: answers[0].record, path: answers[0].path, present: nil)
            }
        }
        guard case .index = error else { throw PaperFault.notThere }
    }

    // MARK: The form

    @Test func messagesAreWrittenAsTheyAreRead() throws {
        let response = MilestonesResponse(answers: try scene.milestones(after: 0))
        #expect(response.answers.count == 4)
        #expect(try MilestonesResponse(decoding: response.encoded) == response)
        let request = MilestonesRequest(handle: scene.alice.handle, size: 9, after: 4)
        #expect(try MilestonesRequest(decoding: request.encoded) == request)
        #expect(throws: LookupMessageError.self) { try MilestonesResponse(decoding: response.encoded + [0]) }
        #expect(throws: LookupMessageError.self) { try MilestonesResponse(decoding: response.encoded.dropLast()) }
    }
}
