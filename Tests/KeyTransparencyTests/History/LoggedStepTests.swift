import KeyTransparency
import KeyTransparencyTesting
import Testing
import TransparencyLog

/// In which epoch an entry was logged: answers in which only that is wrong.
@Suite struct LoggedStepTests {
    let scene: WatchScene

    init() throws { scene = try WatchScene() }

    private func verify(_ steps: [LoggedStep], since known: Int = 0) throws -> VerifiedHistory {
        try scene.verify(scene.answer(since: known, steps: steps), since: known)
    }

    private func step(_ count: Int, place: Int? = nil) throws -> LoggedStep {
        try scene.directory.step(UInt64(count), at: scene.places()[(place ?? count) - 1])
    }

    private func refusal(_ steps: [LoggedStep], since known: Int = 0) -> HistoryRefusal? {
        do {
            _ = try verify(steps, since: known)
            return nil
        } catch { return error as? HistoryRefusal }
    }

    @Test func anHonestAnswerSaysInWhichEpochEachEntryCame() throws {
        let days = try verify(try (1...5).map { try step($0) }).loggedIn.mapValues(\.day)
        let first = PaperDirectory.now / WatchScene.day
        #expect(days == [1: first, 2: first, 3: first, 4: first + 1, 5: first + 1])
        #expect(try verify([step(4), step(5)], since: 3).loggedIn.count == 2)
        #expect(try verify([]).loggedIn.isEmpty)
    }

    @Test func entriesThatAreNotInTheAnswerOrOutOfOrderAreRefused() throws {
        #expect(refusal([try step(5), try step(4)]) == .step(.noSuchEntry))
        #expect(refusal([try step(4), try step(4)]) == .step(.noSuchEntry))
        #expect(refusal([try step(3)], since: 3) == .step(.noSuchEntry))
        #expect(refusal([try step(6, place: 5)]) == .step(.noSuchEntry))
        #expect(refusal([try step(0, place: 1)]) == .step(.noSuchEntry))
    }

    @Test func anotherEntrysPlaceIsRefused() throws {
        #expect(refusal([try step(5, place: 3)]) == .step(.entry(.rootMismatch)))
    }

    @Test func anEpochThatIsNotInTheLogIsRefused() throws {
        let honest = try step(5)
        let earlier = honest.epoch.record.with(time: honest.epoch.record.time - 86_400_000)
        let epoch = PlacedEpoch(index: honest.epoch.index, record: earlier, path: honest.epoch.path)
        #expect(
            refusal([LoggedStep(count: 5, inclusion: honest.inclusion, epoch: epoch)])
                == .step(.epoch(.rootMismatch)))
    }

    @Test func anEarlierOrLaterEpochIsRefused() throws {
        let honest = try step(5)
        for place in try scene.epochs() where place != honest.epoch.index {
            let step = LoggedStep(count: 5, inclusion: honest.inclusion, epoch: try scene.epoch(at: place))
            #expect(refusal([step]) == .step(.anotherEpoch))
        }
    }

    @Test func theFormBeforeIsRefusedByItsFirstLine() throws {
        let old = Array("signet-history/v1\n".utf8) + [0, 0, 0, 0, 0, 0, 0, 0]
        #expect(throws: LookupMessageError.unknownFormat) { try HistoryResponse(decoding: old) }
    }
}
