// SPDX-License-Identifier: Apache-2.0

import LogEngine
import SignetTesting
import Testing
import TransparencyLog

/// The states of a disk with which a log must not open.
@Suite struct RefusalTests {
    /// A log of three frames: 2, 3 and 4 entries, closed; and copies of the disk after each.
    private func stages() async throws -> (LogFixture, [SimulatedDisk]) {
        let fixture = LogFixture()
        let disk = SimulatedDisk()
        let log = try await fixture.newLog(on: disk)
        var copies: [SimulatedDisk] = []
        for range in [0..<2, 2..<5, 5..<9] {
            _ = try await log.append(LogFixture.entries(range))
            _ = try await log.awaitPublished(size: UInt64(range.upperBound))
            copies.append(disk.copy())
        }
        await log.close()
        return (fixture, copies)
    }

    private func refusal(_ fixture: LogFixture, _ disk: any LogFileSystem) async throws -> LogOpenError? {
        try await LogOpenError.met { await (try await fixture.log(on: disk)).close() }
    }

    @Test func open_refusesAnOlderWriteAheadLogUnderANewerLockRecord() async throws {
        let (fixture, disks) = try await stages()
        let newest = disks[2].copy()
        newest[newest.newestSegment] = disks[1][newest.newestSegment]
        let locked = fixture.published.last { $0.head.size == 9 }?.head
        let found = try await refusal(fixture, newest)
        #expect(found == .lockRecordAhead(locked: try #require(locked), replayed: 5))
        #expect(found?.remedy == .restoreNewestCopy)
    }

    @Test func open_acceptsAnOlderLockRecordUnderANewerWriteAheadLog() async throws {
        let (fixture, disks) = try await stages()
        let newest = disks[2].copy()
        newest["checkpoint.lock"] = disks[0]["checkpoint.lock"]
        let log = try await fixture.log(on: newest)
        #expect(log.published.head.size == 9)
        await log.close()
    }

