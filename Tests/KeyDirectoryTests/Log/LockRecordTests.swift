import SignetTesting
import Testing
import TransparencyLog

@testable import KeyDirectory

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

    @Test func aRecordThatExtendsTheLastOneIsTakenAndReadBack() throws {
        let disk = SimulatedDisk()
        var file = try file(on: disk)
        try file.swap(to: two, note: [3], ancestor: one.root)
        #expect(try LockRecordFile(in: disk).current == LockRecord(generation: 2, head: two, note: [3]))
    }

    @Test func aSmallerHeadIsRefused() throws {
        var file = try file(on: SimulatedDisk())
        #expect(throws: LockRecordError.shrinks(from: 1, to: 0)) {
            try file.swap(to: .empty, note: [3], ancestor: one.root)
        }
    }

    @Test func anotherRootOfTheSameSizeIsRefused() throws {
        var file = try file(on: SimulatedDisk())
        let other = TreeHead(size: 1, root: .leaf([9]))
        #expect(throws: LockRecordError.contradicts(recorded: one)) {
            try file.swap(to: other, note: [3], ancestor: one.root)
        }
    }

    @Test func aTreeWithAnotherHistoryIsRefused() throws {
        var file = try file(on: SimulatedDisk())
        #expect(throws: LockRecordError.contradicts(recorded: one)) {
            try file.swap(to: two, note: [3], ancestor: .leaf([9]))
        }
    }

    @Test func aRecordThatSomebodyElseWroteIsNotOverwritten() throws {
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

    @Test func aNoteThatDoesNotFitIsRefused() throws {
        var file = try file(on: SimulatedDisk())
        let longest = LockRecord.maximumNoteByteCount
        #expect(throws: LockRecordError.noteTooLong(byteCount: longest + 1)) {
            try file.swap(to: one, note: [UInt8](repeating: 1, count: longest + 1), ancestor: one.root)
        }
        try file.swap(to: one, note: [UInt8](repeating: 1, count: longest), ancestor: one.root)
    }

    @Test func aTornRecordLeavesTheOneBeforeAndIsWrittenOver() throws {
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
}
