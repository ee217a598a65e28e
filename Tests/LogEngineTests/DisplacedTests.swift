// SPDX-License-Identifier: Apache-2.0

import LogEngine
import SignetTesting
import Synchronization
import Testing
import TransparencyLog

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
