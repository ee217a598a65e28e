// SPDX-License-Identifier: Apache-2.0

import Foundation
import SignetTesting
import Synchronization
import Testing
import TransparencyLog

@testable import LogEngine

/// Somebody removes or replaces a file of the log while it is open: nothing more is acknowledged that would be gone with the process.
@Suite struct DisplacedTests {
    private static let segment = "wal/00000000000000000000"

    private func expectRefused(_ log: DurableLog, _ paths: [String]) async {
        #expect(log.displaced.open == paths && log.displaced.read == [] && !log.isKept)
        await #expect(throws: LogAppendError.displaced) { try await log.append(LogFixture.entries(90..<91)) }
        #expect(throws: LogAppendError.displaced) { try log.seal() }
    }

    @Test(arguments: [segment, "checkpoint.lock"])
    func nothingIsAppendedWhileAFileIsAway_andTheLogGoesOnWhenItIsBack(_ path: String) async throws {
        let disk = SimulatedDisk()
        let fixture = LogFixture()
        let log = try await fixture.newLog(on: FaultyFileSystem(disk))
        _ = try await log.append(LogFixture.entries(0..<3))
        #expect(log.displaced == DisplacedFiles() && log.isKept)
        try disk.rename(path, to: "elsewhere")
        await expectRefused(log, [path])
        // What was acknowledged stays shown, with the time of now.
        #expect(try await log.republish().head.size == 3)
        try disk.rename("elsewhere", to: path)
        #expect(log.displaced == DisplacedFiles())
        #expect(try await log.append(LogFixture.entries(3..<4)) == 3..<4)
        await log.close()
        #expect(fixture.fatal == [])
        await (try await fixture.log(on: disk)).close()
    }

    /// The same bytes under the same name are another file.
    @Test(arguments: [segment, "checkpoint.lock"])
    func aCopyInTheirPlaceIsNotTheFileThatIsWritten(_ path: String) async throws {
        let disk = SimulatedDisk()
        let log = try await LogFixture().newLog(on: disk)
        _ = try await log.append(LogFixture.entries(0..<3))
        let copy = disk[path]
        disk[path] = copy
        await expectRefused(log, [path])
        await log.close()
    }

    @Test func eachSegmentIsLookedForAsTheLogGrows() async throws {
        let disk = SimulatedDisk()
        let fixture = LogFixture()
        let log = try await fixture.newLog(on: disk)
        let first = disk.newestSegment
        var count = 0
        while disk.newestSegment == first {
            _ = try await log.append(LogFixture.entries(count..<count + 50))
            count += 50
            #expect(log.displaced == DisplacedFiles())
        }
        let bytes = disk[first]
        disk[first] = nil
        #expect(log.displaced.open == [] && log.displaced.read == [first])
        #expect(log.isKept, "what is written now is not in it")
        _ = try await log.append(LogFixture.entries(count..<count + 1))
        disk[first] = bytes
        #expect(log.displaced == DisplacedFiles(), "a copy of it serves the next start")
        await log.close()

        let again = try await fixture.log(on: disk)
        disk[first] = nil
        #expect(again.displaced.read == [first], "it was there at the start")
        disk[first] = bytes
        let newest = disk.newestSegment
        disk[newest] = nil
        await expectRefused(again, [newest])
        await again.close()
    }

    /// As where no more files can be opened.
    @Test func aFolderThatCannotBeReadIsNotAnEmptyOne() async throws {
        let disk = SimulatedDisk()
        let folder = UnreadableFolder(disk)
        let log = try await LogFixture().newLog(on: folder)
        let first = disk.newestSegment
        var count = 0
        while disk.newestSegment == first {
            _ = try await log.append(LogFixture.entries(count..<count + 50))
            count += 50
        }
        disk[first] = nil
        #expect(log.displaced.read == [first])
        folder.isUnreadable.store(true, ordering: .relaxed)
        #expect(log.displaced == DisplacedFiles())
        folder.isUnreadable.store(false, ordering: .relaxed)
        #expect(log.displaced.read == [first])
        await log.close()
    }

    // MARK: With witnesses, whose cosignatures are kept in a file beside those that are open

    private func witnessed(
        _ fixture: LogFixture, _ witness: PaperWitness, on disk: any LogFileSystem
    ) async throws -> DurableLog {
        var configuration = try fixture.configuration()
        try await DurableLog.create(in: disk, configuration)
        configuration.witnessing = witness
        return try await DurableLog.open(in: disk, configuration)
    }

