// SPDX-License-Identifier: Apache-2.0

import SignetTesting
import Synchronization
import Testing
import TransparencyLog

@testable import LogEngine

@Suite struct LockRecordTests {
    private let one = TreeHead(size: 1, root: .leaf([1]))
    private let two = TreeHead(size: 2, root: .node(.leaf([1]), .leaf([2])))

    /// A lock record file at generation 1 that records ``one``.
    private func file(on disk: SimulatedDisk) throws -> LockRecordFile {
        try LockRecordFile.create(LockRecord(generation: 0, head: .empty, note: [1]), in: disk)
        var file = try LockRecordFile(in: disk)
        try file.swap(to: one, note: [2], ancestor: .emptyTree)
        return file
    }

    @Test func swap_writesARecordThatExtendsTheLastOne() throws {
        let disk = SimulatedDisk()
        var file = try file(on: disk)
        try file.swap(to: two, note: [3], ancestor: one.root)
        #expect(try LockRecordFile(in: disk).current == LockRecord(generation: 2, head: two, note: [3]))
    }

    @Test func swap_refusesASmallerHead() throws {
        var file = try file(on: SimulatedDisk())
        #expect(throws: LockRecordError.shrinks(from: 1, to: 0)) {
            try file.swap(to: .empty, note: [3], ancestor: one.root)
        }
    }

    @Test func swap_refusesAnotherRootOfTheSameSize() throws {
        var file = try file(on: SimulatedDisk())
        let other = TreeHead(size: 1, root: .leaf([9]))
        #expect(throws: LockRecordError.contradicts(recorded: one)) {
            try file.swap(to: other, note: [3], ancestor: one.root)
        }
    }

    @Test func swap_refusesATreeWithAnotherHistory() throws {
        var file = try file(on: SimulatedDisk())
        #expect(throws: LockRecordError.contradicts(recorded: one)) {
            try file.swap(to: two, note: [3], ancestor: .leaf([9]))
        }
    }

    @Test func swap_refusesToOverwriteAnotherProcesssRecord() throws {
        let disk = SimulatedDisk()
        var first = try file(on: disk)
        var second = try LockRecordFile(in: disk)
        try second.swap(to: two, note: [3], ancestor: one.root)
        #expect(throws: LockRecordError.changedByOthers(expected: 1, found: 2)) {
            try first.swap(to: two, note: [4], ancestor: one.root)
        }
        try second.swap(to: two, note: [5], ancestor: two.root)
        #expect(throws: LockRecordError.changedByOthers(expected: 1, found: 3)) {
            try first.swap(to: two, note: [4], ancestor: one.root)
        }
    }

    @Test func swap_refusesANoteThatIsTooLong() throws {
        var file = try file(on: SimulatedDisk())
        let longest = LockRecord.maximumNoteByteCount
        #expect(throws: LockRecordError.noteTooLong(byteCount: longest + 1)) {
            try file.swap(to: one, note: [UInt8](repeating: 1, count: longest + 1), ancestor: one.root)
        }
        try file.swap(to: one, note: [UInt8](repeating: 1, count: longest), ancestor: one.root)
    }

    @Test func aTornRecordLeavesTheFormerOneAndIsOverwritten() throws {
        let disk = SimulatedDisk()
        var first = try file(on: disk)
        try first.swap(to: two, note: [3], ancestor: one.root)
        var bytes = try #require(disk["checkpoint.lock"])
        bytes[70] ^= 1
        disk["checkpoint.lock"] = bytes
        var file = try LockRecordFile(in: disk)
        #expect(file.current.generation == 1)
        try file.swap(to: two, note: [4], ancestor: one.root)
        #expect(try LockRecordFile(in: disk).current.note == [4])
    }

    @Test func settle_makesARecordDurableWhoseSynchronizationFailed() throws {
        let disk = SimulatedDisk()
        _ = try file(on: disk)
        let storage = FaultyFileSystem(disk, fault: Fault([.lockRecord], ordinal: 6, effect: .nothing))
        var failing = try LockRecordFile(in: storage)
        #expect(throws: LockRecordError.file(LogFileError(.synchronizeData, of: .lockRecord, code: 5))) {
            try failing.swap(to: two, note: [3], ancestor: one.root)
        }
        #expect(try LockRecordFile(in: disk.crashed(.everything)).current.generation == 1)
        let reopened = try LockRecordFile(in: disk)
        #expect(reopened.current.generation == 2)
        try reopened.settle()
        #expect(try LockRecordFile(in: disk.crashed(.nothing)).current.generation == 2)
    }

    @Test func aCheckpointIsRecordedDurablyBeforeItIsPublished() async throws {
        let disk = SimulatedDisk()
        let seen = Mutex<[Bool]>([])
        var configuration = try LogFixture().configuration()
        try await DurableLog.create(in: disk, configuration)
        configuration.onPublished = { checkpoint in
            let recorded = try? LockRecordFile(in: disk.crashed(.nothing)).current
            seen.withLock { $0.append(recorded?.note == checkpoint.bytes && recorded?.head == checkpoint.head) }
        }
        let log = try await DurableLog.open(in: disk, configuration)
        _ = try await log.append(LogFixture.entries(0..<3))
        _ = try await log.awaitPublished(size: 3)
        try await log.republish()
        await log.close()
        #expect(seen.withLock { $0 } == [true, true, true])
    }

    @Test func open_refusesARecordWithTheNoteOfAnotherHead() async throws {
        let fixture = LogFixture()
        let disk = SimulatedDisk()
        await (try await fixture.newLog(on: disk)).close()
        let note = try #require(fixture.published.last).bytes
        disk["checkpoint.lock"] = nil
        try LockRecordFile.create(LockRecord(generation: 0, head: one, note: note), in: disk)
        let found = try await LogOpenError.met { await (try await fixture.log(on: disk)).close() }
        #expect(found == .lockRecordDamaged)
    }
}
