// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import LogEngine
import Testing
import TransparencyLog
import VRF
import VerifiableMap

@testable import KeyDirectory

/// The log indexes itself: rule E and rule S hold for all that is appended, and for what a log holds when it is opened.
@Suite(.everyEngine) struct EpochTests {
    let place: Place

    init() throws { place = try Place() }

    /// Replays the published log as an auditor does.
    private func audit(_ directory: Directory) async throws {
        var replay = DirectoryReplay()
        let published = directory.log.published
        for index in 0..<published.head.size { try replay.add(await directory.log.entry(at: index)) }
        try replay.requireEnd()
        #expect(replay.frontier.head == published.head)
    }

    @Test func everyPublishedSizeEndsInAnEpochThatAnAuditorAccepts() async throws {
        let directory = try await place.create()
        try await audit(directory)
        var people = try (0..<5).map { try Person("person-\($0)@example.org", deviceCount: 2) }
        for number in people.indices {
            try await people[number].register(at: directory)
            try await audit(directory)
        }
        try await people[0].change(to: people[0].devices + [people[0].newDevice()], at: directory)
        try await directory.erase(people[1].handle)
        try await audit(directory)
        await directory.close()
        let again = try await place.open()
        try await audit(again)
        await again.close()
    }

    @Test func concurrentRegistrationsShareEpochs() async throws {
        let directory = try await place.create()
        let people = try (0..<40).map { try Person("person-\($0)@example.org") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for person in people {
                group.addTask {
                    var person = person
                    try await person.register(at: directory)
                }
            }
            try await group.waitForAll()
        }
        try await audit(directory)
        for person in people { _ = try await place.verifiedLookup(person.handle, at: directory) }
        await directory.close()
    }

    @Test(arguments: [
        [[UInt8]](), [Array("junk\n".utf8)],
    ]) func append_refusesAGroupThatIsNoStep(entries: [[UInt8]]) async throws {
        let directory = try await place.create()
        let label = try place.keys.vrf.prove(Array("x".utf8)).hash
        let leaf = try #require(DeviceLeaf(label: label, publicKey: [UInt8](repeating: 7, count: 32)))
        let size = directory.log.published.head.size
        await #expect(throws: LogAppendError.self) { try await directory.log.append(entries + [leaf.entry]) }
        #expect(directory.log.statistics.durableSize == size)
        await directory.close()
    }

    @Test(arguments: [0, 1, 3]) func append_refusesAStepThatSkipsAVersion(version: UInt64) async throws {
        let directory = try await place.create()
        let label = LabelIndex(try place.keys.vrf.prove(Array("x".utf8)).hash)
        _ = try await directory.log.append([StateRecord(closing: label, version: 1).entry])
        let record = StateRecord(closing: label, version: version)
        await #expect(throws: LogAppendError.self) { try await directory.log.append([record.entry]) }
        await directory.close()
    }

    @Test func open_refusesALogWithoutEpochs() async throws {
        await (try place.create()).close()
        let paths = DirectoryPaths(root: place.path)
        let configuration = LogConfiguration(
            signer: place.keys.log, cosigners: place.keys.cosigners, clock: place.time)
        let bare = try await DurableLog.open(at: paths.log, configuration)
        let label = LabelIndex(try place.keys.vrf.prove(Array("x".utf8)).hash)
        _ = try await bare.append([StateRecord(closing: label, version: 1).entry])
        await bare.close()
        #expect(await place.openingRefusal() == .log(.breaksRule(.noEpochRecord(size: 2))))
    }