    /// The next start would show less, or another log that lies there would have a checkpoint that is not its own.
    @Test(arguments: [segment, "checkpoint.lock"])
    func nothingIsSignedForWitnessesWhileAFileIsAway(_ path: String) async throws {
        let (disk, fixture, witness) = (SimulatedDisk(), LogFixture(), try PaperWitness())
        let log = try await witnessed(fixture, witness, on: disk)
        _ = try await log.append(LogFixture.entries(0..<3))
        let before = try await log.awaitPublished(size: 3)
        try disk.rename(path, to: "elsewhere")
        let (lock, shown) = (disk["checkpoint.lock"] ?? disk["elsewhere"], disk["checkpoint.published"])
        await #expect(throws: LogWaitError.displaced) { try await log.republish() }
        #expect(log.published == before)
        #expect(lock == disk["checkpoint.lock"] ?? disk["elsewhere"], "nothing was signed")
        #expect(shown == disk["checkpoint.published"])
        try disk.rename("elsewhere", to: path)
        #expect(try await log.republish().head.size == 3)
        await log.close()
        #expect(fixture.fatal == [] && witness.refusals.isEmpty)
    }

    @Test(arguments: [segment, "checkpoint.lock"])
    func whatIsCosignedWhileAFileIsAwayIsShownWhenItIsBack(_ path: String) async throws {
        let (disk, fixture, witness) = (SimulatedDisk(), LogFixture(), try PaperWitness())
        let log = try await witnessed(fixture, witness, on: disk)
        _ = try await log.append(LogFixture.entries(0..<3))
        let before = try await log.awaitPublished(size: 3)
        witness.hold()
        _ = try await log.append(LogFixture.entries(3..<5))
        await witness.awaitArrival()
        let shown = disk["checkpoint.published"]
        try disk.rename(path, to: "elsewhere")
        witness.release()
        await #expect(throws: LogWaitError.displaced) { try await log.republish() }
        #expect(log.published == before && shown == disk["checkpoint.published"])
        try disk.rename("elsewhere", to: path)
        #expect(try await log.republish().head.size == 5)
        await log.close()
        #expect(fixture.fatal == [] && witness.refusals.isEmpty)
    }

    // MARK: Files that are written by their names

    @Test func noTileIsPutBesideFilesThatAreNotTheLogs() async throws {
        let (disk, fixture) = (SimulatedDisk(), LogFixture())
        let isDue = Atomic<Bool>(false)
        // Right after the entries are durable, and before they are published.
        let faulty = FaultyFileSystem(disk) { call in
            guard call == LogFileCall(.synchronizeData, of: .lockRecord), isDue.exchange(false, ordering: .relaxed)
            else { return }
            try? disk.rename("checkpoint.lock", to: "elsewhere")
        }
        let log = try await fixture.newLog(on: faulty)
        isDue.store(true, ordering: .relaxed)
        _ = try await log.append(LogFixture.entries(0..<256))
        _ = try await log.awaitPublished(size: 256)
        #expect(try await log.entryBundle(index: 0).isEmpty == false, "it is in memory")
        await log.close()
        #expect(disk.paths.filter { $0.hasPrefix("tile/") } == [])
        #expect(fixture.fatal == [])
        try disk.rename("elsewhere", to: "checkpoint.lock")
        let again = try await fixture.log(on: disk)
        await again.close()
        #expect(disk.paths.contains("tile/entries/000"))
    }

    @Test func noSegmentIsBegunWhereTheNewestIsNotInItsPlace() throws {
        let disk = SimulatedDisk()
        try WriteAheadLog.createFirstSegment(in: disk)
        let sizes = WriteAheadLog.Sizes(segmentByteCount: 1024, preallocatedByteCount: 1024)
        var wal = try WriteAheadLogReplay(fileSystem: disk).run { _ in }.settle(in: disk, sizes: sizes)
        func append(_ number: Int, isKept: Bool) throws {
            let entries = LogFixture.entries(number..<number + 1)
            try wal.append([HashedEntries(entries, byteCount: 2 + entries[0].count)]) { isKept }
        }
        for number in 0..<50 { try append(number, isKept: false) }
        #expect(disk.newestSegment == Self.segment)
        try append(50, isKept: true)
        #expect(disk.newestSegment == "wal/00000000000000000050")
        let again = try WriteAheadLogReplay(fileSystem: disk).run { _ in }
        #expect(again.size == 51, "a long segment is read as any other")
    }

    // MARK: Folders that are moved away

    /// Somebody moves a folder, all of the log or a part of it, and moves it back.
    @Test(arguments: ["", "/wal", "/\(segment)", "/checkpoint.lock", "/checkpoint.published", "/tile"], [false, true])
    func theLogGoesOnWhenWhatWasMovedAwayIsBack(_ name: String, isWitnessed: Bool) async throws {
        let shelf = try Shelf()
        let fixture = LogFixture()
        let log = try await shelf.log(fixture, isWitnessed ? try PaperWitness() : nil)
        _ = try await log.append(LogFixture.entries(0..<256))
        let before = try await log.awaitPublished(size: 256)
        await log.parts.writing?.archiver.finish()
        guard name != "/checkpoint.published" || isWitnessed else { return await log.close() }
        try shelf.moveAway(name)
        // The other two are made again, and nothing that is open is away.
        if !["/checkpoint.published", "/tile"].contains(name) {
            await #expect(throws: LogAppendError.displaced) { try await log.append(LogFixture.entries(256..<257)) }
            if isWitnessed {
                await #expect(throws: LogWaitError.displaced) { try await log.republish() }
                #expect(log.published == before)
            } else {
                #expect(try await log.republish().head.size == 256)
            }
        }
        try shelf.moveBack(name)
        #expect(try await log.append(LogFixture.entries(256..<257)) == 256..<257)
        #expect(try await log.republish().head.size == 257)
        await log.close()
        #expect(fixture.fatal == [])
        let again = try await shelf.log(fixture, nil)
        #expect(again.published.head.size == 257)
        await again.close()
    }

