// SPDX-License-Identifier: Apache-2.0

import SignetTesting
import Testing
import TransparencyLog

@testable import LogEngine

/// Reading a whole log without opening it, and copying one that is open.
@Suite struct LogCopyTests {
    private func fill(_ fixture: LogFixture, _ disk: SimulatedDisk, entries: Int = 800) async throws {
        let log = try await fixture.newLog(on: disk)
        for start in stride(from: 0, to: entries, by: 100) {
            _ = try await log.append(LogFixture.entries(start..<start + 100))
        }
        await log.close()
    }

    private func report(_ disk: SimulatedDisk, seed: UInt8 = 7, changed: SignedNote? = nil) throws -> LogReport {
        let key = try LogFixture.signer(seed: seed).verifierKey
        return try LogInspection(files: disk, origin: key.name, keys: [key], changed: changed).run(sealing: nil)
    }

    @Test func inspection_findsNoFaultInAClosedLog() async throws {
        let (fixture, disk) = (LogFixture(), SimulatedDisk())
        try await fill(fixture, disk)
        let report = try report(disk)
        #expect(report.faults == [])
        #expect((report.size, report.signed?.size, report.missingTiles) == (800, 800, 0))
    }

    @Test func inspection_namesEachDamagedTileAndCountsMissingOnes() async throws {
        let (fixture, disk) = (LogFixture(), SimulatedDisk())
        try await fill(fixture, disk)
        let tiles = disk.paths.filter { $0.hasPrefix("tile/") }
        #expect(tiles.count == 6)
        for path in tiles {
            let original = try #require(disk[path])
            for damage in [original.map { $0 ^ 1 }, Array(original.dropLast()), []] {
                disk[path] = damage
                #expect(try report(disk).faults == [.tileDiffers(path: path)])
            }
            disk[path] = nil
            #expect(try report(disk).missingTiles == 1)
            disk[path] = original
        }
    }

    @Test func inspection_findsACheckpointOfAnotherKey() async throws {
        let (fixture, disk) = (LogFixture(), SimulatedDisk())
        try await fill(fixture, disk, entries: 100)
        #expect(try report(disk, seed: 8).faults == [.signatureInvalid])
    }

    /// The checkpoint under which the key was changed is signed by the key of before, as may be later ones, and none before it.
    @Test func inspection_takesACheckpointOfTheKeyOfBeforeWhereTheKeyWasChanged() async throws {
        let (fixture, disk, other) = (LogFixture(), SimulatedDisk(), SimulatedDisk())
        try await fill(fixture, disk, entries: 100)
        try await fill(fixture, other, entries: 200)
        let changed = try LogCopy(in: disk).signedHead().note
        #expect(try report(disk, seed: 8, changed: changed).faults == [])
        #expect(try report(other, seed: 8, changed: changed).faults == [])
        let later = try LogCopy(in: other).signedHead().note
        #expect(try report(disk, seed: 8, changed: later).faults == [.signatureInvalid])
        let third = try SignedNote(text: changed.text, signatures: [LogFixture.signer(seed: 9).sign(changed.text)])
        #expect(try report(other, seed: 8, changed: third).faults == [.signatureInvalid])
        let unsigned = try SignedNote(text: changed.text, signatures: LogCopy(in: other).signedHead().note.signatures)
        #expect(try report(disk, seed: 8, changed: unsigned).faults == [.signatureInvalid])
    }

    /// A change that was interrupted and repeated has the checkpoint under it cosigned once more, at another time.
    @Test func inspection_takesACheckpointOfAChangedKeyThatWasCosignedOnceMore() async throws {
        let (fixture, disk) = (LogFixture(), SimulatedDisk())
        try await fill(fixture, disk, entries: 100)
        let signed = try LogCopy(in: disk).signedHead()
        let own = signed.note.signatures.filter { $0.name.bytes == LogFixture.origin }
        #expect(own.count == 1 && signed.note.signatures.count == 2)
        let changed = try SignedNote(text: signed.note.text, signatures: own)
        #expect(try report(disk, seed: 8, changed: changed).faults == [])
        // The cosignature alone is not the log's.
        disk[LogPath.lockRecord] = nil
        let cosigned = try SignedNote(
            text: signed.note.text, signatures: signed.note.signatures.filter { $0.name.bytes != LogFixture.origin })
        try LockRecordFile.create(LockRecord(generation: 1, head: signed.head, note: cosigned.encoded), in: disk)
        #expect(try report(disk, seed: 8, changed: changed).faults == [.signatureInvalid])
    }

