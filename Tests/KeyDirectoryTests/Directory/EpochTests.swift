// SPDX-License-Identifier: Apache-2.0

import KeyTransparency
import Testing
import TransparencyLog
import VRF
import VerifiableMap

@testable import KeyDirectory

/// The log indexes itself: rule E and rule S, whatever is appended, and whatever a log is found to hold.
@Suite struct EpochTests {
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

    @Test func manyAtOnceShareEpochs() async throws {
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
    ]) func aGroupThatIsNoStepIsNotLogged(entries: [[UInt8]]) async throws {
        let directory = try await place.create()
        let label = try place.keys.vrf.prove(Array("x".utf8)).hash
        let leaf = try #require(DeviceLeaf(label: label, publicKey: [UInt8](repeating: 7, count: 32)))
        let size = directory.log.published.head.size
        await #expect(throws: LogAppendError.self) { try await directory.log.append(entries + [leaf.entry]) }
        #expect(directory.log.statistics.durableSize == size)
        await directory.close()
    }

    @Test(arguments: [0, 1, 3]) func aStepThatSkipsAVersionIsNotLogged(version: UInt64) async throws {
        let directory = try await place.create()
        let label = LabelIndex(try place.keys.vrf.prove(Array("x".utf8)).hash)
        _ = try await directory.log.append([StateRecord(closing: label, version: 1).entry])
        let record = StateRecord(closing: label, version: version)
        await #expect(throws: LogAppendError.self) { try await directory.log.append([record.entry]) }
        await directory.close()
    }

    @Test func aLogWithoutEpochsIsRefused() async throws {
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

    @Test func anEpochRecordWithAnotherRootIsRefused() async throws {
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

    @Test func anIdleDirectoryEndsAnEpochWhenItIsDue() async throws {
        let directory = try await place.create()
        let size = directory.log.published.head.size
        place.clock.advance(Directory.standardHeartbeat - 1)
        try await directory.republish()
        #expect(directory.log.published.head.size == size, "not yet")
        place.clock.advance(1)
        try await directory.republish()
        try #require(directory.log.statistics.durableSize == size + 1, "now: else the next line waits for ever")
        _ = try await directory.log.awaitPublished(size: size + 1)
        let last = try #require(directory.epochs.lastRecord)
        #expect(last.time == place.clock.now * 1000)
        try await audit(directory)
        await directory.close()
    }

    @Test func aHeartbeatThatIsNotPublishedYetIsNotRepeated() async throws {
        let directory = try await place.create()
        place.clock.advance(Directory.standardHeartbeat)
        for _ in 0..<3 { try await directory.republish() }
        _ = try await directory.log.awaitPublished(size: 2)
        try await directory.republish()
        #expect(directory.log.statistics.durableSize == 2)
        await directory.close()
    }

    @Test func aDirectoryThatWasShutEndsAnEpochBeforeItAnswers() async throws {
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