    /// At each call to the disk, one after the other.
    @Test(arguments: [false, true])
    func noCallAtWhichTheFolderIsMovedAwayEndsTheLog(isWitnessed: Bool) async throws {
        var ordinal = 0
        while try await goesOn(afterCall: ordinal, isWitnessed) { ordinal += 1 }
        #expect(ordinal > 20)
    }

    /// Returns whether there was such a call.
    private func goesOn(afterCall ordinal: Int, _ isWitnessed: Bool) async throws -> Bool {
        let shelf = try Shelf()
        let (fixture, witness) = (LogFixture(), try PaperWitness())
        let calls = Mutex<Int?>(nil)
        let faulty = FaultyFileSystem(POSIXFileSystem(root: shelf.root)) { _ in
            let isNow = calls.withLock { calls in
                calls = calls.map { $0 + 1 }
                return calls == ordinal + 1
            }
            if isNow { try? shelf.moveAway("") }
        }
        let log = try await shelf.log(fixture, isWitnessed ? witness : nil, faulty)
        _ = try await log.republish()
        calls.withLock { $0 = 0 }
        var acknowledged: UInt64 = 0
        for entries in [0..<100, 100..<300] {
            guard let range = try? await log.append(LogFixture.entries(entries)) else { break }
            acknowledged = range.upperBound
            _ = try? await log.republish()
        }
        // The tiles of a checkpoint are written after those who waited for it go on, and before the next one is published.
        _ = try? await log.republish()
        await log.parts.writing?.archiver.finish()
        let wasMoved = calls.withLock { calls in
            defer { calls = nil }
            return (calls ?? 0) > ordinal
        }
        if wasMoved { try shelf.moveBack("") }
        #expect(fixture.fatal == [], "after call \(ordinal)")
        #expect(try await log.append(LogFixture.entries(300..<301)) == acknowledged..<acknowledged + 1)
        #expect(try await log.republish().head.size == acknowledged + 1)
        await log.close()
        #expect(fixture.fatal == [] && witness.refusals.isEmpty, "after call \(ordinal)")
        let again = try await shelf.log(fixture, nil)
        #expect(again.published.head.size == acknowledged + 1)
        await again.close()
        return wasMoved
    }
}

/// A folder of a real disk with a log in it, which can be moved out of it.
private final class Shelf: Sendable {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "signet-\(UUID().uuidString)").path
    var root: String { folder + "/log" }

    init() throws { try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Opens the log, and makes it before if there is none.
    func log(
        _ fixture: LogFixture, _ witness: PaperWitness?, _ files: (any LogFileSystem)? = nil
    ) async throws -> DurableLog {
        var configuration = try fixture.configuration()
        if !FileManager.default.fileExists(atPath: root + "/checkpoint.lock") {
            try await DurableLog.create(at: root, configuration)
        }
        configuration.witnessing = witness
        return try await DurableLog.open(in: files ?? POSIXFileSystem(root: root), configuration)
    }

    func moveAway(_ name: String) throws {
        try FileManager.default.moveItem(atPath: root + name, toPath: folder + "/away")
    }

    /// In place of what was made there meanwhile.
    func moveBack(_ name: String) throws {
        try? FileManager.default.removeItem(atPath: root + name)
        try FileManager.default.moveItem(atPath: folder + "/away", toPath: root + name)
    }
}

/// A storage of which no folder is read for a time.
private final class UnreadableFolder: LogFileSystem {
    let isUnreadable = Atomic(false)
    private let base: any LogFileSystem

    init(_ base: any LogFileSystem) { self.base = base }

    func list(_ path: String) throws(LogFileError) -> [String] {
        guard !isUnreadable.load(ordering: .relaxed) else { throw LogFileError(.list, of: .directory, code: 24) }
        return try base.list(path)
    }

    func lockDirectory() throws(LogFileError) -> (any LogDirectoryLock)? { try base.lockDirectory() }
    func open(_ path: String, _ mode: LogFileMode) throws(LogFileError) -> any LogFile { try base.open(path, mode) }
    func makeDirectory(_ path: String) throws(LogFileError) { try base.makeDirectory(path) }
    func rename(_ path: String, to newPath: String) throws(LogFileError) { try base.rename(path, to: newPath) }
    func remove(_ path: String) throws(LogFileError) { try base.remove(path) }
    func synchronizeDirectory(_ path: String) throws(LogFileError) { try base.synchronizeDirectory(path) }
    func leads(_ path: String, to file: any LogFile) -> Bool { base.leads(path, to: file) }
}