    @Test func inspection_findsAPublishedCheckpointOfAnotherTree() async throws {
        let (fixture, disk, other) = (LogFixture(), SimulatedDisk(), SimulatedDisk())
        try await fill(fixture, disk, entries: 100)
        let second = try await fixture.newLog(on: other)
        _ = try await second.append(LogFixture.entries(500..<600))
        await second.close()
        let lock = try #require(disk[LogPath.lockRecord])
        disk[LogPath.lockRecord] = other[LogPath.lockRecord]
        #expect(throws: LogOpenError.self) { try report(disk) }
        disk[LogPath.lockRecord] = lock
        disk[LogPath.published] = try LockRecordFile(in: other).current.note
        #expect(try report(disk).faults == [.publishedContradicts])
        disk[LogPath.published] = try LockRecordFile(in: disk).current.note
        #expect(try report(disk).faults == [])
    }

    /// The file alone is damaged: opening the log makes it again.
    @Test(arguments: ["no note", "root", "signature"])
    func inspection_tellsADamagedFileOfThePublishedCheckpointFromAContradiction(_ part: String) async throws {
        let (fixture, disk) = (LogFixture(), SimulatedDisk())
        try await fill(fixture, disk, entries: 100)
        var bytes = try LockRecordFile(in: disk).current.note
        switch part {
        case "root": bytes[try #require(bytes.firstIndex(of: UInt8(ascii: "="))) - 3] ^= 1
        // The log's own signature is the first.
        case "signature": bytes[try #require(bytes.firstRange(of: Array("\n\n".utf8))).upperBound + 40] ^= 1
        default: bytes = Array(part.utf8)
        }
        disk[LogPath.published] = bytes
        #expect(try report(disk).faults == [.publishedDamaged])
    }

    /// The record says less than was signed, and the log has all of it, so that an opening goes on. Without the entries it contradicts.
    @Test func inspection_takesAnOlderRecordOfWhatWasSignedAsAnOpeningDoes() async throws {
        let (fixture, disk) = (LogFixture(), SimulatedDisk())
        try await fill(fixture, disk, entries: 100)
        let lock = try #require(disk[LogPath.lockRecord])
        let segment = try #require(disk[LogPath.segment(0)])
        let log = try await fixture.log(on: disk)
        _ = try await log.append(LogFixture.entries(100..<200))
        await log.close()
        disk[LogPath.published] = try LockRecordFile(in: disk).current.note
        #expect(try report(disk).faults == [])
        disk[LogPath.lockRecord] = lock
        #expect(try report(disk).faults == [])
        disk[LogPath.segment(0)] = segment
        #expect(try report(disk).faults == [.publishedContradicts])
    }

    /// A backup beside a writer: at any moment, the copy opens and has the entries that were signed by then.
    @Test func aCopyOfALogThatGrowsCanBeOpened() async throws {
        let (fixture, disk) = (LogFixture(), SimulatedDisk())
        let log = try await fixture.newLog(on: disk)
        async let appended: Void = append(to: log)
        for _ in 0..<20 {
            let signed = try LogCopy(in: disk).signedHead().head
            let copy = SimulatedDisk()
            try LogCopy(in: disk).copy(to: copy)
            #expect(try report(copy).faults == [])
            let opened = try await LogFixture().log(on: copy)
            #expect(try opened.root(size: signed.size) == signed.root)
            await opened.close()
            await Task.yield()
        }
        try await appended
        await log.close()
    }

    private func append(to log: DurableLog) async throws {
        for start in stride(from: 0, to: 2_000, by: 50) {
            _ = try await log.append(LogFixture.entries(start..<start + 50))
        }
    }

    @Test func aCopyWithoutASignedEntryIsNotCompleted() async throws {
        let (fixture, disk) = (LogFixture(), SimulatedDisk())
        try await fill(fixture, disk, entries: 200)
        let segment = disk.newestSegment
        let bytes = try #require(disk[segment])
        disk[segment] = Array(bytes.prefix(SegmentHeader.byteCount))
        let target = SimulatedDisk()
        let error = #expect(throws: LogOpenError.self) { try LogCopy(in: disk).copy(to: target) }
        if case .lockRecordAhead = error {} else { Issue.record("\(String(describing: error))") }
        #expect(target[LogPath.lockRecord] == nil, "what was copied is no log")
    }
}
