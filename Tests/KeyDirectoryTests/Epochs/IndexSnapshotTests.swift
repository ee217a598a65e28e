// SPDX-License-Identifier: Apache-2.0

import CanonicalCoding
import Crypto
import DurableStorage
import EngineLab
import Foundation
import KeyTransparency
import LogEngine
import SignetTesting
import Testing
import TransparencyLog
import VRF
import VerifiableMap

@testable import KeyDirectory

/// A start with a snapshot of the index makes of a log what a start without one makes of it, whatever the snapshot says.
@Suite struct IndexSnapshotTests {
    /// Steps of accounts over several days, in epochs of one to three steps, with restarts between.
    private func log(seed: UInt64, steps: Int) async throws -> PaperLog {
        let paper = try PaperLog()
        try await paper.create()
        var (accounts, random) = (PaperAccounts(seed: seed), Chance(state: ~seed))
        var opened = try await paper.open()
        try opened.log.seal()
        for step in 0..<steps {
            let size = opened.log.statistics.durableSize
            _ = try await opened.log.append(accounts.step(paper.keys))
            if random.below(3) == 0 {
                _ = try await opened.log.awaitPublished(size: size + 1)
                try opened.log.seal()
            }
            if random.below(4) == 0 { paper.clock.advance(UInt64(random.below(100_000))) }
            if random.below(6) == 0 || step == steps / 2 {
                await opened.close()
                opened = try await paper.open()
            }
        }
        _ = try await opened.log.awaitPublished(size: opened.log.statistics.durableSize)
        await opened.close()
        return paper
    }

    /// A log with a snapshot of few bytes, and what a start without it makes of the log.
    private func smallLog() async throws -> (PaperLog, EpochSealer) {
        let paper = try await log(seed: 11, steps: 5)
        return (paper, try await paper.replayed())
    }

    @Test(arguments: 0..<32) func aSnapshotAndTheRestLeadToWhatTheWholeLogLeadsTo(seed: UInt64) async throws {
        let paper = try await log(seed: seed, steps: 40)
        let fault = try await paper.expectSameState(as: paper.replayed())
        #expect(fault == nil && paper.snapshot != nil)
    }

    @Test func aLaterEpochsSnapshotIsWrittenAndUsed() async throws {
        let (paper, _) = try await smallLog()
        let before = try #require(try await paper.epochs().usedSnapshot)
        let opened = try await paper.open()
        var accounts = PaperAccounts(seed: 99, changesKeys: false)
        let range = try await opened.log.append(accounts.step(paper.keys))
        _ = try await opened.log.awaitPublished(size: range.upperBound)
        await opened.close()
        let cut = try PaperLog(on: paper.disk.crashed(.nothing), clock: paper.clock)
        let after = try #require(try await cut.epochs().usedSnapshot, "and it survives a power cut")
        #expect(after == range.upperBound + 1 && after > before)
    }

    // MARK: Damage

    @Test func aDamagedByteIsFoundBeforeAnythingIsMadeOfTheFile() async throws {
        let (paper, replayed) = try await smallLog()
        let sound = try #require(paper.snapshot)
        for place in sound.indices {
            for mask: UInt8 in [1, 0x80, 0xFF] {
                paper.snapshot = sound.changed(at: place, by: mask)
                let fault = try await paper.expectSameState(as: replayed, "byte \(place)")
                switch fault {
                case .unknownFormat: #expect(place < 25)
                case .wrongLength: #expect((25..<41).contains(place))
                default: #expect(fault == .checksumMismatch, "byte \(place)")
                }
            }
        }
    }

    @Test func aByteThatAnAttackerChangesIsFoundByTheLog() async throws {
        let (paper, replayed) = try await smallLog()
        let sound = try #require(paper.snapshot)
        for place in sound.indices.dropLast(32) {
            for mask: UInt8 in [1, 2, 0x80, 0xFF] {
                paper.snapshot = sound.dropLast(32).changed(at: place, by: mask).sealed
                let fault = try await paper.expectSameState(as: replayed, "byte \(place)")
                #expect(fault != nil && fault != .checksumMismatch, "byte \(place)")
            }
        }
    }

    @Test func aFileOfAnotherLengthIsNotUsed() async throws {
        let (paper, replayed) = try await smallLog()
        let sound = try #require(paper.snapshot)
        for length in sound.indices {
            paper.snapshot = Array(sound[..<length])
            #expect(try await paper.expectSameState(as: replayed) == .wrongLength, "\(length) bytes")
            guard length != sound.count - 32 else { continue }
            paper.snapshot = Array(sound[..<length]).sealed
            #expect(try await paper.expectSameState(as: replayed) != nil, "\(length) bytes and a checksum")
        }
        paper.snapshot = sound + [0]
        #expect(try await paper.expectSameState(as: replayed) == .wrongLength)
        paper.snapshot = nil
        #expect(try await paper.expectSameState(as: replayed) == .missing)
    }