    @Test func open_refusesAnotherHistoryOfTheSameSize() async throws {
        let (fixture, disks) = try await stages()
        let other = SimulatedDisk()
        let log = try await fixture.newLog(on: other)
        _ = try await log.append(LogFixture.entries(100..<109))
        let head = try await log.awaitPublished(size: 9).head
        await log.close()
        other["checkpoint.lock"] = disks[2]["checkpoint.lock"]
        let locked = TreeHead(size: 9, root: try #require(fixture.published.first { $0.head.size == 9 }?.head.root))
        #expect(try await refusal(fixture, other) == .rootMismatch(locked: locked, computed: head.root))
    }

    @Test func aMissingLockRecordIsRefusedAndNotCreated() async throws {
        let (fixture, disks) = try await stages()
        disks[2]["checkpoint.lock"] = nil
        #expect(try await refusal(fixture, disks[2]) == .lockRecordMissing)
        let creation = try await LogOpenError.met {
            try await DurableLog.create(in: disks[2], try fixture.configuration())
        }
        #expect(creation == .logExists)
    }

    @Test func open_refusesAnEmptyDirectoryAndWritesNoFile() async throws {
        let disk = SimulatedDisk()
        #expect(try await refusal(LogFixture(), disk) == .noLog)
        #expect(disk.paths == [])
    }

    @Test func create_refusesAnExistingLog() async throws {
        let (fixture, disks) = try await stages()
        let creation = try await LogOpenError.met {
            try await DurableLog.create(in: disks[2], try fixture.configuration())
        }
        #expect(creation == .logExists)
        #expect(try await refusal(fixture, disks[2]) == nil)
    }

    @Test func open_refusesTheLogOfAnotherName() async throws {
        let (fixture, disks) = try await stages()
        let found = try await LogOpenError.met {
            let configuration = try fixture.configuration(origin: Array("other.example".utf8))
            await (try await DurableLog.open(in: disks[2], configuration)).close()
        }
        #expect(found == .lockRecordOfOtherLog(origin: try KeyName(LogFixture.origin)))
        #expect(found?.remedy == .correctConfiguration)
    }

    @Test func open_refusesALogThatIsOpen() async throws {
        let fixture = LogFixture()
        let disk = SimulatedDisk()
        let first = try await fixture.newLog(on: disk)
        #expect(try await refusal(fixture, disk) == .inUse)
        await first.close()
        #expect(try await refusal(fixture, disk) == nil)
    }

    @Test func open_reportsADirectoryThatCannotBeWritten() async throws {
        let (fixture, disks) = try await stages()
        let readOnly: Int32 = 30
        var fault = Fault([.segment], ordinal: 0, effect: .nothing)
        var refusals: [LogOpenError?] = []
        while true {
            fault.code = readOnly
            let storage = FaultyFileSystem(disks[2], fault: fault)
            let found = try await refusal(fixture, storage)
            guard storage.hasFailed else { break }
            refusals.append(found)
            fault.ordinal += 1
        }
        #expect(refusals.contains { $0?.remedy == .allowWriting })
    }

    @Test func open_refusesAMissingSegment() async throws {
        let fixture = LogFixture()
        let disk = try await ScriptedRun.disk()
        var run = ScriptedRun()
        try await run.perform(on: disk)
        let segments = disk.paths.filter { LogFileKind(path: $0) == .segment }.sorted()
        #expect(segments.count > 1)
        for (place, path) in segments.enumerated() {
            let damaged = disk.copy()
            damaged[path] = nil
            let found = try await refusal(fixture, damaged)
            if place == segments.count - 1 {
                guard case .lockRecordAhead = found else { Issue.record("\(String(describing: found))"); continue }
            } else {
                guard case .segmentMissing = found else { Issue.record("\(String(describing: found))"); continue }
            }
        }
    }

    @Test func open_refusesAnIntactFrameInAnotherPlace() async throws {
        let (fixture, disks) = try await stages()
        let path = disks[2].newestSegment
        var bytes = try #require(disks[2][path])
        let first = LogFixture.frameByteCount(LogFixture.entries(0..<2))
        let end = [2..<5, 5..<9].reduce(80 + first) { $0 + LogFixture.frameByteCount(LogFixture.entries($1)) }
        bytes.replaceSubrange(end..<end + first, with: bytes[80..<80 + first])
        disks[2][path] = bytes
        #expect(try await refusal(fixture, disks[2]) == .frameDamaged(segment: 0, offset: UInt64(end)))
    }

    @Test func open_refusesADamagedLastFrameOfAnOlderSegment() async throws {
        let disk = try await ScriptedRun.disk()
        var run = ScriptedRun()
        try await run.perform(on: disk)
        let oldest = disk.paths.filter { LogFileKind(path: $0) == .segment }.min() ?? ""
        var bytes = try #require(disk[oldest])
        let last = try #require(bytes.lastIndex { $0 != 0 })
        bytes[last] ^= 1
        disk[oldest] = bytes
        guard case .frameDamaged(segment: 0, _) = try await refusal(LogFixture(), disk) else {
            Issue.record("not refused for its frame")
            return
        }
    }

    @Test func open_refusesASegmentUnderTheNameOfAnother() async throws {
        let disk = try await ScriptedRun.disk()
        var run = ScriptedRun()
        try await run.perform(on: disk)
        let segments = disk.paths.filter { LogFileKind(path: $0) == .segment }.sorted()
        disk[segments[0]] = disk[segments[1]]
        #expect(try await refusal(LogFixture(), disk) == .segmentDamaged(firstIndex: 0))
    }

    @Test func everyFlippedBitOfThePublishedLogIsRefused() async throws {
        let (fixture, disks) = try await stages()
        let path = disks[2].newestSegment
        let bytes = try #require(disks[2][path])
        let used = [0..<2, 2..<5, 5..<9].reduce(80) { $0 + LogFixture.frameByteCount(LogFixture.entries($1)) }
        for bit in 0..<8 * used {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            disks[2][path] = flipped
            #expect(try await refusal(fixture, disks[2]) != nil, "bit \(bit) of \(used) bytes")
        }
        disks[2][path] = bytes
        #expect(try await refusal(fixture, disks[2]) == nil)
    }

    @Test func everyFlippedBitOfTheLockRecordLeavesTheRecordBefore() async throws {
        let (fixture, disks) = try await stages()
        let bytes = try #require(disks[2]["checkpoint.lock"])
        for bit in stride(from: 0, to: 8 * 700, by: 29) {
            for slot in [0, 64 << 10] where bytes[slot + bit / 8] != 0 {
                let disk = disks[2].copy()
                var flipped = bytes
                flipped[slot + bit / 8] ^= 1 << (bit % 8)
                disk["checkpoint.lock"] = flipped
                #expect(try await refusal(fixture, disk) == nil)
            }
        }
        var both = bytes
        both[0] ^= 1
        both[64 << 10] ^= 1
        disks[2]["checkpoint.lock"] = both
        #expect(try await refusal(fixture, disks[2]) == .lockRecordDamaged)
    }
}

/// The end of the log, where a crash may have interrupted the last write.
@Suite struct TornFrameTests {
    /// A log with a published frame of 5 entries and one of 4 that is in the write-ahead log only, and where it begins.
    private func unpublishedFrame() async throws -> (LogFixture, SimulatedDisk, frame: Range<Int>) {
        let fixture = LogFixture()
        let disk = SimulatedDisk()
        let log = try await fixture.newLog(on: disk)
        _ = try await log.append(LogFixture.entries(0..<5))
        _ = try await log.awaitPublished(size: 5)
        let before = disk.copy()
        _ = try await log.append(LogFixture.entries(5..<9))
        await log.close()
        before[disk.newestSegment] = disk[disk.newestSegment]
        let start = 80 + LogFixture.frameByteCount(LogFixture.entries(0..<5))
        return (fixture, before, start..<start + LogFixture.frameByteCount(LogFixture.entries(5..<9)))
    }