    @Test func open_refusesAnEpochRecordWithAnotherRoot() async throws {
        await (try place.create()).close()
        let paths = DirectoryPaths(root: place.path)
        let bare = try await DurableLog.open(
            at: paths.log,
            LogConfiguration(signer: place.keys.log, cosigners: place.keys.cosigners, clock: place.time))
        let lie = try #require(MapHash([UInt8](repeating: 1, count: 32)))
        let record = EpochRecord(
            number: 2, time: place.clock.now * 1000, start: 1, labelCount: 0, milestone: 0, root: lie)
        _ = try await bare.append([record.entry])
        await bare.close()
        #expect(
            await place.openingRefusal()
                == .log(.breaksRule(.indexRoot(found: record, expected: MapHash.emptyTrie))))
    }

    /// The root that was signed last covers the record of an earlier epoch, so the index of that epoch is not computed
    /// again.
    @Test func open_doesNotComputeTheIndexOfAnOlderEpoch() async throws {
        let lie = try #require(MapHash([UInt8](repeating: 1, count: 32)))
        let last = try await logEpochs([(2, lie, 0), (3, .emptyTrie, 0)])
        let directory = try await place.open()
        #expect(directory.epochs.lastRecord == last)
        await directory.close()
    }

    @Test func open_checksTheFieldsOfAnOlderEpoch() async throws {
        try await logEpochs([(2, .emptyTrie, 5), (3, .emptyTrie, 0)])
        guard case .log(.breaksRule(.epochFields(let found, let expected))) = await place.openingRefusal() else {
            Issue.record("the directory opened, or was refused for something else")
            return
        }
        #expect(found.labelCount == 5 && expected.labelCount == 0)
    }

    /// Creates a directory, and writes epoch records that no sealer checks.
    @discardableResult private func logEpochs(
        _ epochs: [(number: UInt64, root: MapHash, labelCount: UInt64)]
    ) async throws -> EpochRecord? {
        await (try place.create()).close()
        let bare = try await DurableLog.open(
            at: DirectoryPaths(root: place.path).log,
            LogConfiguration(signer: place.keys.log, cosigners: place.keys.cosigners, clock: place.time))
        let records = epochs.map {
            EpochRecord(
                number: $0.number, time: place.clock.now * 1000, start: $0.number - 1, labelCount: $0.labelCount,
                milestone: 0, root: $0.root)
        }
        for record in records { _ = try await bare.append([record.entry]) }
        await bare.close()
        return records.last
    }

    @Test func aReopenedDirectoryHasTheSameIndexAndMilestones() async throws {
        let directory = try await place.create()
        var labels: [LabelIndex] = []
        for number in 0..<6 {
            if number == 3 { place.clock.advance(86_400) }
            var person = try Person("person-\(number)@example.org", deviceCount: 2)
            try await person.register(at: directory, time: place.clock.now)
            labels.append(LabelIndex(try directory.label(of: person.handle).0))
        }
        let size = try await directory.log.awaitPublished(size: directory.log.statistics.durableSize).head.size
        let (epoch, milestone) = (directory.epochs.epoch(size: size), directory.epochs.milestone(size: size))
        let proofs = labels.map { epoch?.index.proof(of: $0.key) }
        let ends = labels.map { directory.epochs.end(after: directory.epochs.history(of: $0, size: size).indexes[0]) }
        await directory.close()
        let again = try await place.open()
        #expect(again.epochs.epoch(size: size)?.record == epoch?.record && epoch != nil)
        #expect(labels.map { again.epochs.epoch(size: size)?.index.proof(of: $0.key) } == proofs)
        #expect(again.epochs.milestone(size: size)?.record == milestone?.record && milestone?.size != epoch?.size)
        #expect(again.epochs.milestone(size: 1)?.size == 1)
        #expect(
            labels.map { again.epochs.end(after: again.epochs.history(of: $0, size: size).indexes[0]) } == ends)
        await again.close()
    }

    @Test func anIdleDayEndsInAMilestone() async throws {
        let directory = try await place.create()
        let first = try #require(directory.epochs.milestone(size: 1))
        #expect(first.record.number == 1)
        place.clock.advance(86_400)
        try directory.log.seal()
        _ = try await directory.log.awaitPublished(size: 2)
        let second = try #require(directory.epochs.milestone(size: 2))
        #expect(second.record.number == 2)
        #expect(second.record.milestone == 0)
        await directory.close()
        let again = try await place.open()
        #expect(again.epochs.milestone(size: 1)?.record == first.record)
        #expect(again.epochs.milestone(size: 2)?.record == second.record)
        await again.close()
    }

    // MARK: Heartbeats

    @Test func republish_endsAnEpochOfAnIdleDirectoryWhenItIsDue() async throws {
        let directory = try await place.create()
        let size = directory.log.published.head.size
        place.clock.advance(Directory.standardHeartbeat - 1)
        try await directory.republish()
        #expect(directory.log.published.head.size == size, "not yet")
        place.clock.advance(1)
        try await directory.republish()
        try #require(directory.log.statistics.durableSize == size + 1, "now: otherwise the next line waits for ever")
        _ = try await directory.log.awaitPublished(size: size + 1)
        let last = try #require(directory.epochs.lastRecord)
        #expect(last.time == place.clock.now * 1000)
        try await audit(directory)
        await directory.close()
    }

    @Test func republish_doesNotRepeatAnUnpublishedHeartbeat() async throws {
        let directory = try await place.create()
        place.clock.advance(Directory.standardHeartbeat)
        for _ in 0..<3 { try await directory.republish() }
        _ = try await directory.log.awaitPublished(size: 2)
        try await directory.republish()
        #expect(directory.log.statistics.durableSize == 2)
        await directory.close()
    }

    /// Until a quorum of the witnesses has named the time, what is logged has an earlier one than the machine's clock says.
    @Test func republish_countsHeartbeatsByTheClockThatDatesEpochs() async throws {
        await (try place.create()).close()
        let dating = StandingClock()
        place.clock.advance(2 * Directory.standardHeartbeat)
        let directory = try await place.open(epochClock: { dating.now })
        for _ in 0..<3 { try await directory.republish() }
        #expect(directory.log.statistics.durableSize == 1)
        dating.advance(Directory.standardHeartbeat)
        try await directory.republish()
        #expect(directory.log.statistics.durableSize == 2)
        await directory.close()
    }

    @Test func open_endsAnOverdueEpochBeforeTheFirstAnswer() async throws {
        await (try place.create()).close()
        place.clock.advance(86_400)
        let again = try await place.open()
        let (published, epoch) = try again.publishedEpoch()
        #expect(published.head.size == 2)
        #expect(epoch.record.time == place.clock.now * 1000)
        _ = try await place.verifiedAnswer(about: Person("nobody@example.org").handle, at: again)
        await again.close()
    }
}