    @Test func aFileThatCannotBeReadIsNotUsed() async throws {
        let (paper, _) = try await smallLog()
        var ordinal = 0
        while true {
            let files = FaultyFileSystem(paper.disk, fault: Fault([.snapshot], ordinal: ordinal, effect: .nothing))
            do throws(IndexSnapshot.Fault) { _ = try IndexSnapshot(in: files) } catch {
                guard case .file(let fault) = error else {
                    Issue.record("\(error)")
                    return
                }
                #expect(fault.file == .snapshot)
            }
            guard files.hasFailed else { break }
            ordinal += 1
        }
        #expect(ordinal > 5)
    }

    // MARK: Attacks: the checksum is right, and one thing is not

    /// Opens a log whose snapshot was changed as given.
    private func fault(
        _ change: (inout [MapKey], inout [UInt32], inout UInt64) -> Void
    ) async throws -> IndexSnapshot.Fault? {
        let (paper, replayed) = try await smallLog()
        let sound = try IndexSnapshot(in: paper.disk)
        var (labels, numbers, size) = (sound.labels, sound.numbers, sound.size)
        change(&labels, &numbers, &size)
        paper.snapshot = IndexSnapshot.file(size: size, labels, numbers)
        return try await paper.expectSameState(as: replayed)
    }

    @Test func anUnchangedFileIsUsed() async throws {
        #expect(try await fault { _, _, _ in } == nil)
    }