    @Test func aTruncatedLastFrameIsRemovedAndTheLogContinues() async throws {
        let (fixture, disk, frame) = try await unpublishedFrame()
        let bytes = try #require(disk[disk.newestSegment])
        for cut in frame {
            for tail in [0, 500] {
                // One frame in 256 ends in a zero: with zeros behind the cut it is whole.
                guard tail == 0 || bytes[cut..<frame.upperBound].contains(where: { $0 != 0 }) else { continue }
                let torn = disk.copy()
                torn[disk.newestSegment] = bytes[..<cut] + [UInt8](repeating: 0, count: tail)
                let log = try await fixture.log(on: torn)
                #expect(log.published.head.size == 5, "cut at \(cut)")
                #expect(cut == frame.lowerBound || torn[disk.newestSegment]?.count == frame.lowerBound)
                #expect(try await log.append(LogFixture.entries(5..<6)) == 5..<6)
                await log.close()
                let again = try await fixture.log(on: torn)
                #expect(again.published.head.size == 6)
                await again.close()
            }
        }
    }

    @Test func aLastFrameWithAMissingSectorIsRemoved() async throws {
        let (fixture, disk, frame) = try await unpublishedFrame()
        var bytes = try #require(disk[disk.newestSegment])
        for lost in stride(from: frame.lowerBound, to: frame.upperBound - 8, by: 8) {
            let original = bytes
            bytes.replaceSubrange(lost..<lost + 8, with: [UInt8](repeating: 0, count: 8))
            guard bytes != original else { continue }
            let torn = disk.copy()
            torn[disk.newestSegment] = bytes
            let log = try await fixture.log(on: torn)
            #expect(log.published.head.size == 5)
            await log.close()
            bytes = original
        }
    }

    @Test func anIntactFrameThatWasNotPublishedIsKept() async throws {
        let (fixture, disk, _) = try await unpublishedFrame()
        let log = try await fixture.log(on: disk)
        #expect(log.published.head.size == 9)
        await log.close()
    }

    @Test func open_refusesADamagedFrameBeforeAnIntactOne() async throws {
        let (fixture, disk, _) = try await unpublishedFrame()
        let path = disk.newestSegment
        let intact = try #require(disk[path])
        let end = 80 + LogFixture.frameByteCount(LogFixture.entries(0..<5))
        for place in stride(from: 80, to: end, by: 5) {
            var bytes = intact
            bytes[place] ^= 0x10
            disk[path] = bytes
            let found = try await LogOpenError.met { await (try await fixture.log(on: disk)).close() }
            #expect(found == .frameDamaged(segment: 0, offset: 80))
            #expect(disk[path] == bytes, "a refusal changes nothing")
        }
    }

    @Test func open_refusesADamagedFrameBeforeBytesBeyondItsReach() async throws {
        let (fixture, disk, frame) = try await unpublishedFrame()
        let path = disk.newestSegment
        var bytes = try #require(disk[path])
        bytes[frame.lowerBound] ^= 1
        bytes += [UInt8](repeating: 0, count: 9 << 20) + [1]
        disk[path] = bytes
        let found = try await LogOpenError.met { await (try await fixture.log(on: disk)).close() }
        #expect(found == .frameDamaged(segment: 0, offset: UInt64(frame.lowerBound)))
    }

    @Test func aTornFrameWithAnEntryThatLooksLikeAFrameIsRemoved() async throws {
        let fixture = LogFixture()
        let other = SimulatedDisk()
        let otherLog = try await fixture.newLog(on: other)
        _ = try await otherLog.append(LogFixture.entries(0..<5))
        await otherLog.close()
        let first = LogFixture.frameByteCount(LogFixture.entries(0..<5))
        let forged = [UInt8](try #require(other[other.newestSegment])[80..<80 + first])
        let disk = SimulatedDisk()
        let log = try await fixture.newLog(on: disk)
        _ = try await log.append(LogFixture.entries(0..<5))
        _ = try await log.awaitPublished(size: 5)
        let before = disk.copy()
        _ = try await log.append([forged])
        await log.close()
        let whole = try #require(disk[disk.newestSegment])
        before[before.newestSegment] = [UInt8](whole[..<(80 + first + LogFixture.frameByteCount([forged]) - 1)])
        let reopened = try await fixture.log(on: before)
        #expect(reopened.published.head.size == 5)
        await reopened.close()
    }
}