    @Test func aNumberBeyondTheNextLabelsIsRefused() async throws {
        let fault = try await fault { _, numbers, _ in
            let place = numbers.firstIndex { $0 != IndexSnapshot.none } ?? 0
            numbers[place] = 1
        }
        guard case .skipsLabel = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func aLabelWithTwoNumbersIsRefused() async throws {
        let fault = try await fault { labels, _, _ in labels[1] = labels[0] }
        guard case .repeatsLabel = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func aLabelsEntryThatIsHiddenIsRefused() async throws {
        let fault = try await fault { _, numbers, _ in
            let place = numbers.lastIndex { $0 != IndexSnapshot.none } ?? 0
            numbers[place] = IndexSnapshot.none
        }
        guard case .hidesLabel = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func aSnapshotMayEndInTheMiddleOfAnEpoch() async throws {
        let fault = try await fault { _, numbers, size in
            numbers.removeLast()
            size -= 1
        }
        #expect(fault == nil)
    }

    @Test func labelsThatNoEntryHasAreRefused() async throws {
        let other = try #require(MapKey([UInt8](repeating: 9, count: 32)))
        #expect(try await fault { labels, _, _ in labels.append(other) } == .unusedLabels(count: 1))
    }

    @Test func entriesThatChangeTheirLabelsLeadToAnotherRoot() async throws {
        let fault = try await fault { labels, _, _ in labels.swapAt(0, 1) }
        guard case .contradictsLog(.indexRoot) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func anotherKeyLeadsToAnotherRoot() async throws {
        let other = try #require(MapKey([UInt8](repeating: 9, count: 32)))
        let fault = try await fault { labels, _, _ in labels[0] = other }
        guard case .contradictsLog(.indexRoot) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func everyOtherOwnerOfEveryEntryIsRefused() async throws {
        let (paper, replayed) = try await smallLog()
        let sound = try IndexSnapshot(in: paper.disk)
        for entry in sound.numbers.indices {
            for number in Array(0...UInt32(sound.labels.count)) + [IndexSnapshot.none]
            where number != sound.numbers[entry] {
                var numbers = sound.numbers
                numbers[entry] = number
                paper.snapshot = IndexSnapshot.file(size: sound.size, sound.labels, numbers)
                #expect(try await paper.expectSameState(as: replayed) != nil, "entry \(entry) of label \(number)")
            }
        }
    }

    @Test func everyOtherSizeChangesNothing() async throws {
        let (paper, replayed) = try await smallLog()
        let sound = try IndexSnapshot(in: paper.disk)
        for size in 0..<sound.numbers.count {
            paper.snapshot = IndexSnapshot.file(size: UInt64(size), sound.labels, Array(sound.numbers[..<size]))
            _ = try await paper.expectSameState(as: replayed)
            let labels = sound.numbers[..<size].filter { $0 != IndexSnapshot.none }.max().map { Int($0) + 1 } ?? 0
            paper.snapshot = IndexSnapshot.file(
                size: UInt64(size), Array(sound.labels[..<labels]), Array(sound.numbers[..<size]))
            _ = try await paper.expectSameState(as: replayed)
        }
    }

    // MARK: Snapshots of other logs

    @Test func aSnapshotOfAnEarlierEpochIsUsed() async throws {
        let (paper, _) = try await smallLog()
        let early = paper.snapshot
        let opened = try await paper.open()
        var accounts = PaperAccounts(seed: 4, changesKeys: false)
        for _ in 0..<4 { _ = try await opened.log.append(accounts.step(paper.keys)) }
        await opened.close()
        #expect(paper.snapshot != early)
        paper.snapshot = early
        #expect(try await paper.expectSameState(as: paper.replayed()) == nil)
    }

    /// The index of its epoch is not made, and that of a later one bears it out, or does not.
    @Test func aWrongSnapshotOfAnEarlierEpochIsRefused() async throws {
        let (paper, _) = try await smallLog()
        let early = try IndexSnapshot(in: paper.disk)
        let opened = try await paper.open()
        var accounts = PaperAccounts(seed: 4, changesKeys: false)
        for _ in 0..<4 { _ = try await opened.log.append(accounts.step(paper.keys)) }
        await opened.close()
        var labels = early.labels
        labels.swapAt(0, 1)
        paper.snapshot = IndexSnapshot.file(size: early.size, labels, early.numbers)
        let fault = try await paper.expectSameState(as: paper.replayed())
        guard case .contradictsLog(.indexRoot) = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func aSnapshotOfALargerLogIsNotUsed() async throws {
        let (paper, replayed) = try await smallLog()
        let later = try paper.copy()
        let opened = try await later.open()
        var accounts = PaperAccounts(seed: 4, changesKeys: false)
        for _ in 0..<4 {
            let range = try await opened.log.append(accounts.step(paper.keys))
            _ = try await opened.log.awaitPublished(size: range.upperBound)
        }
        await opened.close()
        paper.snapshot = later.snapshot
        let fault = try await paper.expectSameState(as: replayed)
        guard case .ahead = fault else {
            Issue.record("\(String(describing: fault))")
            return
        }
    }

    @Test func aSnapshotOfAnotherDirectoryIsNotUsed() async throws {
        let (paper, replayed) = try await smallLog()
        for seed in 20..<28 {
            paper.snapshot = try await log(seed: UInt64(seed), steps: 5).snapshot
            #expect(try await paper.expectSameState(as: replayed) != nil, "log \(seed)")
        }
    }

    @Test func aLogThatIsRefusedIsRefusedForTheSameWithASnapshot() async throws {
        let (paper, _) = try await smallLog()
        let segment = try #require(paper.disk.paths.first { LogFileKind(path: $0) == .segment })
        let bytes = try #require(paper.disk[segment])
        paper.disk[segment] = bytes.changed(at: 200, by: 1)
        let bare = try paper.copy()
        bare.snapshot = nil
        var refusals: [LogOpenError] = []
        for log in [paper, bare] {
            do { _ = try await log.epochs() } catch let error as LogOpenError { refusals.append(error) }
        }
        #expect(refusals.count == 2 && refusals.first == refusals.last)
    }

    // MARK: Writing

    /// Each call to the file fails: without effect, with its effect, half done, and with the process killed at it.
    @Test(arguments: [Fault.Effect.nothing, .everything, .half], [false, true])
    func aFailedWriteCostsNothingButTheSnapshot(
        effect: Fault.Effect, isFinal: Bool
    ) async throws {
        let (small, _) = try await smallLog()
        var ordinal = 0
        while true {
            let paper = try small.copy()
            var fault = Fault([.snapshot], ordinal: ordinal, effect: effect)
            fault.isFinal = isFinal
            let files = FaultyFileSystem(paper.disk, fault: fault)
            let opened = try? await paper.open(over: files)
            if let opened {
                var accounts = PaperAccounts(seed: 5, changesKeys: false)
                for _ in 0..<2 {
                    let range = try? await opened.log.append(accounts.step(paper.keys))
                    if let range { _ = try? await opened.log.awaitPublished(size: range.upperBound) }
                    #expect(range != nil || isFinal, "call \(ordinal)")
                }
                await opened.close()
            }
            #expect(opened != nil || isFinal, "call \(ordinal)")
            guard files.hasFailed else { break }
            for survival in [.nothing, .everything, .some(seed: UInt64(ordinal))] as [SimulatedDisk.Survival] {
                let later = try PaperLog(on: paper.disk.crashed(survival), clock: paper.clock)
                _ = try await later.expectSameState(as: later.replayed(), "call \(ordinal), surviving: \(survival)")
            }
            ordinal += 1
        }
        #expect(ordinal > 8)
    }

    @Test func nothingIsWrittenWhenTheDiskIsNearlyFull() async throws {
        let paper = try PaperLog()
        try await paper.create()
        let opened = try await paper.open(reserve: DiskReserve(use: { .some }))
        try opened.log.seal()
        _ = try await opened.log.awaitPublished(size: 1)
        await opened.close()
        #expect(paper.snapshot == nil)
    }

    @Test func aSnapshotIsDueAfterEnoughEpochsAndEnoughEntries() throws {
        var policy = IndexSnapshotPolicy()
        (policy.epochs, policy.entries, policy.part) = (10, 100, 16)
        func isDue(_ number: UInt64, _ size: UInt64) -> Bool {
            let record = EpochRecord(number: number, time: 0, start: 0, labelCount: 0, milestone: 0, root: .emptyTrie)
            return policy.isDue(
                LoggedEpoch(size: size, record: record, index: MapTrie().current), after: (number: 5, size: 1600))
        }
        #expect(isDue(15, 1710))
        #expect(!isDue(14, 1710), "too few epochs")
        #expect(!isDue(15, 1699), "too few entries")
        #expect(!isDue(15, 1705), "too small a part of the log")
        #expect(!isDue(20, 1600))
    }

    @Test func aDirectoryAnswersTheSameWithASnapshot() async throws {
        let place = try Place(on: .sqlite)
        try await Directory.create(at: place.path, keys: place.keys, clock: place.time, logger: Place.silent)
        var people: [Person] = []
        let first = try await place.openWritingSnapshots()
        for number in 0..<5 {
            if number.isMultiple(of: 2) {
                place.clock.advance(86_400)
                try await first.republish()
            }
            var person = try Person("person-\(number)@example.org", deviceCount: 2)
            try await person.register(at: first, time: place.clock.now)
            people.append(person)
        }
        let added = try people[0].newDevice()
        try await people[0].change(to: [people[0].devices[0], added], at: first, time: place.clock.now)
        await first.close()
        let file = "\(DirectoryPaths(root: place.path).log)/\(PaperLog.path)"
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let quick = try await place.openWritingSnapshots(.never)
        #expect(quick.epochs.usedSnapshot != nil)
        let answers = try await Self.answers(of: quick, about: people)
        await quick.close()
        try FileManager.default.removeItem(atPath: file)
        let slow = try await place.openWritingSnapshots(.never)
        #expect(slow.epochs.usedSnapshot == nil && slow.epochs.holdsSame(as: quick.epochs))
        #expect(try await Self.answers(of: slow, about: people) == answers)
        await slow.close()
    }

    private static func answers(of directory: Directory, about people: [Person]) async throws -> [[UInt8]] {
        var answers: [[UInt8]] = []
        for person in people + [try Person("nobody@example.org")] {
            let lookup = LookupRequest(handle: person.handle, knownSize: 0, knownCount: 0)
            answers.append(try await directory.lookup(lookup).encoded)
            answers.append(try await directory.history(HistoryRequest(lookup)).encoded)
            let size = directory.log.published.head.size
            answers.append(
                try await directory.milestones(MilestonesRequest(handle: person.handle, size: size, after: 0)).encoded)
        }
        return answers
    }
}

extension Place {
    fileprivate func openWritingSnapshots(_ policy: IndexSnapshotPolicy = .always) async throws -> Directory {
        try await Directory.open(
            at: path, logFiles: logFiles, keys: keys, clock: time, logger: Self.silent, snapshots: policy, onFatal: {})
    }
}

extension Collection<UInt8> {
    fileprivate func changed(at place: Int, by mask: UInt8) -> [UInt8] {
        var bytes = Array(self)
        bytes[place] ^= mask
        return bytes
    }

    /// The bytes with the checksum that an attacker makes.
    fileprivate var sealed: [UInt8] { Array(self) + Array(SHA256.hash(data: Array(self))) }
}

extension IndexSnapshot {
    /// A file that says this, under its checksum.
    fileprivate static func file(size: UInt64, _ labels: [MapKey], _ numbers: [UInt32]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(firstLine)
        writer.write(size)
        writer.write(UInt64(labels.count))
        for label in labels { writer.write(label.bytes) }
        for number in numbers { writer.write(number) }
        return writer.bytes.sealed
    }
}
